// Global memory that will be read soon, into L2. PTX ISA, "Data Movement and Conversion Instructions:
// cp.async.bulk.prefetch". sm_90 and newer.
#pragma once

namespace ladder::ptx {

// Starts to read `bytes` from `from` into L2. Nothing waits for it. Both are multiples of 16.
// (cp.async.bulk.prefetch.L2.global)
__device__ __forceinline__ void prefetch_into_l2(const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
}

}  // namespace ladder::ptx
