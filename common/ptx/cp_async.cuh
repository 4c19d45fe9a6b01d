// cp.async: a copy from global to shared memory that passes through no register and that no thread waits for
// until it says so. PTX ISA, "Data Movement and Conversion Instructions: Non-bulk copy". Ampere (sm_80) and
// newer.
//
// A thread's copies belong to its open group until it commits it. Waiting is by group, oldest first, and
// tells the waiting thread about its *own* copies only: a barrier must follow before it reads what other
// threads copied.
#pragma once

#include "common/ptx/shared_address.cuh"

namespace ladder::ptx {

// Which caches a copy passes through on its way.
enum class Cache {
  all,     // .ca: L1 and L2
  global,  // .cg: L2 only; 16-byte copies only
};

// Copies 16 bytes: the first `present` (0 to 16) from `from`, zeros for the rest; with present = 0 nothing is
// read and `from` may be any address. Both addresses are multiples of 16. (cp.async.{ca,cg}.shared.global
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

// Closes this thread's open group, empty or not. (cp.async.commit_group)
__device__ __forceinline__ void cp_async_commit_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `pending` of this thread's newest groups are still under way: every older one has
// landed, and this thread may read it. (cp.async.wait_group pending)
template <int pending>
__device__ __forceinline__ void cp_async_wait_group() {
  static_assert(pending >= 0, "a count of groups");
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

}  // namespace ladder::ptx
