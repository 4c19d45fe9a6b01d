// Allocation of device, managed and pinned host memory.
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "common/simulator/context/memory.h"
#include "common/simulator/context/state.h"
#include "common/simulator/memory/global_memory.h"
#include "common/simulator/runtime/stream.h"
#include "common/simulator/settings/device.h"

namespace simulator {
namespace {

using Kind = Allocation::Kind;

struct Owned {
  Kind kind;
  bool registered = false;  // cudaHostRegister
  unsigned flags = 0;       // as cudaHostGetFlags() returns them
};

std::map<uint64_t, Owned>& owned() {  // by base
  static auto* all = new std::map<uint64_t, Owned>;
  return *all;
}

uint64_t number_of(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

constexpr unsigned host_flags = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;

}  // namespace

cudaError_t allocate(void** pointer, size_t bytes, Kind kind, unsigned flags) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const Allocation* a = global_memory().allocate(bytes, kind);
  if (a == nullptr) {
    static bool reported = false;
    if (!reported && bytes <= device().global_bytes - global_memory().bytes_in_use()) {
      reported = true;
      say("an allocation of " + std::to_string(bytes) +
          " bytes would fit on the device, but not into this machine's memory (or what ulimit -v leaves of "
          "it)");
    }
    return cudaErrorMemoryAllocation;
  }
  owned()[a->base] = {kind, false, flags};
  *pointer = reinterpret_cast<void*>(a->base);
  return cudaSuccess;
}

cudaError_t release(void* pointer) {
  const auto it = owned().find(number_of(pointer));
  if (it == owned().end()) return cudaErrorInvalidValue;
  if (!leave_pool(pointer) && it->second.kind == Kind::host) return cudaErrorInvalidValue;
  if (keep_for_graph(pointer)) return cudaSuccess;
  global_memory().free(it->first);
  owned().erase(it);
  return cudaSuccess;
}

void release_all() {
  for (const auto& [base, what] : owned()) global_memory().free(base);
  owned().clear();
}

namespace {

cudaError_t release_host(void* pointer) {
  const auto it = owned().find(number_of(pointer));
  if (it == owned().end() || it->second.kind != Kind::host || it->second.registered)
    return cudaErrorInvalidValue;
  global_memory().free(it->first);
  owned().erase(it);
  return cudaSuccess;
}

cudaError_t allocate_unsafely(void** pointer, size_t bytes, Kind kind, unsigned flags = 0) {
  if (const cudaError_t error = check_unsafe_call(); error != cudaSuccess) return error;
  return allocate(pointer, bytes, kind, flags);
}

// Rows begin at multiples of 512 bytes.
cudaError_t allocate_pitched(void** pointer, size_t* pitch, size_t width, size_t rows) {
  if (pointer == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  *pitch = 0;
  size_t bytes = 0;
  if (width > std::numeric_limits<size_t>::max() - 511) return cudaErrorMemoryAllocation;
  const size_t rounded = (width + 511) / 512 * 512;
  if (__builtin_mul_overflow(rounded, rows, &bytes)) return cudaErrorMemoryAllocation;
  const cudaError_t error = allocate_unsafely(pointer, bytes, Kind::device);
  if (error == cudaSuccess) *pitch = rounded;
  return error;
}

const Owned* owner_of(const void* host) {
  const Allocation* a = global_memory().find(number_of(host));
  if (a == nullptr || a->freed || a->kind != Kind::host) return nullptr;
  const auto it = owned().find(a->base);
  return it != owned().end() ? &it->second : nullptr;
}

}  // namespace
}  // namespace simulator

using namespace simulator;

extern "C" cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return call([&] { return allocate_unsafely(pointer, bytes, Kind::device); });
}

extern "C" cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return call([&] {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return allocate_unsafely(pointer, bytes, Kind::managed);
  });
}

extern "C" cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return call([&] {
    if ((flags & ~host_flags) != 0) return cudaErrorInvalidValue;
    return allocate_unsafely(pointer, bytes, Kind::host, flags | cudaHostAllocMapped);
  });
}

extern "C" cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return call([&] { return allocate_unsafely(pointer, bytes, Kind::host, cudaHostAllocMapped); });
}

extern "C" cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return call([&] { return allocate_pitched(pointer, pitch, width, height); });
}

extern "C" cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  return call([&] {
    size_t rows = 0;
    if (pitched == nullptr) return cudaErrorInvalidValue;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return cudaErrorMemoryAllocation;
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return allocate_pitched(&pitched->ptr, &pitched->pitch, extent.width, rows);
  });
}

extern "C" cudaError_t cudaFree(void* pointer) {
  return synchronous_call([&] {
    if (const cudaError_t error = check_unsafe_call(); error != cudaSuccess) return error;
    return pointer == nullptr ? cudaSuccess : release(pointer);
  });
}

extern "C" cudaError_t cudaFreeHost(void* pointer) {
  return synchronous_call([&] {
    if (const cudaError_t error = check_unsafe_call(); error != cudaSuccess) return error;
    return pointer == nullptr ? cudaSuccess : release_host(pointer);
  });
}

extern "C" cudaError_t cudaHostRegister(void* host, size_t bytes, unsigned flags) {
  return call([&] {
    constexpr unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory |
                               cudaHostRegisterReadOnly;
    if (host == nullptr || bytes == 0 || (flags & ~known) != 0) return cudaErrorInvalidValue;
    const Allocation* a = global_memory().adopt(host, bytes);
    if (a == nullptr) return cudaErrorHostMemoryAlreadyRegistered;
    owned()[a->base] = {Kind::host, true, flags | cudaHostRegisterMapped};
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaHostUnregister(void* host) {
  return synchronous_call([&] {
    const auto it = owned().find(number_of(host));
    if (it == owned().end()) return cudaErrorHostMemoryNotRegistered;
    if (!it->second.registered) return cudaErrorInvalidValue;
    global_memory().free(it->first);
    owned().erase(it);
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaHostGetDevicePointer(void** pointer, void* host, unsigned flags) {
  return call([&] {
    if (pointer == nullptr || flags != 0 || owner_of(host) == nullptr) return cudaErrorInvalidValue;
    *pointer = host;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return call([&] {
    const Owned* owner = owner_of(host);
    if (flags == nullptr || owner == nullptr) return cudaErrorInvalidValue;
    *flags = owner->flags;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call([&] {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    const Allocation* a = global_memory().find(number_of(pointer));
    *attributes = {};
    void* address = const_cast<void*>(pointer);
    if (a == nullptr || a->freed) {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = address;
      return cudaSuccess;
    }
    const bool managed = a->kind == Kind::managed, host = a->kind == Kind::host;
    attributes->type = managed ? cudaMemoryTypeManaged : host ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
    attributes->devicePointer = address;
    if (managed || host) attributes->hostPointer = address;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  return synchronous_call([&] {
    if (free_bytes == nullptr || total == nullptr) return cudaErrorInvalidValue;
    *free_bytes = global_memory().bytes_available();
    *total = device().global_bytes;
    return cudaSuccess;
  });
}

namespace {

// Only managed memory (and here, where nothing has to move, nothing happens to it).
cudaError_t check_managed(const void* pointer, size_t bytes) {
  const Allocation* a = global_memory().find(number_of(pointer));
  if (a == nullptr || a->freed || a->kind != Kind::managed || bytes == 0) return cudaErrorInvalidValue;
  return a->holds(number_of(pointer), bytes) ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

extern "C" cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation, unsigned,
                                            cudaStream_t stream) {
  return call([&] {
    if (find_stream(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return check_managed(pointer, bytes);
  });
}

extern "C" cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise, cudaMemLocation) {
  return call([&] { return check_managed(pointer, bytes); });
}

SIMULATOR_ALIAS(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync);
