// mbarrier: a barrier in shared memory that counts two things at once, arrivals of threads and bytes of
// asynchronous copies. PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier". Here
// with what Hopper (sm_90) added: transaction counts, arrivals from other CTAs of the cluster, waits that
// sleep.
//
// An mbarrier goes through phases, numbered from 0. A phase completes when the expected number of arrivals
// has come *and* all bytes that were announced have been written; the next phase begins at once with the same
// number of arrivals. A waiting thread names the parity of the phase that it waits for, so it may be at most
// one phase behind.
#pragma once

#include "common/ptx/shared_address.cuh"

namespace ladder::ptx {

// An mbarrier is 8 bytes of shared memory, aligned to 8.
using Mbarrier = unsigned long long;

// Makes it a barrier in phase 0 that expects `arrivals` (1 to 2^20 - 1) in every phase. By one thread; others
// see it after a barrier of theirs. (mbarrier.init.shared::cta.b64)
__device__ __forceinline__ void mbarrier_init(SharedAddress barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// After mbarrier_init: makes the new barriers visible to the async proxy, which TMA works through, and to the
// other CTAs of the cluster. A barrier of the threads that use them must follow.
// (fence.mbarrier_init.release.cluster)
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// One arrival. What this thread did before it is seen by whoever has waited for the phase.
// (mbarrier.arrive.shared::cta.b64)
__device__ __forceinline__ void mbarrier_arrive(SharedAddress barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// One arrival, and the announcement of `bytes` that copies will write in this phase.
// (mbarrier.arrive.expect_tx.shared::cta.b64)
__device__ __forceinline__ void mbarrier_arrive_expect_bytes(SharedAddress barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// Waits until the phase of this parity (0 or 1) is complete. The hardware suspends the thread for a while
// rather than let it spin. (mbarrier.try_wait.parity.shared::cta.b64)
__device__ __forceinline__ void mbarrier_wait(SharedAddress barrier, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred complete;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n"
      "@!complete bra again;\n"
      "}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

}  // namespace ladder::ptx
