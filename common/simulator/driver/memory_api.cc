// Allocation, pools, managed and host memory; what a pointer points to.
#include <cstring>

#include "common/simulator/driver/call.h"
#include "common/simulator/memory/global_memory.h"

using namespace simulator;

namespace {

static_assert(sizeof(CUmemLocation) == sizeof(cudaMemLocation));
cudaMemLocation* location_of(CUmemLocation* location) {
  return reinterpret_cast<cudaMemLocation*>(location);
}
cudaMemLocation location_of(CUmemLocation location) {
  return *location_of(&location);
}
static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));
static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));

CUmemLocation location_of_device(CUdevice device) {
  CUmemLocation location = {};
  location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device == CU_DEVICE_CPU ? 0 : device;
  return location;
}

const Allocation* live(CUdeviceptr address) {
  const Allocation* a = global_memory().find(address);
  return a != nullptr && !a->freed ? a : nullptr;
}

template <class T>
CUresult give(void* data, const T& value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

// a: what is at the address; null: nothing is.
CUresult pointer_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr address,
                           const Allocation* a) {
  const bool managed = a != nullptr && a->kind == Allocation::Kind::managed;
  const bool host = a != nullptr && a->kind == Allocation::Kind::host;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return give(data, a != nullptr ? static_cast<void*>(current_context()) : nullptr);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(data, a == nullptr ? 0u : unsigned{host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE});
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return give(data, a != nullptr ? address : 0);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (a != nullptr && !managed && !host) return CUDA_ERROR_INVALID_VALUE;
      return give(data, a != nullptr ? pointer(address) : nullptr);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return give(data, false);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return give(data, a != nullptr ? uint64_t{a->number} : uint64_t{0});
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return give(data, managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(data, a != nullptr ? 0 : CU_DEVICE_INVALID);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return give(data, a != nullptr ? CUdeviceptr{a->base} : 0);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return give(data, a != nullptr ? size_t{a->size} : 0);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return give(data, a != nullptr);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return give(data, uint64_t{0});
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return give(data, a != nullptr ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
                                     : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return give(data, CUmemoryPool{});
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

extern "C" CUresult cuMemGetInfo_v2(size_t* available, size_t* total) {
  return driver_call([&] { return cudaMemGetInfo(available, total); });
}

extern "C" CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return driver_call(
      [&] { return bytes == 0 ? cudaErrorInvalidValue : cudaMalloc(pointers(address), bytes); });
}

extern "C" CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height,
                                       unsigned) {
  return driver_call([&] { return cudaMallocPitch(pointers(address), pitch, width, height); });
}

extern "C" CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  return driver_call([&] {
    return bytes == 0 ? cudaErrorInvalidValue : cudaMallocManaged(pointers(address), bytes, flags);
  });
}

extern "C" CUresult cuMemFree_v2(CUdeviceptr address) {
  return driver_call([&] { return cudaFree(pointer(address)); });
}

extern "C" CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  return driver_call([&] { return cudaHostAlloc(address, bytes, flags); });
}

extern "C" CUresult cuMemAllocHost_v2(void** address, size_t bytes) {
  return driver_call([&] { return cudaMallocHost(address, bytes); });
}

extern "C" CUresult cuMemFreeHost(void* address) {
  return driver_call([&] { return cudaFreeHost(address); });
}

extern "C" CUresult cuMemHostRegister_v2(void* address, size_t bytes, unsigned flags) {
  return driver_call([&] { return cudaHostRegister(address, bytes, flags); });
}

extern "C" CUresult cuMemHostUnregister(void* address) {
  return driver_call([&] { return cudaHostUnregister(address); });
}

extern "C" CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host, unsigned flags) {
  return driver_call([&] { return cudaHostGetDevicePointer(pointers(address), host, flags); });
}

extern "C" CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
  return driver_call([&] { return cudaHostGetFlags(flags, host); });
}

// ---- What is at an address

extern "C" CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  return driver_result([&] {
    const Allocation* a = live(address);
    if (a == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = a->base;
    if (bytes != nullptr) *bytes = a->size;
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  return driver_result([&] {
    const Allocation* a = live(address);
    if (data == nullptr || a == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return pointer_attribute(data, attribute, address, a);
  });
}

// Of memory that is not CUDA's: zeroes, and success.
extern "C" CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                           CUdeviceptr address) {
  return driver_result([&] {
    if (attributes == nullptr || data == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    const Allocation* a = live(address);
    for (unsigned i = 0; i < count; ++i) {
      const CUresult error = pointer_attribute(data[i], attributes[i], address, a);
      if (error == CUDA_SUCCESS) continue;
      if (attributes[i] != CU_POINTER_ATTRIBUTE_HOST_POINTER) return error;
      give(data[i], nullptr);
    }
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                                          CUdeviceptr address) {
  return driver_result([&] {  // copies are synchronous in any case
    const bool known = attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    return value != nullptr && known && live(address) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

// ---- Managed memory

extern "C" CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location,
                                          unsigned flags, CUstream stream) {
  return driver_call(
      [&] { return cudaMemPrefetchAsync(pointer(address), bytes, location_of(location), flags, stream); });
}

extern "C" CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  return cuMemPrefetchAsync_v2(address, bytes, location_of_device(device), 0, stream);
}

extern "C" CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                                   CUmemLocation location) {
  return driver_call([&] {
    return cudaMemAdvise(pointer(address), bytes, static_cast<cudaMemoryAdvise>(advice),
                         location_of(location));
  });
}

extern "C" CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
  return cuMemAdvise_v2(address, bytes, advice, location_of_device(device));
}

// ---- Pools

extern "C" CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  return driver_call([&] { return cudaMallocAsync(pointers(address), bytes, stream); });
}

extern "C" CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                            CUstream stream) {
  return driver_call([&] { return cudaMallocFromPoolAsync(pointers(address), bytes, pool, stream); });
}

extern "C" CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return driver_call([&] { return cudaFreeAsync(pointer(address), stream); });
}

extern "C" CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return driver_query([&] { return cudaDeviceGetDefaultMemPool(pool, device); });
}

extern "C" CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return driver_query([&] { return cudaDeviceGetMemPool(pool, device); });
}

extern "C" CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return driver_query([&] { return cudaDeviceSetMemPool(device, pool); });
}

extern "C" CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                           CUmemAllocationType type) {
  return driver_query([&] {
    return cudaMemGetDefaultMemPool(pool, location_of(location), static_cast<cudaMemAllocationType>(type));
  });
}

extern "C" CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return driver_query([&] {
    return cudaMemGetMemPool(pool, location_of(location), static_cast<cudaMemAllocationType>(type));
  });
}

extern "C" CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return driver_query([&] {
    return cudaMemSetMemPool(location_of(location), static_cast<cudaMemAllocationType>(type), pool);
  });
}

extern "C" CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return driver_query(
      [&] { return cudaMemPoolCreate(pool, reinterpret_cast<const cudaMemPoolProps*>(properties)); });
}

extern "C" CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return driver_query([&] { return cudaMemPoolDestroy(pool); });
}

extern "C" CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes) {
  return driver_query([&] { return cudaMemPoolTrimTo(pool, bytes); });
}

extern "C" CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return driver_query(
      [&] { return cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value); });
}

extern "C" CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return driver_query(
      [&] { return cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value); });
}

extern "C" CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* access, size_t count) {
  return driver_query(
      [&] { return cudaMemPoolSetAccess(pool, reinterpret_cast<const cudaMemAccessDesc*>(access), count); });
}

extern "C" CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return driver_query([&] {
    return cudaMemPoolGetAccess(reinterpret_cast<cudaMemAccessFlags*>(flags), pool, location_of(location));
  });
}

SIMULATOR_ALIAS(cuMemHostRegister, cuMemHostRegister_v2);
SIMULATOR_ALIAS(cuMemPrefetchAsync_ptsz, cuMemPrefetchAsync);
SIMULATOR_ALIAS(cuMemPrefetchAsync_v2_ptsz, cuMemPrefetchAsync_v2);
SIMULATOR_ALIAS(cuMemAllocAsync_ptsz, cuMemAllocAsync);
SIMULATOR_ALIAS(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync);
SIMULATOR_ALIAS(cuMemFreeAsync_ptsz, cuMemFreeAsync);
