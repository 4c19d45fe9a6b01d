// Stream-ordered allocation and memory pools. A pool hands nothing back late: what is freed is freed at once.
#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "common/simulator/api/graph_nodes.h"
#include "common/simulator/context/memory.h"
#include "common/simulator/context/state.h"
#include "common/simulator/memory/global_memory.h"
#include "common/simulator/runtime/stream.h"

using namespace simulator;

namespace {

struct Pool {
  uint64_t threshold = 0, used = 0, used_high = 0;  // bytes
  int reuse[3] = {1, 1, 1};  // cudaMemPoolReuseFollowEventDependencies and the two after it
};

struct Share {  // of a pool: one allocation
  Pool* pool;
  uint64_t bytes;
};

struct Pools {
  Pool initial;
  Pool* current = &initial;
  std::unordered_map<cudaMemPool_t, std::unique_ptr<Pool>> created;
  std::map<void*, Share> of;  // allocations
};

Pools& pools() {
  static Pools* all = new Pools;
  return *all;
}

cudaMemPool_t handle_of(Pool* pool) {
  return reinterpret_cast<cudaMemPool_t>(pool);
}

Pool* find_pool(cudaMemPool_t handle) {
  if (handle == handle_of(&pools().initial)) return &pools().initial;
  const auto it = pools().created.find(handle);
  return it != pools().created.end() ? it->second.get() : nullptr;
}

cudaError_t allocate_from(Pool* pool, void** pointer, size_t bytes, cudaStream_t handle) {
  Stream* stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (pool == nullptr) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_submission(*stream); error != cudaSuccess) return error;
  if (stream->capture != nullptr && bytes != 0) {
    Work work;
    cudaMemAllocNodeParams params = {};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location = {cudaMemLocationTypeDevice, 0};
    params.bytesize = bytes;
    if (pointer == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = work_of_allocation(params, work);
    *pointer = params.dptr;
    if (error == cudaSuccess) add_captured(*stream, cudaGraphNodeTypeMemAlloc, std::move(work));
    return error;
  }
  if (const cudaError_t error = allocate(pointer, bytes, Allocation::Kind::device); error != cudaSuccess)
    return error;
  if (*pointer != nullptr) {
    pools().of[*pointer] = {pool, bytes};
    pool->used += bytes;
    pool->used_high = std::max(pool->used_high, pool->used);
  }
  return cudaSuccess;
}

cudaError_t free_on(void* pointer, cudaStream_t handle) {
  Stream* stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (pointer == nullptr) return cudaSuccess;
  if (const cudaError_t error = check_submission(*stream); error != cudaSuccess) return error;
  const Allocation* a = global_memory().find(reinterpret_cast<uint64_t>(pointer));
  if (a == nullptr || a->freed) return cudaErrorInvalidValue;
  if (stream->capture != nullptr) {
    Work work;
    const cudaError_t error = work_of_free(pointer, work);
    if (error == cudaSuccess) add_captured(*stream, cudaGraphNodeTypeMemFree, std::move(work));
    return error;
  }
  return release(pointer);
}

template <class F>
cudaError_t with_pool(cudaMemPool_t handle, F&& body) noexcept {
  return call([&] {
    Pool* pool = find_pool(handle);
    return pool != nullptr ? body(*pool) : cudaErrorInvalidValue;
  });
}

bool here(const cudaMemLocation* location, cudaMemAllocationType type) {
  return location != nullptr && location->type == cudaMemLocationTypeDevice && location->id == 0 &&
         type == cudaMemAllocationTypePinned;
}

cudaError_t give(cudaMemPool_t* handle, Pool* pool) {
  if (handle == nullptr) return cudaErrorInvalidValue;
  *handle = handle_of(pool);
  return cudaSuccess;
}

cudaError_t set_current(cudaMemPool_t handle) {
  Pool* pool = find_pool(handle);
  if (pool == nullptr) return cudaErrorInvalidValue;
  pools().current = pool;
  return cudaSuccess;
}

}  // namespace

void simulator::leave_pool(void* pointer) {
  const auto it = pools().of.find(pointer);
  if (it == pools().of.end()) return;
  Pool& pool = *it->second.pool;
  pool.used -= it->second.bytes;
  pools().of.erase(it);
}

void simulator::forget_pools() {
  pools().of.clear();
  pools().created.clear();
  pools().initial = {};
  pools().current = &pools().initial;
}

extern "C" cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  return call([&] { return allocate_from(pools().current, pointer, bytes, stream); });
}

extern "C" cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                               cudaStream_t stream) {
  return call([&] { return allocate_from(find_pool(pool), pointer, bytes, stream); });
}

extern "C" cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call([&] { return free_on(pointer, stream); });
}

extern "C" cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int number) {
  return call([&] { return number == 0 ? give(pool, &pools().initial) : cudaErrorInvalidDevice; });
}

extern "C" cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int number) {
  return call([&] { return number == 0 ? give(pool, pools().current) : cudaErrorInvalidDevice; });
}

extern "C" cudaError_t cudaDeviceSetMemPool(int number, cudaMemPool_t pool) {
  return call([&] { return number == 0 ? set_current(pool) : cudaErrorInvalidDevice; });
}

extern "C" cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                                cudaMemAllocationType type) {
  return call([&] { return here(location, type) ? give(pool, &pools().initial) : cudaErrorNotSupported; });
}

extern "C" cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                         cudaMemAllocationType type) {
  return call([&] { return here(location, type) ? give(pool, pools().current) : cudaErrorNotSupported; });
}

extern "C" cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                                         cudaMemPool_t pool) {
  return call([&] { return here(location, type) ? set_current(pool) : cudaErrorNotSupported; });
}

extern "C" cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call([&] {
    if (pool == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    if (!here(&properties->location, properties->allocType)) return cudaErrorNotSupported;
    auto created = std::make_unique<Pool>();
    *pool = handle_of(created.get());
    pools().created[*pool] = std::move(created);
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return call([&] {
    const auto it = pools().created.find(handle);
    if (it == pools().created.end()) return cudaErrorInvalidValue;
    if (pools().current == it->second.get()) pools().current = &pools().initial;
    std::erase_if(pools().of, [&](const auto& entry) { return entry.second.pool == it->second.get(); });
    pools().created.erase(it);
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t) {
  return with_pool(handle, [](Pool&) { return cudaSuccess; });
}

extern "C" cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](Pool& pool) {
    if (value == nullptr) return cudaErrorInvalidValue;
    const uint64_t number = attribute < cudaMemPoolAttrReleaseThreshold ? 0 : *static_cast<uint64_t*>(value);
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        pool.reuse[attribute - cudaMemPoolReuseFollowEventDependencies] = *static_cast<int*>(value);
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        pool.threshold = number;
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        if (number != 0) return cudaErrorInvalidValue;
        pool.used_high = pool.used;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

extern "C" cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](Pool& pool) {
    if (value == nullptr) return cudaErrorInvalidValue;
    switch (attribute) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        *static_cast<int*>(value) = pool.reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        *static_cast<uint64_t*>(value) = pool.threshold;
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemCurrent:
      case cudaMemPoolAttrUsedMemCurrent:
        *static_cast<uint64_t*>(value) = pool.used;
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        *static_cast<uint64_t*>(value) = pool.used_high;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

extern "C" cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc*, size_t) {
  return with_pool(handle, [](Pool&) { return cudaSuccess; });
}

extern "C" cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle,
                                            cudaMemLocation* location) {
  return with_pool(handle, [&](Pool&) {
    if (flags == nullptr || location == nullptr) return cudaErrorInvalidValue;
    *flags = location->type == cudaMemLocationTypeDevice ? cudaMemAccessFlagsProtReadWrite
                                                         : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

SIMULATOR_ALIAS(cudaMallocAsync_ptsz, cudaMallocAsync);
SIMULATOR_ALIAS(cudaMallocFromPoolAsync_ptsz, cudaMallocFromPoolAsync);
SIMULATOR_ALIAS(cudaFreeAsync_ptsz, cudaFreeAsync);
