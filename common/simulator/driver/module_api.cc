// Modules, libraries and their kernels. A module is a library, a CUfunction a CUkernel.
#include "common/simulator/context/functions.h"
#include "common/simulator/context/registration.h"
#include "common/simulator/driver/call.h"
#include "common/simulator/driver/jit_options.h"

using namespace simulator;

namespace {

cudaLibrary_t library_of(CUmodule module) {
  return reinterpret_cast<cudaLibrary_t>(module);
}
cudaKernel_t kernel_of(CUfunction function) {
  return reinterpret_cast<cudaKernel_t>(function);
}

// The library or module behind a kernel.
template <class T>
CUresult owner_of(T* owner, const void* kernel) noexcept {
  return driver_result([&] {
    if (owner == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Function* function = find_function(kernel);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *owner = reinterpret_cast<T>(function->binary);
    return CUDA_SUCCESS;
  });
}

CUresult attribute_of(int* value, CUfunction_attribute attribute, const void* kernel) {
  cudaFuncAttributes all;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult error = driver_query([&] { return cudaFuncGetAttributes(&all, kernel); });
  if (error != CUDA_SUCCESS) return error;
  const size_t values[] = {
      static_cast<size_t>(all.maxThreadsPerBlock),
      all.sharedSizeBytes,
      all.constSizeBytes,
      all.localSizeBytes,
      static_cast<size_t>(all.numRegs),
      static_cast<size_t>(all.ptxVersion),
      static_cast<size_t>(all.binaryVersion),
      static_cast<size_t>(all.cacheModeCA),
      static_cast<size_t>(all.maxDynamicSharedSizeBytes),
      static_cast<size_t>(all.preferredShmemCarveout),
      static_cast<size_t>(all.clusterDimMustBeSet),
      static_cast<size_t>(all.requiredClusterWidth),
      static_cast<size_t>(all.requiredClusterHeight),
      static_cast<size_t>(all.requiredClusterDepth),
      static_cast<size_t>(all.nonPortableClusterSizeAllowed),
      static_cast<size_t>(all.clusterSchedulingPolicyPreference),
  };
  static_assert(std::size(values) == CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE + 1);
  if (attribute < 0 || static_cast<size_t>(attribute) >= std::size(values)) return CUDA_ERROR_INVALID_VALUE;
  *value = static_cast<int>(values[attribute]);
  return CUDA_SUCCESS;
}

}  // namespace

// ---- Libraries: they need no context

extern "C" CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options,
                                      void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  clear_logs(options, values, count);
  return driver_query(
      [&] { return cudaLibraryLoadData(library, code, nullptr, nullptr, 0, nullptr, nullptr, 0); });
}

extern "C" CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file, CUjit_option* options,
                                          void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  clear_logs(options, values, count);
  return driver_query(
      [&] { return cudaLibraryLoadFromFile(library, file, nullptr, nullptr, 0, nullptr, nullptr, 0); });
}

extern "C" CUresult cuLibraryUnload(CUlibrary library) {
  return driver_query([&] { return cudaLibraryUnload(library); });
}

extern "C" CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return driver_query([&] { return cudaLibraryGetKernel(kernel, library, name); });
}

extern "C" CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return driver_query([&] { return cudaLibraryGetKernelCount(count, library); });
}

extern "C" CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  return driver_query([&] { return cudaLibraryEnumerateKernels(kernels, count, library); });
}

extern "C" CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                                       const char* name) {
  return driver_query([&] { return cudaLibraryGetGlobal(pointers(address), bytes, library, name); });
}

extern "C" CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                                        const char* name) {
  return driver_query([&] { return cudaLibraryGetManaged(pointers(address), bytes, library, name); });
}

extern "C" CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  if (module == nullptr || library == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *module = reinterpret_cast<CUmodule>(library);
  return CUDA_SUCCESS;
}

// ---- Kernels of libraries

extern "C" CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return driver_call([&] {
    if (function == nullptr) return cudaErrorInvalidValue;
    *function = reinterpret_cast<CUfunction>(kernel);
    Function* loaded = nullptr;
    return query([&] { return loaded_function(kernel, loaded); });
  });
}

extern "C" CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return owner_of(library, kernel);
}

extern "C" CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return driver_query([&] { return cudaFuncGetName(name, kernel); });
}

extern "C" CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return driver_query([&] { return cudaFuncGetParamInfo(kernel, index, offset, bytes); });
}

extern "C" CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                                         CUdevice device) {
  return device != 0 ? CUDA_ERROR_INVALID_DEVICE : attribute_of(value, attribute, kernel);
}

extern "C" CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                         CUdevice device) {
  return driver_query([&] {
    return cudaKernelSetAttributeForDevice(kernel, static_cast<cudaFuncAttribute>(attribute), value, device);
  });
}

extern "C" CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  return driver_query([&] { return cudaFuncSetCacheConfig(kernel, static_cast<cudaFuncCache>(config)); });
}

// ---- Modules

extern "C" CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                                       CUjit_option* options, void** values) {
  clear_logs(options, values, count);
  return driver_call([&] {
    return cudaLibraryLoadData(reinterpret_cast<cudaLibrary_t*>(module), image, nullptr, nullptr, 0, nullptr,
                               nullptr, 0);
  });
}

extern "C" CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

extern "C" CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadData(module, image);
}

extern "C" CUresult cuModuleLoad(CUmodule* module, const char* file) {
  return driver_call([&] {
    return cudaLibraryLoadFromFile(reinterpret_cast<cudaLibrary_t*>(module), file, nullptr, nullptr, 0,
                                   nullptr, nullptr, 0);
  });
}

extern "C" CUresult cuModuleUnload(CUmodule module) {
  return driver_call([&] { return cudaLibraryUnload(library_of(module)); });
}

extern "C" CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

extern "C" CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return driver_call([&] {
    return cudaLibraryGetKernel(reinterpret_cast<cudaKernel_t*>(function), library_of(module), name);
  });
}

extern "C" CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return driver_call([&] { return cudaLibraryGetKernelCount(count, library_of(module)); });
}

extern "C" CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  return driver_call([&] {
    return cudaLibraryEnumerateKernels(reinterpret_cast<cudaKernel_t*>(functions), count, library_of(module));
  });
}

extern "C" CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module,
                                         const char* name) {
  return driver_call(
      [&] { return cudaLibraryGetGlobal(pointers(address), bytes, library_of(module), name); });
}

// ---- Functions of modules

extern "C" CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return owner_of(module, function);
}

extern "C" CUresult cuFuncGetName(const char** name, CUfunction function) {
  return cuKernelGetName(name, kernel_of(function));
}

extern "C" CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
  return cuKernelGetParamInfo(kernel_of(function), index, offset, bytes);
}

extern "C" CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return attribute_of(value, attribute, function);
}

extern "C" CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return cuKernelSetAttribute(attribute, value, kernel_of(function), 0);
}

extern "C" CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return cuKernelSetCacheConfig(kernel_of(function), config, 0);
}

extern "C" CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  return cuFuncLoad(function);
}

extern "C" CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return driver_result([&] {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Function* known = find_function(function);
    if (known == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *state = known->kernel != nullptr ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuFuncLoad(CUfunction function) {
  CUfunction same = nullptr;
  return cuKernelGetFunction(&same, kernel_of(function));
}
