// barrier: some of a CTA's warps wait for each other, while the others go on. PTX ISA, "Parallel
// Synchronization and Communication Instructions: barrier". sm_70 and newer.
#pragma once

namespace ladder::ptx {

// Waits at barrier `number`, 1 to 15 (0 belongs to __syncthreads()), until `threads` threads, a multiple of
// 32, have arrived. What they wrote before it is visible to all of them after it. (barrier.cta.sync.aligned)
__device__ __forceinline__ void barrier_sync(int number, int threads) {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// The same without the wait: what this warp wrote before it is visible to those that wait.
// (barrier.cta.arrive.aligned)
__device__ __forceinline__ void barrier_arrive(int number, int threads) {
  asm volatile("barrier.cta.arrive.aligned %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

}  // namespace ladder::ptx
