// The one device: which, how many, choosing it, its limits, its peers.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>

#include "common/simulator/context/attributes.h"
#include "common/simulator/context/memory.h"
#include "common/simulator/context/registration.h"
#include "common/simulator/context/state.h"
#include "common/simulator/runtime/event.h"
#include "common/simulator/runtime/launch.h"
#include "common/simulator/runtime/stream.h"
#include "common/simulator/settings/device.h"

using namespace simulator;

namespace {

struct DeviceState {
  unsigned flags = 16;  // cudaDeviceLmemResizeToMax, as a new context has it
  cudaFuncCache cache = cudaFuncCachePreferNone;
  // By cudaLimit, as an H200 has them.
  std::array<size_t, 7> limits{1024, 8650752, 8388608, 0, 2048, 64, 11796480};
};
DeviceState state;

constexpr char bus_id[] = "0000:00:00.0";

cudaError_t check_device(int number) {
  return number == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

template <class T, class F>
cudaError_t of_device(T* result, F&& value) noexcept {
  return query([&] {
    if (result == nullptr) return cudaErrorInvalidValue;
    *result = value();
    return cudaSuccess;
  });
}

}  // namespace

extern "C" cudaError_t cudaGetDeviceCount(int* count) {
  return of_device(count, [] { return 1; });
}

extern "C" cudaError_t cudaGetDevice(int* number) {
  return of_device(number, [] { return 0; });
}

extern "C" cudaError_t cudaSetDevice(int number) {
  return query([&] {
    if (const cudaError_t error = check_device(number); error != cudaSuccess) return error;
    use_a_context();
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaInitDevice(int number, unsigned, unsigned) {
  return cudaSetDevice(number);
}

extern "C" cudaError_t cudaSetValidDevices(int* numbers, int count) {
  return query([&] {
    if (count < 0 || (numbers == nullptr && count != 0)) return cudaErrorInvalidValue;
    return std::all_of(numbers, numbers + count, [](int number) { return number == 0; })
               ? cudaSuccess
               : cudaErrorInvalidDevice;
  });
}

extern "C" cudaError_t cudaChooseDevice(int* number, const cudaDeviceProp* wanted) {
  return query([&] {
    if (number == nullptr || wanted == nullptr) return cudaErrorInvalidValue;
    *number = 0;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int number) {
  return query([&] {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_device(number); error != cudaSuccess) return error;
    *properties = device_properties();
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int number) {
  return query([&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_device(number); error != cudaSuccess) return error;
    return device_attribute(attribute, *value) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

extern "C" cudaError_t cudaDriverGetVersion(int* version) {
  return of_device(version, [] { return CUDART_VERSION; });
}

extern "C" cudaError_t cudaRuntimeGetVersion(int* version) {
  return of_device(version, [] { return CUDART_VERSION; });
}

extern "C" cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return of_device(flags, [] { return state.flags | cudaDeviceMapHost; });
}

extern "C" cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return query([&] {
    if ((flags & ~static_cast<unsigned>(cudaDeviceMask)) != 0) return cudaErrorInvalidValue;
    state.flags = flags;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return of_device(config, [] { return state.cache; });
}

extern "C" cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return query([&] {
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    state.cache = config;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return of_device(config, [] { return cudaSharedMemBankSizeFourByte; });
}

extern "C" cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return query([] { return cudaSuccess; });
}

extern "C" cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return call([&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    const auto index = static_cast<size_t>(limit);
    if (index >= state.limits.size() || limit == cudaLimitDevRuntimeSyncDepth)
      return cudaErrorUnsupportedLimit;
    *value = state.limits[index];
    return cudaSuccess;
  });
}

// Stack and heap grow as a kernel needs them and printf never loses a line: the values are only kept.
extern "C" cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call([&] {
    const auto index = static_cast<size_t>(limit);
    if (index >= state.limits.size()) return cudaErrorInvalidValue;
    if (limit == cudaLimitDevRuntimeSyncDepth) return cudaErrorUnsupportedLimit;
    if (limit == cudaLimitPrintfFifoSize && buffers_in_use().printf) return cudaErrorInvalidValue;
    int most = 0;
    device_attribute(cudaDevAttrMaxPersistingL2CacheSize, most);
    if (limit == cudaLimitPersistingL2CacheSize && value > static_cast<size_t>(most))
      return cudaErrorInvalidValue;
    if (limit == cudaLimitMallocHeapSize && buffers_in_use().heap) return cudaErrorInvalidValue;
    state.limits[index] = value;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&] {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaDeviceReset() {
  return query([] {
    forget_streams();
    forget_events();
    forget_graph_memory();
    release_all();
    forget_pools();
    unload_all();
    clear_context_error();
    state = {};
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int number) {
  return query([&] {
    if (const cudaError_t error = check_device(number); error != cudaSuccess) return error;
    if (text == nullptr || length < static_cast<int>(sizeof bus_id)) return cudaErrorInvalidValue;
    std::memcpy(text, bus_id, sizeof bus_id);
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaDeviceGetByPCIBusId(int* number, const char* text) {
  return query([&] {
    if (number == nullptr || text == nullptr) return cudaErrorInvalidValue;
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    const bool full = std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4;
    if (!full && std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) != 3) return cudaErrorInvalidValue;
    if ((domain | bus | slot | function) != 0) return cudaErrorInvalidDevice;
    *number = 0;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaDeviceCanAccessPeer(int* can, int number, int peer) {
  return query([&] {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_device(number | peer); error != cudaSuccess) return error;
    *can = 0;  // a device is no peer of its own
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return query([&] { return peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice; });
}

extern "C" cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return query([&] { return peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice; });
}

extern "C" cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return query([] { return cudaErrorInvalidDevice; });  // it takes two devices
}

extern "C" cudaError_t cudaCtxResetPersistingL2Cache() {
  return call([] { return cudaSuccess; });
}

extern "C" cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget,
                                                          cudaFlushGPUDirectRDMAWritesScope) {
  return call([] { return cudaSuccess; });
}

SIMULATOR_EXPORT cudaError_t cudaProfilerStart() {
  return query([] { return cudaSuccess; });
}

SIMULATOR_EXPORT cudaError_t cudaProfilerStop() {
  return query([] { return cudaSuccess; });
}

extern "C" cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                       cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
