// What programs register before main(): fat binaries, kernels, variables. Nothing is read before it is first
// used. All functions are called with runtime_mutex() held.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/simulator/context/cuda_api.h"
#include "common/simulator/loading/module.h"

namespace simulator {

// One fat binary (or library: cudaLibraryLoadData).
struct Binary {
  const void* fatbin = nullptr;
  std::string ptx;  // instead of a fat binary
  bool tried = false;
  cudaError_t error = cudaSuccess;  // of loading
  std::unique_ptr<Module> module;
  int ptx_architecture = 0;  // of the PTX that was loaded: 80 for .target sm_80
};

// A kernel as the host knows it: cudaKernel_t and cudaFunction_t point to it.
struct Function {
  Binary* binary = nullptr;
  std::string name;                // mangled
  const Kernel* kernel = nullptr;  // null: not loaded yet
  // cudaFuncSetAttribute():
  bool max_dynamic_shared_set = false;
  size_t max_dynamic_shared = 0;  // bytes, where set
  int carveout = -1;              // percent of shared memory to L1; -1: not set
  bool nonportable_cluster = false;
  std::array<uint32_t, 3> required_cluster{};
  int cluster_scheduling = 0;
};

struct Variable {
  Binary* binary = nullptr;
  std::string name;
  size_t size = 0;           // bytes
  void** managed = nullptr;  // the host's pointer to a managed variable
};

// func: the host's address of a __global__ function, a cudaKernel_t or a cudaFunction_t. Null: none of these.
Function* find_function(const void* func);
// symbol: the host's address of a __device__, __constant__ or __managed__ variable. Null: not one.
Variable* find_variable(const void* symbol);

// Loads the module; reports once why it cannot.
cudaError_t load(Binary& binary);
// Loads the kernel. cudaErrorInvalidDeviceFunction: the module has none of that name.
cudaError_t load(Function& function);
// Loads the variable's module and finds its memory. cudaErrorInvalidSymbol: the module has none of that name.
cudaError_t load(Variable& variable, const Allocation*& memory);

// The PTX that suits the device, from a fat binary. cudaErrorNoKernelImageForDevice: there is none
// (reported).
cudaError_t ptx_of(const void* fatbin, std::string& ptx);

Binary* add_binary(const void* fatbin, std::string ptx = {});
void remove_binary(Binary* binary);  // forgets its kernels and variables; handles stay valid memory
Function* add_function(Binary* binary, std::string name);
// Every module is loaded anew, with its variables as in the beginning (cudaDeviceReset).
void unload_all();

}  // namespace simulator
