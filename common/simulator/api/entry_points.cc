// Functions of the CUDA driver: those that programs get from the runtime (cudaGetDriverEntryPoint()) or,
// linked with -lcuda, call themselves; build/simulator/libcuda.so.1 is the same library as libcudart.so.13.
#include <cuda.h>

#include <cstring>

#include "common/simulator/context/cuda_api.h"
#include "common/simulator/context/state.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // cudaGetDriverEntryPoint: programs still call it

using namespace simulator;

namespace {

struct EntryPoint {
  const char* name;
  int since;  // the first version of CUDA that has it, as in 12000
  void* function;
};

// The driver functions that this library has.
const EntryPoint entry_points[] = {
    {"cuTensorMapEncodeTiled", 12000, reinterpret_cast<void*>(cuTensorMapEncodeTiled)},
    {"cuTensorMapReplaceAddress", 12000, reinterpret_cast<void*>(cuTensorMapReplaceAddress)},
    {"cuTensorMapEncodeIm2col", 12000, reinterpret_cast<void*>(cuTensorMapEncodeIm2col)},
    {"cuTensorMapEncodeIm2colWide", 12080, reinterpret_cast<void*>(cuTensorMapEncodeIm2colWide)},
    {"cuGetErrorString", 6000, reinterpret_cast<void*>(cuGetErrorString)},
};

cudaError_t find(const char* name, void** function, unsigned version,
                 cudaDriverEntryPointQueryResult* result) {
  if (name == nullptr || function == nullptr) return cudaErrorInvalidValue;
  *function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  if (version > CUDART_VERSION) {
    if (result != nullptr) *result = cudaDriverEntryPointVersionNotSufficent;
    return cudaErrorInvalidValue;
  }
  for (const EntryPoint& entry : entry_points) {
    if (std::strcmp(entry.name, name) != 0) continue;
    const bool known = static_cast<unsigned>(entry.since) <= version;
    found = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointVersionNotSufficent;
    if (known) *function = entry.function;
  }
  if (result != nullptr) *result = found;
  return cudaSuccess;
}

}  // namespace

extern "C" cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                                        unsigned long long,
                                                        cudaDriverEntryPointQueryResult* result) {
  return query([&] { return find(name, function, version, result); });
}

SIMULATOR_EXPORT cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                                     cudaDriverEntryPointQueryResult* result) {
  return query([&] { return find(name, function, CUDART_VERSION, result); });
}

SIMULATOR_ALIAS(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion);
SIMULATOR_ALIAS(cudaGetDriverEntryPoint_ptsz, cudaGetDriverEntryPoint);

// The runtime's error codes have the numbers and the texts of the driver's.
SIMULATOR_EXPORT CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}
