// Accesses to global memory that will not be repeated, with hints to the caches. PTX ISA, "Data Movement and
// Conversion Instructions: ld.global.nc", "st", "Cache Eviction Priority Hints". sm_80 and newer.
#pragma once

#include <cuda_runtime_api.h>

namespace ladder::ptx {

// Loads 16 bytes without a copy in L1. No thread of the grid may write them: the load is not coherent.
// (ld.global.nc.L1::no_allocate.v4.u32)
__device__ __forceinline__ uint4 load_past_l1(const void* from) {
  uint4 bits;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
               : "l"(from));
  return bits;
}

// Stores 16 bytes that L2 evicts first. (st.global.cs.v4.u32)
__device__ __forceinline__ void store_evict_first(void* to, uint4 bits) {
  __stcs(static_cast<uint4*>(to), bits);
}

}  // namespace ladder::ptx
