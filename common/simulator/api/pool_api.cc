// Stream-ordered allocation and memory pools. A pool hands nothing back late: what is freed is freed at once.
#include <algorithm>
#include <iterator>
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

using Kind = Allocation::Kind;

struct Pool {
  Kind kind = Kind::device;
  uint64_t threshold = 0, used = 0, used_high = 0;  // bytes
  int reuse[3] = {1, 1, 1};  // cudaMemPoolReuseFollowEventDependencies and the two after it
};

struct Share {  // of a pool: one allocation
  Pool* pool;
  uint64_t bytes;
};

struct Pools {
  Pool initial[3] = {{Kind::device}, {Kind::managed}, {Kind::host}};  // by kind
  Pool* current[3] = {&initial[0], &initial[1], &initial[2]};
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

Pool*& current_pool(Kind kind) {
  return pools().current[static_cast<size_t>(kind)];
}

Pool* find_pool(cudaMemPool_t handle) {
  for (Pool& pool : pools().initial) {
    if (handle == handle_of(&pool)) return &pool;
  }
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
  if (const cudaError_t error = allocate(pointer, bytes, pool->kind); error != cudaSuccess) return error;
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

// body: of the kind of memory that is there.
template <class F>
cudaError_t of_kind(const cudaMemLocation* location, cudaMemAllocationType type, F&& body) {
  if (location == nullptr) return cudaErrorInvalidValue;
  if (type == cudaMemAllocationTypeManaged) return body(Kind::managed);
  if (type == cudaMemAllocationTypePinned) {
    if (location->type == cudaMemLocationTypeDevice && location->id == 0) return body(Kind::device);
    if (location->type == cudaMemLocationTypeHost || location->type == cudaMemLocationTypeHostNuma)
      return body(Kind::host);
  }
  return cudaErrorInvalidValue;
}

cudaError_t give(cudaMemPool_t* handle, Pool* pool) {
  if (handle == nullptr) return cudaErrorInvalidValue;
  *handle = handle_of(pool);
  return cudaSuccess;
}

cudaError_t set_current(cudaMemPool_t handle) {
  Pool* pool = find_pool(handle);
  if (pool == nullptr) return cudaErrorInvalidValue;
  current_pool(pool->kind) = pool;
  return cudaSuccess;
}

}  // namespace

bool simulator::leave_pool(void* pointer) {
  const auto it = pools().of.find(pointer);
  if (it == pools().of.end()) return false;
  Pool& pool = *it->second.pool;
  pool.used -= it->second.bytes;
  pools().of.erase(it);
  return true;
}

void simulator::forget_pools() {
  Pools& all = pools();
  all.of.clear();
  all.created.clear();
  for (size_t kind = 0; kind < std::size(all.initial); ++kind) {
    all.initial[kind] = Pool{static_cast<Kind>(kind)};
    all.current[kind] = &all.initial[kind];
  }
}

extern "C" cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  return call([&] { return allocate_from(current_pool(Kind::device), pointer, bytes, stream); });
}

extern "C" cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                               cudaStream_t stream) {
  return call([&] { return allocate_from(find_pool(pool), pointer, bytes, stream); });
}

extern "C" cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call([&] { return free_on(pointer, stream); });
}

extern "C" cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int number) {
  return call([&] { return number == 0 ? give(pool, &pools().initial[0]) : cudaErrorInvalidDevice; });
}

extern "C" cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int number) {
  return call([&] { return number == 0 ? give(pool, current_pool(Kind::device)) : cudaErrorInvalidDevice; });
}

extern "C" cudaError_t cudaDeviceSetMemPool(int number, cudaMemPool_t pool) {
  return call([&] { return number == 0 ? set_current(pool) : cudaErrorInvalidDevice; });
}

extern "C" cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                                cudaMemAllocationType type) {
  return call([&] {
    return of_kind(location, type,
                   [&](Kind kind) { return give(pool, &pools().initial[static_cast<size_t>(kind)]); });
  });
}

extern "C" cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                         cudaMemAllocationType type) {
  return call(
      [&] { return of_kind(location, type, [&](Kind kind) { return give(pool, current_pool(kind)); }); });
}

extern "C" cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                                         cudaMemPool_t pool) {
  return call([&] {
    return of_kind(location, type, [&](Kind kind) {
      const Pool* known = find_pool(pool);
      return known != nullptr && known->kind == kind ? set_current(pool) : cudaErrorInvalidValue;
    });
  });
}

extern "C" cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call([&] {
    if (pool == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    if (properties->handleTypes != cudaMemHandleTypeNone) {
      say("memory pools that are shared between processes (handleTypes) are not supported");
      return cudaErrorNotSupported;
    }
    return of_kind(&properties->location, properties->allocType, [&](Kind kind) {
      auto created = std::make_unique<Pool>(Pool{kind});
      *pool = handle_of(created.get());
      pools().created[*pool] = std::move(created);
      return cudaSuccess;
    });
  });
}

extern "C" cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return call([&] {
    const auto it = pools().created.find(handle);
    if (it == pools().created.end()) return cudaErrorInvalidValue;
    const Kind kind = it->second->kind;
    if (current_pool(kind) == it->second.get())
      current_pool(kind) = &pools().initial[static_cast<size_t>(kind)];
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
