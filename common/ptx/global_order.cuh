// CTAs that tell each other, through global memory, what they have written there. PTX ISA, "Memory
// Consistency Model", "ld", "red", "membar / fence". sm_90 and newer.
//
// In order: threads write; __syncwarp() or a barrier, where several did; one of them signal_release()s. On
// the other side a thread reads load_acquire() until it sees that; then it sees what was written, and so does
// everybody who waits for this thread in turn. TMA does not: it reads through the async proxy, and needs
// fence_proxy_async_global() between the acquiring load and the copy, by the thread that asks for the copy.
#pragma once

namespace ladder::ptx {

// Adds to a counter, after everything that this thread did or knows of. (red.release.gpu.global.add.u32)
__device__ __forceinline__ void signal_release(unsigned* counter, unsigned by) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(by) : "memory");
}

// Reads a counter, before everything that this thread does next. (ld.acquire.gpu.global.u32)
__device__ __forceinline__ unsigned load_acquire(const unsigned* counter) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
  return value;
}

// Between what this thread knows to be in global memory and what it then asks TMA to read from there.
// (fence.proxy.async.global)
__device__ __forceinline__ void fence_proxy_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

}  // namespace ladder::ptx
