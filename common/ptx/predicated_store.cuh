// A store under a predicate. PTX ISA, "Predicated Execution", and "Data Movement and Conversion Instructions:
// st".
#pragma once

namespace ladder::ptx {

// Stores 16 bytes to global memory, at a multiple of 16, if `wanted`; else `to` may be any address. The
// compiler treats an `if` as a branch until late: in a loop with such a branch, divergent
// within a warp, it did not keep addresses in uniform registers, which cost more time than the store.
// (@p st.global.v4.b32)
__device__ __forceinline__ void store_16_bytes_if(bool wanted, void* to, const uint4& bits) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.v4.b32 [%1], {%2, %3, %4, %5}; }" ::"r"(
                   int(wanted)),
               "l"(__cvta_generic_to_global(to)), "r"(bits.x), "r"(bits.y), "r"(bits.z), "r"(bits.w)
               : "memory");
}

}  // namespace ladder::ptx
