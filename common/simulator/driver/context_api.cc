// cuInit(), contexts, errors. There is one device, and all contexts are names of it (context/current.h).
#include <cstring>

#include "common/simulator/driver/call.h"

namespace simulator {

CUresult result_of(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_INVALID_HANDLE;
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorMissingConfiguration:
      return CUDA_ERROR_INVALID_VALUE;
    default:
      return static_cast<CUresult>(error);
  }
}

CUresult not_supported(const std::string& what) {
  say(what + " is not supported");
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace simulator

using namespace simulator;

namespace {

CUcontext handle_of(Context* context) {
  return reinterpret_cast<CUcontext>(context);
}
Context* context_of(CUcontext handle) {
  return reinterpret_cast<Context*>(handle);
}

// body: of a context that is alive; null: the current one.
template <class F>
CUresult in_context(CUcontext handle, F&& body) noexcept {
  return driver_result([&] {
    Context* context = handle != nullptr ? context_of(handle) : current_context();
    if (context == nullptr || !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
    return body(*context);
  });
}

template <class F>
CUresult of_device(CUdevice device, F&& body) noexcept {
  return driver_result([&] { return device == 0 ? body() : CUDA_ERROR_INVALID_DEVICE; });
}

constexpr unsigned context_version =
    3020;  // what cuCtxGetApiVersion() gives for contexts of all versions since

}  // namespace

extern "C" CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return result_of(initialise());
}

extern "C" CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDART_VERSION;
  return CUDA_SUCCESS;
}

// ---- The primary context

extern "C" CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return of_device(device, [&] {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    ++primary_retained();
    *context = handle_of(&primary_context());
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return of_device(device, [] {
    if (primary_retained() == 0) return CUDA_ERROR_INVALID_CONTEXT;
    --primary_retained();
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  return driver_query([] { return cudaDeviceReset(); });
}

extern "C" CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return of_device(device, [&] {
    primary_context().flags = flags;
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return of_device(device, [&] {
    if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = primary_context().flags;
    *active = primary_in_use();
    return CUDA_SUCCESS;
  });
}

// ---- Contexts of the program's own

extern "C" CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return of_device(device, [&] {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context* made = new_context(flags);
    push_current(made);
    *context = handle_of(made);
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* parameters, int, unsigned flags,
                                   CUdevice device) {
  if (parameters != nullptr) return not_supported("a context with an execution affinity");
  return cuCtxCreate_v2(context, flags, device);
}

extern "C" CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned flags,
                                   CUdevice device) {
  if (parameters != nullptr && (parameters->numExecAffinityParams != 0 || parameters->cigParams != nullptr))
    return not_supported("a context with an execution affinity, or of a graphics queue");
  return cuCtxCreate_v2(context, flags, device);
}

// What a kernel's fault has broken ends with the context.
extern "C" CUresult cuCtxDestroy_v2(CUcontext handle) {
  return driver_result([&] {
    Context* context = context_of(handle);
    if (context == nullptr || !is_context(context) || context == &primary_context())
      return CUDA_ERROR_INVALID_CONTEXT;
    context->alive = false;
    if (current_context() == context) pop_current();
    clear_context_error();
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuCtxSetCurrent(CUcontext handle) {
  return driver_result([&] {
    if (handle != nullptr && !is_context(context_of(handle))) return CUDA_ERROR_INVALID_CONTEXT;
    set_current(context_of(handle));
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuCtxGetCurrent(CUcontext* context) {
  return driver_result([&] {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = handle_of(current_context());
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  return driver_result([&] {
    if (!is_context(context_of(handle))) return CUDA_ERROR_INVALID_CONTEXT;
    push_current(context_of(handle));
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return driver_result([&] {
    Context* popped = pop_current();
    if (popped == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (context != nullptr) *context = handle_of(popped);
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuCtxAttach(CUcontext* context, unsigned flags) {
  if (context == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return in_context(nullptr, [&](Context& current) {
    *context = handle_of(&current);
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuCtxDetach(CUcontext handle) {
  return in_context(handle, [](Context&) { return CUDA_SUCCESS; });
}

// ---- Properties of a context

extern "C" CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_context(handle, [&](Context&) {
    *device = 0;
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuCtxGetDevice(CUdevice* device) {
  return cuCtxGetDevice_v2(device, nullptr);
}

extern "C" CUresult cuCtxGetFlags(unsigned* flags) {
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_context(nullptr, [&](const Context& context) {
    *flags = context.flags;
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuCtxSetFlags(unsigned flags) {
  return in_context(nullptr, [&](Context& context) {
    context.flags = flags;
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_context(handle, [&](const Context& context) {
    *id = context.id;
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_context(handle, [&](Context&) {
    *version = context_version;
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuCtxSynchronize() {
  return driver_call([] { return cudaDeviceSynchronize(); });
}

extern "C" CUresult cuCtxSynchronize_v2(CUcontext handle) {
  const CUresult known = in_context(handle, [](Context&) { return CUDA_SUCCESS; });
  return known != CUDA_SUCCESS ? known : driver_query([] { return cudaDeviceSynchronize(); });
}

extern "C" CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return driver_call([&] { return cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value); });
}

extern "C" CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return driver_call([&] { return cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)); });
}

extern "C" CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return driver_call([&] { return cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache*>(config)); });
}

extern "C" CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return driver_call([&] { return cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config)); });
}

extern "C" CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_context(nullptr, [&](Context&) {
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuCtxSetSharedMemConfig(CUsharedconfig) {
  return in_context(nullptr, [](Context&) { return CUDA_SUCCESS; });
}

extern "C" CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return driver_call([&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}

extern "C" CUresult cuCtxResetPersistingL2Cache() {
  return driver_call([] { return cudaCtxResetPersistingL2Cache(); });
}

extern "C" CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) {
  return driver_call([] { return cudaErrorPeerAccessUnsupported; });
}

extern "C" CUresult cuCtxDisablePeerAccess(CUcontext) {
  return driver_call([] { return cudaErrorPeerAccessNotEnabled; });
}

SIMULATOR_ALIAS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);
SIMULATOR_ALIAS(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);
SIMULATOR_ALIAS(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);
SIMULATOR_ALIAS(cuCtxCreate, cuCtxCreate_v2);
SIMULATOR_ALIAS(cuCtxDestroy, cuCtxDestroy_v2);
SIMULATOR_ALIAS(cuCtxPushCurrent, cuCtxPushCurrent_v2);
SIMULATOR_ALIAS(cuCtxPopCurrent, cuCtxPopCurrent_v2);
