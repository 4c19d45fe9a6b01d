// mbarrier: a barrier in shared memory that counts both arrivals of threads and bytes of asynchronous copies.
// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier". Here with what Hopper (sm_90)
// added: transaction counts, arrivals from other CTAs of the cluster, waits that suspend the thread.
//
// An mbarrier goes through phases, numbered from 0. A phase completes when the expected number of threads has
// arrived *and* all expected bytes have been written; the next phase begins at once and expects as many
// arrivals. A thread waits for a phase by its parity, so it may be at most one phase behind.
#pragma once

#include "common/ptx/shared_address.cuh"

namespace ladder::ptx {

// An mbarrier is 8 bytes of shared memory, aligned to 8.
using Mbarrier = unsigned long long;

// Initialises it to phase 0, with `arrivals` (1 to 2^20 - 1) expected in every phase. One thread executes it;
// the others may use the mbarrier after a barrier, such as __syncthreads(). (mbarrier.init.shared::cta.b64)
__device__ __forceinline__ void mbarrier_init(SharedAddress barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// After mbarrier_init(): makes the new mbarriers visible to the async proxy, through which TMA works, and to
// the other CTAs of the cluster. A barrier of the threads that use them must follow.
// (fence.mbarrier_init.release.cluster)
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives. What this thread wrote before is visible to the threads that have waited for the phase.
// (mbarrier.arrive.shared::cta.b64)
__device__ __forceinline__ void mbarrier_arrive(SharedAddress barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives, and the phase expects `bytes` more from asynchronous copies.
// (mbarrier.arrive.expect_tx.shared::cta.b64)
__device__ __forceinline__ void mbarrier_arrive_expect_bytes(SharedAddress barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// Waits until the phase with this parity (0 or 1) has completed. The hardware suspends the thread for a while
// instead of letting it spin. (mbarrier.try_wait.parity.shared::cta.b64)
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
