// The one device, as the driver's interface shows it.
#include <algorithm>
#include <cstring>

#include "common/simulator/context/attributes.h"
#include "common/simulator/driver/call.h"
#include "common/simulator/settings/device.h"

using namespace simulator;

namespace {

template <class T, class F>
CUresult of_device(T* result, CUdevice device, F&& value) noexcept {
  return driver_result([&] {
    if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    value();
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" CUresult cuDeviceGetCount(int* count) {
  return driver_query([&] { return cudaGetDeviceCount(count); });
}

extern "C" CUresult cuDeviceGet(CUdevice* device, int number) {
  return of_device(device, number, [&] { *device = 0; });
}

extern "C" CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  if (bytes <= 0) return CUDA_ERROR_INVALID_VALUE;
  return of_device(name, device, [&] {
    const std::string& full = simulator::device().name;
    const size_t length = std::min(full.size(), static_cast<size_t>(bytes) - 1);
    std::memcpy(name, full.data(), length);
    name[length] = '\0';
  });
}

extern "C" CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return of_device(uuid, device, [&] { *uuid = device_properties().uuid; });
}

extern "C" CUresult cuDeviceGetLuid(char* luid, unsigned* mask, CUdevice device) {
  return driver_result([&] {  // Windows alone has them
    if (luid == nullptr || mask == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return device == 0 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_DEVICE;
  });
}

extern "C" CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return of_device(bytes, device, [&] { *bytes = simulator::device().global_bytes; });
}

extern "C" CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return driver_query(
      [&] { return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device); });
}

extern "C" CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  if (minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return of_device(major, device, [&] {
    *major = simulator::device().major;
    *minor = simulator::device().minor;
  });
}

extern "C" CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
  return of_device(properties, device, [&] {
    const cudaDeviceProp all = device_properties();
    *properties = {};
    properties->maxThreadsPerBlock = all.maxThreadsPerBlock;
    std::copy_n(all.maxThreadsDim, 3, properties->maxThreadsDim);
    std::copy_n(all.maxGridSize, 3, properties->maxGridSize);
    properties->sharedMemPerBlock = static_cast<int>(all.sharedMemPerBlock);
    properties->totalConstantMemory = static_cast<int>(all.totalConstMem);
    properties->SIMDWidth = all.warpSize;
    properties->memPitch = static_cast<int>(all.memPitch);
    properties->regsPerBlock = all.regsPerBlock;
    properties->clockRate = simulator::device().clock_khz;
    properties->textureAlign = static_cast<int>(all.textureAlignment);
  });
}

extern "C" CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType, CUdevice device) {
  return of_device(supported, device, [&] { *supported = 0; });
}

extern "C" CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  return driver_query([&] { return cudaDeviceGetByPCIBusId(device, text); });
}

extern "C" CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  return driver_query([&] { return cudaDeviceGetPCIBusId(text, length, device); });
}

extern "C" CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return driver_query([&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}

extern "C" CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice device,
                                            CUdevice peer) {
  return driver_query([&] {
    return cudaDeviceGetP2PAttribute(value, static_cast<cudaDeviceP2PAttr>(attribute), device, peer);
  });
}

extern "C" CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget,
                                               CUflushGPUDirectRDMAWritesScope) {
  return driver_call([] { return cudaSuccess; });
}

SIMULATOR_EXPORT CUresult cuProfilerStart() {
  return driver_call([] { return cudaSuccess; });
}

SIMULATOR_EXPORT CUresult cuProfilerStop() {
  return driver_call([] { return cudaSuccess; });
}

SIMULATOR_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2);
