#include "common/simulator/context/attributes.h"

#include <cstring>
#include <map>

#include "common/simulator/settings/device.h"

namespace simulator {
namespace {

constexpr int largest_int = 2147483647;
constexpr int texture_alignment = 512, texture_pitch_alignment = 32;
constexpr int constant_bytes = 65536;
constexpr int access_window = 134217728;   // bytes
constexpr int pool_handle_types = 9;       // file descriptors and fabric handles
constexpr int rdma_writes_ordering = 100;  // to all devices

// Of L2, for persisting accesses: 5/8, on the A100 3/4.
int persisting_l2(const Device& d) {
  return static_cast<int>(d.major == 8 ? d.l2_bytes / 4 * 3 : d.l2_bytes / 8 * 5);
}

// The attributes that have a value of their own in every device; those that are not here and below
// cudaDevAttrMax are 0. Sizes of textures and surfaces are those of hardware, though there are none here.
std::map<int, int> make_attributes(const Device& d) {  // NOLINT(readability-function-size): a table
  const bool clusters = d.max_cluster > 0;
  return {
      {cudaDevAttrMaxThreadsPerBlock, d.max_threads_per_block},
      {cudaDevAttrMaxBlockDimX, 1024},
      {cudaDevAttrMaxBlockDimY, 1024},
      {cudaDevAttrMaxBlockDimZ, 64},
      {cudaDevAttrMaxGridDimX, largest_int},
      {cudaDevAttrMaxGridDimY, 65535},
      {cudaDevAttrMaxGridDimZ, 65535},
      {cudaDevAttrMaxSharedMemoryPerBlock, static_cast<int>(d.shared_per_block)},
      {cudaDevAttrTotalConstantMemory, constant_bytes},
      {cudaDevAttrWarpSize, 32},
      {cudaDevAttrMaxPitch, largest_int},
      {cudaDevAttrMaxRegistersPerBlock, d.registers_per_sm},
      {cudaDevAttrClockRate, d.clock_khz},
      {cudaDevAttrTextureAlignment, texture_alignment},
      {cudaDevAttrGpuOverlap, 1},
      {cudaDevAttrMultiProcessorCount, d.multiprocessors},
      {cudaDevAttrCanMapHostMemory, 1},
      {cudaDevAttrMaxTexture1DWidth, 131072},
      {cudaDevAttrMaxTexture2DWidth, 131072},
      {cudaDevAttrMaxTexture2DHeight, 65536},
      {cudaDevAttrMaxTexture3DWidth, 16384},
      {cudaDevAttrMaxTexture3DHeight, 16384},
      {cudaDevAttrMaxTexture3DDepth, 16384},
      {cudaDevAttrMaxTexture2DLayeredWidth, 32768},
      {cudaDevAttrMaxTexture2DLayeredHeight, 32768},
      {cudaDevAttrMaxTexture2DLayeredLayers, 2048},
      {cudaDevAttrSurfaceAlignment, texture_alignment},
      {cudaDevAttrConcurrentKernels, 1},
      {cudaDevAttrEccEnabled, 1},
      {cudaDevAttrMemoryClockRate, d.memory_clock_khz},
      {cudaDevAttrGlobalMemoryBusWidth, d.memory_bus_bits},
      {cudaDevAttrL2CacheSize, static_cast<int>(d.l2_bytes)},
      {cudaDevAttrMaxThreadsPerMultiProcessor, d.max_threads_per_sm},
      {cudaDevAttrAsyncEngineCount, 3},
      {cudaDevAttrUnifiedAddressing, 1},
      {cudaDevAttrMaxTexture1DLayeredWidth, 32768},
      {cudaDevAttrMaxTexture1DLayeredLayers, 2048},
      {cudaDevAttrMaxTexture2DGatherWidth, 32768},
      {cudaDevAttrMaxTexture2DGatherHeight, 32768},
      {cudaDevAttrMaxTexture3DWidthAlt, 8192},
      {cudaDevAttrMaxTexture3DHeightAlt, 8192},
      {cudaDevAttrMaxTexture3DDepthAlt, 32768},
      {cudaDevAttrTexturePitchAlignment, texture_pitch_alignment},
      {cudaDevAttrMaxTextureCubemapWidth, 32768},
      {cudaDevAttrMaxTextureCubemapLayeredWidth, 32768},
      {cudaDevAttrMaxTextureCubemapLayeredLayers, 2046},
      {cudaDevAttrMaxSurface1DWidth, 32768},
      {cudaDevAttrMaxSurface2DWidth, 131072},
      {cudaDevAttrMaxSurface2DHeight, 65536},
      {cudaDevAttrMaxSurface3DWidth, 16384},
      {cudaDevAttrMaxSurface3DHeight, 16384},
      {cudaDevAttrMaxSurface3DDepth, 16384},
      {cudaDevAttrMaxSurface1DLayeredWidth, 32768},
      {cudaDevAttrMaxSurface1DLayeredLayers, 2048},
      {cudaDevAttrMaxSurface2DLayeredWidth, 32768},
      {cudaDevAttrMaxSurface2DLayeredHeight, 32768},
      {cudaDevAttrMaxSurface2DLayeredLayers, 2048},
      {cudaDevAttrMaxSurfaceCubemapWidth, 32768},
      {cudaDevAttrMaxSurfaceCubemapLayeredWidth, 32768},
      {cudaDevAttrMaxSurfaceCubemapLayeredLayers, 2046},
      {cudaDevAttrMaxTexture1DLinearWidth, 268435456},
      {cudaDevAttrMaxTexture2DLinearWidth, 131072},
      {cudaDevAttrMaxTexture2DLinearHeight, 65000},
      {cudaDevAttrMaxTexture2DLinearPitch, 2097120},
      {cudaDevAttrMaxTexture2DMipmappedWidth, 32768},
      {cudaDevAttrMaxTexture2DMipmappedHeight, 32768},
      {cudaDevAttrComputeCapabilityMajor, d.major},
      {cudaDevAttrComputeCapabilityMinor, d.minor},
      {cudaDevAttrMaxTexture1DMipmappedWidth, 32768},
      {cudaDevAttrStreamPrioritiesSupported, 1},
      {cudaDevAttrGlobalL1CacheSupported, 1},
      {cudaDevAttrLocalL1CacheSupported, 1},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, static_cast<int>(d.shared_per_sm)},
      {cudaDevAttrMaxRegistersPerMultiprocessor, d.registers_per_sm},
      {cudaDevAttrManagedMemory, 1},
      {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
      {cudaDevAttrConcurrentManagedAccess, 1},
      {cudaDevAttrComputePreemptionSupported, 1},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
      {cudaDevAttrCooperativeLaunch, 1},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<int>(d.shared_per_block_optin)},
      {cudaDevAttrHostRegisterSupported, 1},
      {cudaDevAttrMaxBlocksPerMultiprocessor, d.max_blocks_per_sm},
      {cudaDevAttrMaxPersistingL2CacheSize, persisting_l2(d)},
      {cudaDevAttrMaxAccessPolicyWindowSize, access_window},
      {cudaDevAttrReservedSharedMemoryPerBlock, static_cast<int>(d.shared_reserved)},
      {cudaDevAttrSparseCudaArraySupported, 1},
      {cudaDevAttrHostRegisterReadOnlySupported, 1},
      {cudaDevAttrTimelineSemaphoreInteropSupported, 1},
      {cudaDevAttrMemoryPoolsSupported, 1},
      {cudaDevAttrGPUDirectRDMASupported, 1},
      {cudaDevAttrGPUDirectRDMAFlushWritesOptions, 1},
      {cudaDevAttrGPUDirectRDMAWritesOrdering, rdma_writes_ordering},
      {cudaDevAttrMemoryPoolSupportedHandleTypes, pool_handle_types},
      {cudaDevAttrClusterLaunch, clusters},
      {cudaDevAttrDeferredMappingCudaArraySupported, 1},
      {cudaDevAttrIpcEventSupport, 1},
      {cudaDevAttrMemSyncDomainCount, clusters ? 4 : 1},
      {cudaDevAttrNumaId, -1},
  };
}

}  // namespace

bool device_attribute(cudaDeviceAttr attribute, int& value) {
  if (attribute <= 0 || attribute >= cudaDevAttrMax) return false;
  static const std::map<int, int> attributes = make_attributes(device());
  const auto it = attributes.find(attribute);
  value = it != attributes.end() ? it->second : 0;
  return true;
}

cudaDeviceProp device_properties() {  // NOLINT(readability-function-size): a table
  const Device& d = device();
  const auto attribute = [](cudaDeviceAttr which) {
    int value = 0;
    device_attribute(which, value);
    return value;
  };
  cudaDeviceProp p{};
  std::strncpy(p.name, d.name.c_str(), sizeof p.name - 1);
  std::memcpy(p.uuid.bytes, d.name.c_str(),
              d.name.size() < sizeof p.uuid.bytes ? d.name.size() : sizeof p.uuid.bytes);
  p.totalGlobalMem = d.global_bytes;
  p.sharedMemPerBlock = d.shared_per_block;
  p.regsPerBlock = d.registers_per_sm;
  p.warpSize = 32;
  p.memPitch = largest_int;
  p.maxThreadsPerBlock = d.max_threads_per_block;
  const int threads[] = {1024, 1024, 64}, grid[] = {largest_int, 65535, 65535};
  std::memcpy(p.maxThreadsDim, threads, sizeof threads);
  std::memcpy(p.maxGridSize, grid, sizeof grid);
  p.totalConstMem = constant_bytes;
  p.major = d.major;
  p.minor = d.minor;
  p.textureAlignment = texture_alignment;
  p.texturePitchAlignment = texture_pitch_alignment;
  p.multiProcessorCount = d.multiprocessors;
  p.canMapHostMemory = 1;
  p.maxTexture1D = attribute(cudaDevAttrMaxTexture1DWidth);
  p.maxTexture1DMipmap = attribute(cudaDevAttrMaxTexture1DMipmappedWidth);
  const auto set = [&](int* to, std::initializer_list<cudaDeviceAttr> which) {
    for (cudaDeviceAttr one : which) *to++ = attribute(one);
  };
  set(p.maxTexture2D, {cudaDevAttrMaxTexture2DWidth, cudaDevAttrMaxTexture2DHeight});
  set(p.maxTexture2DMipmap, {cudaDevAttrMaxTexture2DMipmappedWidth, cudaDevAttrMaxTexture2DMipmappedHeight});
  set(p.maxTexture2DLinear, {cudaDevAttrMaxTexture2DLinearWidth, cudaDevAttrMaxTexture2DLinearHeight,
                             cudaDevAttrMaxTexture2DLinearPitch});
  set(p.maxTexture2DGather, {cudaDevAttrMaxTexture2DGatherWidth, cudaDevAttrMaxTexture2DGatherHeight});
  set(p.maxTexture3D,
      {cudaDevAttrMaxTexture3DWidth, cudaDevAttrMaxTexture3DHeight, cudaDevAttrMaxTexture3DDepth});
  set(p.maxTexture3DAlt,
      {cudaDevAttrMaxTexture3DWidthAlt, cudaDevAttrMaxTexture3DHeightAlt, cudaDevAttrMaxTexture3DDepthAlt});
  p.maxTextureCubemap = attribute(cudaDevAttrMaxTextureCubemapWidth);
  set(p.maxTexture1DLayered, {cudaDevAttrMaxTexture1DLayeredWidth, cudaDevAttrMaxTexture1DLayeredLayers});
  set(p.maxTexture2DLayered, {cudaDevAttrMaxTexture2DLayeredWidth, cudaDevAttrMaxTexture2DLayeredHeight,
                              cudaDevAttrMaxTexture2DLayeredLayers});
  set(p.maxTextureCubemapLayered,
      {cudaDevAttrMaxTextureCubemapLayeredWidth, cudaDevAttrMaxTextureCubemapLayeredLayers});
  p.maxSurface1D = attribute(cudaDevAttrMaxSurface1DWidth);
  set(p.maxSurface2D, {cudaDevAttrMaxSurface2DWidth, cudaDevAttrMaxSurface2DHeight});
  set(p.maxSurface3D,
      {cudaDevAttrMaxSurface3DWidth, cudaDevAttrMaxSurface3DHeight, cudaDevAttrMaxSurface3DDepth});
  set(p.maxSurface1DLayered, {cudaDevAttrMaxSurface1DLayeredWidth, cudaDevAttrMaxSurface1DLayeredLayers});
  set(p.maxSurface2DLayered, {cudaDevAttrMaxSurface2DLayeredWidth, cudaDevAttrMaxSurface2DLayeredHeight,
                              cudaDevAttrMaxSurface2DLayeredLayers});
  p.maxSurfaceCubemap = attribute(cudaDevAttrMaxSurfaceCubemapWidth);
  set(p.maxSurfaceCubemapLayered,
      {cudaDevAttrMaxSurfaceCubemapLayeredWidth, cudaDevAttrMaxSurfaceCubemapLayeredLayers});
  p.surfaceAlignment = texture_alignment;
  p.concurrentKernels = 1;
  p.ECCEnabled = 1;
  p.asyncEngineCount = attribute(cudaDevAttrAsyncEngineCount);
  p.unifiedAddressing = 1;
  p.memoryBusWidth = d.memory_bus_bits;
  p.l2CacheSize = static_cast<int>(d.l2_bytes);
  p.persistingL2CacheMaxSize = persisting_l2(d);
  p.maxThreadsPerMultiProcessor = d.max_threads_per_sm;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = 1;
  p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = d.shared_per_sm;
  p.regsPerMultiprocessor = d.registers_per_sm;
  p.managedMemory = 1;
  p.concurrentManagedAccess = 1;
  p.computePreemptionSupported = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = 1;
  p.sharedMemPerBlockOptin = d.shared_per_block_optin;
  p.maxBlocksPerMultiProcessor = d.max_blocks_per_sm;
  p.accessPolicyMaxWindowSize = access_window;
  p.reservedSharedMemPerBlock = d.shared_reserved;
  p.hostRegisterSupported = 1;
  p.sparseCudaArraySupported = 1;
  p.hostRegisterReadOnlySupported = 1;
  p.timelineSemaphoreInteropSupported = 1;
  p.memoryPoolsSupported = 1;
  p.gpuDirectRDMASupported = 1;
  p.gpuDirectRDMAFlushWritesOptions = 1;
  p.gpuDirectRDMAWritesOrdering = rdma_writes_ordering;
  p.memoryPoolSupportedHandleTypes = pool_handle_types;
  p.deferredMappingCudaArraySupported = 1;
  p.ipcEventSupported = 1;
  p.clusterLaunch = attribute(cudaDevAttrClusterLaunch);
  p.deviceNumaId = -1;
  return p;
}

}  // namespace simulator
