// The CUDA driver's interface, for programs that load their modules themselves: on top of the runtime's,
// whose handles it shares. A context is the device's only one, a module a library, a function a kernel.
#include <cuda.h>

#include <cstdint>

#include "common/simulator/context/cuda_api.h"
#include "common/simulator/context/state.h"

using namespace simulator;

namespace {

// The runtime's error codes have the driver's numbers, but for those that only one of them has.
CUresult result_of(cudaError_t error) {
  switch (error) {
    case cudaErrorSymbolNotFound:
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidConfiguration:
      return CUDA_ERROR_INVALID_VALUE;
    default:
      return static_cast<CUresult>(error);
  }
}

CUcontext the_context() {
  static int context = 0;
  return reinterpret_cast<CUcontext>(&context);
}

thread_local bool has_context = false;

void* pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}
cudaStream_t stream_of(CUstream stream) {
  return reinterpret_cast<cudaStream_t>(stream);
}
const void* kernel_of(CUfunction function) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace

// ---- Device and context

SIMULATOR_EXPORT CUresult cuInit(unsigned) {
  int count = 0;
  return result_of(cudaGetDeviceCount(&count));
}

SIMULATOR_EXPORT CUresult cuDriverGetVersion(int* version) {
  return result_of(cudaDriverGetVersion(version));
}

SIMULATOR_EXPORT CUresult cuGetErrorName(CUresult error, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = cudaGetErrorName(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

SIMULATOR_EXPORT CUresult cuDeviceGetCount(int* count) {
  return result_of(cudaGetDeviceCount(count));
}

SIMULATOR_EXPORT CUresult cuDeviceGet(CUdevice* device, int number) {
  if (device == nullptr || number != 0) return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
  *device = 0;
  return CUDA_SUCCESS;
}

SIMULATOR_EXPORT CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  cudaDeviceProp properties;
  if (name == nullptr || bytes <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess)
    return result_of(error);
  int i = 0;
  for (; i + 1 < bytes && properties.name[i]; ++i) name[i] = properties.name[i];
  name[i] = '\0';
  return CUDA_SUCCESS;
}

SIMULATOR_EXPORT CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  size_t available = 0;
  return bytes == nullptr ? CUDA_ERROR_INVALID_VALUE : result_of(cudaMemGetInfo(&available, bytes));
}

SIMULATOR_EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return result_of(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}

SIMULATOR_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = the_context();
  return CUDA_SUCCESS;
}

SIMULATOR_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  return CUDA_SUCCESS;
}

SIMULATOR_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  has_context = context != nullptr;
  return CUDA_SUCCESS;
}

SIMULATOR_EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = has_context ? the_context() : nullptr;
  return CUDA_SUCCESS;
}

SIMULATOR_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return cuCtxSetCurrent(context);
}

SIMULATOR_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (context != nullptr) *context = the_context();
  has_context = false;
  return CUDA_SUCCESS;
}

SIMULATOR_EXPORT CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice device) {
  has_context = true;
  return cuDevicePrimaryCtxRetain(context, device);
}

SIMULATOR_EXPORT CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams*, unsigned flags,
                                         CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}

SIMULATOR_EXPORT CUresult cuCtxDestroy_v2(CUcontext) {
  has_context = false;
  return CUDA_SUCCESS;
}

SIMULATOR_EXPORT CUresult cuCtxGetDevice(CUdevice* device) {
  return cuDeviceGet(device, 0);
}

SIMULATOR_EXPORT CUresult cuCtxSynchronize() {
  return result_of(cudaDeviceSynchronize());
}

// ---- Modules and kernels

SIMULATOR_EXPORT CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return result_of(cudaLibraryLoadData(reinterpret_cast<cudaLibrary_t*>(module), image, nullptr, nullptr, 0,
                                       nullptr, nullptr, 0));
}

SIMULATOR_EXPORT CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*,
                                             void**) {
  return cuModuleLoadData(module, image);
}

SIMULATOR_EXPORT CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadData(module, image);
}

SIMULATOR_EXPORT CUresult cuModuleLoad(CUmodule* module, const char* file) {
  return result_of(cudaLibraryLoadFromFile(reinterpret_cast<cudaLibrary_t*>(module), file, nullptr, nullptr,
                                           0, nullptr, nullptr, 0));
}

SIMULATOR_EXPORT CUresult cuModuleUnload(CUmodule module) {
  return result_of(cudaLibraryUnload(reinterpret_cast<cudaLibrary_t>(module)));
}

SIMULATOR_EXPORT CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return result_of(cudaLibraryGetKernel(reinterpret_cast<cudaKernel_t*>(function),
                                        reinterpret_cast<cudaLibrary_t>(module), name));
}

SIMULATOR_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module,
                                               const char* name) {
  return result_of(cudaLibraryGetGlobal(reinterpret_cast<void**>(address), bytes,
                                        reinterpret_cast<cudaLibrary_t>(module), name));
}

SIMULATOR_EXPORT CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return result_of(
      cudaFuncSetAttribute(kernel_of(function), static_cast<cudaFuncAttribute>(attribute), value));
}

SIMULATOR_EXPORT CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) {
  return CUDA_SUCCESS;
}

SIMULATOR_EXPORT CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute,
                                             CUfunction function) {
  cudaFuncAttributes all;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const cudaError_t error = cudaFuncGetAttributes(&all, kernel_of(function)); error != cudaSuccess)
    return result_of(error);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = all.maxThreadsPerBlock;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(all.sharedSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(all.localSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = all.numRegs;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = all.maxDynamicSharedSizeBytes;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

SIMULATOR_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                                      int threads, size_t shared) {
  return result_of(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel_of(function), threads, shared));
}

SIMULATOR_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                         unsigned grid_z, unsigned block_x, unsigned block_y,
                                         unsigned block_z, unsigned shared, CUstream stream,
                                         void** parameters, void** extra) {
  if (extra != nullptr) {
    say("cuLaunchKernel() with its parameters in one buffer (CU_LAUNCH_PARAM_BUFFER_POINTER) is not "
        "supported");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return result_of(cudaLaunchKernel(kernel_of(function), {grid_x, grid_y, grid_z},
                                    {block_x, block_y, block_z}, parameters, shared, stream_of(stream)));
}

// The driver's attributes have the numbers and the layout of the runtime's.
SIMULATOR_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                           void** parameters, void** extra) {
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  if (config == nullptr || extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaLaunchConfig_t made = {};
  made.gridDim = {config->gridDimX, config->gridDimY, config->gridDimZ};
  made.blockDim = {config->blockDimX, config->blockDimY, config->blockDimZ};
  made.dynamicSmemBytes = config->sharedMemBytes;
  made.stream = stream_of(config->hStream);
  made.attrs = reinterpret_cast<cudaLaunchAttribute*>(config->attrs);
  made.numAttrs = config->numAttrs;
  return result_of(cudaLaunchKernelExC(&made, kernel_of(function), parameters));
}

// ---- Memory

SIMULATOR_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return result_of(cudaMalloc(reinterpret_cast<void**>(address), bytes));
}

SIMULATOR_EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  return result_of(cudaFree(pointer(address)));
}

SIMULATOR_EXPORT CUresult cuMemGetInfo_v2(size_t* available, size_t* total) {
  return result_of(cudaMemGetInfo(available, total));
}

SIMULATOR_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return result_of(cudaMemcpy(pointer(to), from, bytes, cudaMemcpyHostToDevice));
}

SIMULATOR_EXPORT CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return result_of(cudaMemcpy(to, pointer(from), bytes, cudaMemcpyDeviceToHost));
}

SIMULATOR_EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return result_of(cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice));
}

SIMULATOR_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes,
                                               CUstream stream) {
  return result_of(cudaMemcpyAsync(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream_of(stream)));
}

SIMULATOR_EXPORT CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return result_of(cudaMemcpyAsync(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream_of(stream)));
}

SIMULATOR_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return result_of(cudaMemset(pointer(to), value, count));
}

// ---- Streams and events

SIMULATOR_EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return result_of(cudaStreamCreateWithFlags(reinterpret_cast<cudaStream_t*>(stream), flags));
}

SIMULATOR_EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  return result_of(cudaStreamSynchronize(stream_of(stream)));
}

SIMULATOR_EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  return result_of(cudaStreamDestroy(stream_of(stream)));
}

SIMULATOR_EXPORT CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return result_of(cudaEventCreateWithFlags(reinterpret_cast<cudaEvent_t*>(event), flags));
}

SIMULATOR_EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
  return result_of(cudaEventRecord(reinterpret_cast<cudaEvent_t>(event), stream_of(stream)));
}

SIMULATOR_EXPORT CUresult cuEventSynchronize(CUevent event) {
  return result_of(cudaEventSynchronize(reinterpret_cast<cudaEvent_t>(event)));
}

SIMULATOR_EXPORT CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent from, CUevent to) {
  return result_of(cudaEventElapsedTime(milliseconds, reinterpret_cast<cudaEvent_t>(from),
                                        reinterpret_cast<cudaEvent_t>(to)));
}

SIMULATOR_EXPORT CUresult cuEventDestroy_v2(CUevent event) {
  return result_of(cudaEventDestroy(reinterpret_cast<cudaEvent_t>(event)));
}
