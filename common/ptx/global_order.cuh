// Release and acquire between CTAs: a counter in global memory says that other global memory has been
// written. PTX ISA, "Memory Consistency Model", "ld", "red", "membar / fence". sm_90 and newer.
//
// The writers: threads write; __syncwarp() or a barrier, where it was several; then one of them calls
// signal_release(). The reader: one thread repeats load_acquire() until it reads the new count. From then on
// it sees what was written, and so do the threads that it meets at a barrier. TMA does not: it reads through
// the async proxy, so the thread that issues the copy executes fence_proxy_async_global() between the
// acquiring load and the copy.
#pragma once

namespace ladder::ptx {

// Adds to a counter. A thread that acquires the new count sees all that this thread wrote or saw before.
// (red.release.gpu.global.add.u32)
__device__ __forceinline__ void signal_release(unsigned* counter, unsigned by) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(by) : "memory");
}

// Reads a counter. This thread's later accesses come after it. (ld.acquire.gpu.global.u32)
__device__ __forceinline__ unsigned load_acquire(const unsigned* counter) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
  return value;
}

// Reads or writes a word that orders no other access: what is to be known is in the word itself.
// (ld.relaxed.gpu.global.u64, st.relaxed.gpu.global.u64)
__device__ __forceinline__ unsigned long long load_relaxed(const unsigned long long* word) {
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}
__device__ __forceinline__ void store_relaxed(unsigned long long* word, unsigned long long value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

// Orders what this thread sees in global memory before the TMA copies from there that it issues next.
// (fence.proxy.async.global)
__device__ __forceinline__ void fence_proxy_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

}  // namespace ladder::ptx
