// cp.async: an asynchronous copy from global to shared memory, without a register in between. The thread that
// issues it goes on, and waits for it when it needs the data. PTX ISA, "Data Movement and Conversion
// Instructions: Non-bulk copy". Ampere (sm_80) and newer.
//
// A thread's copies belong to its open group until it commits that group. A thread waits for whole groups,
// oldest first, and only for its *own* copies: a barrier must follow before it reads what other threads
// copied.
#pragma once

#include "common/ptx/shared_address.cuh"

namespace ladder::ptx {

// Which caches a copy passes through.
enum class Cache {
  all,     // .ca: L1 and L2
  global,  // .cg: L2 only; 16-byte copies only
};

// Copies 16 bytes: the first `present` (0 to 16) from `from`, zeros for the rest. With present = 0 it reads
// nothing, and `from` may be any address. Both addresses are multiples of 16. (cp.async.{ca,cg}.shared.global
// [to], [from], 16, present)
template <Cache cache = Cache::global>
__device__ __forceinline__ void cp_async_16(SharedAddress to, const void* from, int present = 16) {
  if constexpr (cache == Cache::all) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to),
                 "l"(__cvta_generic_to_global(from)), "r"(present)
                 : "memory");
  } else {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
                 "l"(__cvta_generic_to_global(from)), "r"(present)
                 : "memory");
  }
}

// Commits this thread's open group, empty or not. (cp.async.commit_group)
__device__ __forceinline__ void cp_async_commit_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most the newest `pending` of this thread's groups are still in flight. All older ones have
// landed, and this thread may read their data. (cp.async.wait_group pending)
template <int pending>
__device__ __forceinline__ void cp_async_wait_group() {
  static_assert(pending >= 0, "a count of groups");
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// cp_async_16() of 4, 8 or 16 bytes: both addresses are multiples of that. (cp.async.ca.shared.global [to],
// [from], bytes, present)
template <int bytes>
__device__ __forceinline__ void cp_async(SharedAddress to, const void* from, int present) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "what an instruction copies");
  if constexpr (bytes == 16) {
    cp_async_16(to, from, present);
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(to),
                 "l"(__cvta_generic_to_global(from)), "r"(present), "n"(bytes)
                 : "memory");
  }
}

}  // namespace ladder::ptx
