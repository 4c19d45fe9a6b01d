// barrier: some of a CTA's warps wait for each other, and the others go on. PTX ISA, "Parallel
// Synchronization and Communication Instructions: barrier". sm_70 and newer.
#pragma once

namespace ladder::ptx {

// Waits at barrier `number`, 1 to 15 (0 is __syncthreads'), until `threads`, a multiple of 32, have come.
// What they did before it is seen after it. (barrier.cta.sync.aligned)
__device__ __forceinline__ void barrier_sync(int number, int threads) {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

}  // namespace ladder::ptx
