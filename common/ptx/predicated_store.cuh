// A store under a predicate. PTX ISA, "Predicated Execution", and "Data Movement and Conversion Instructions:
// st".
#pragma once

namespace ladder::ptx {

// Stores 16 bytes to an address of global memory that is a multiple of 16, if they are `wanted`; else `to`
// may be any. An `if` would be a branch to the compiler until late: a loop in which it saw one, on what
// differs between threads, lost its uniform registers, and was slower by more than the store was worth.
// (@p st.global.v4.b32)
__device__ __forceinline__ void store_16_bytes_if(bool wanted, void* to, const uint4& bits) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.v4.b32 [%1], {%2, %3, %4, %5}; }" ::"r"(
                   int(wanted)),
               "l"(__cvta_generic_to_global(to)), "r"(bits.x), "r"(bits.y), "r"(bits.z), "r"(bits.w)
               : "memory");
}

}  // namespace ladder::ptx
