// Accesses to global memory with 32 bytes, a whole sector, per thread. PTX ISA, "Data Movement and Conversion
// Instructions: ld", "st", .v8.b32. sm_100 and newer.
#pragma once

namespace ladder::ptx {

// Loads eight words, or sixteen bf16, from an address that is a multiple of 32. (ld.global.v8.b32)
__device__ __forceinline__ void load_32_bytes(unsigned (&to)[8], const void* from) {
  asm volatile("ld.global.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]), "=r"(to[4]), "=r"(to[5]), "=r"(to[6]),
                 "=r"(to[7])
               : "l"(__cvta_generic_to_global(from))
               : "memory");
}

// Stores them to one. (st.global.v8.b32)
__device__ __forceinline__ void store_32_bytes(void* to, const unsigned (&from)[8]) {
  asm volatile("st.global.v8.b32 [%8], {%0, %1, %2, %3, %4, %5, %6, %7};" ::"r"(from[0]), "r"(from[1]),
               "r"(from[2]), "r"(from[3]), "r"(from[4]), "r"(from[5]), "r"(from[6]), "r"(from[7]),
               "l"(__cvta_generic_to_global(to))
               : "memory");
}

}  // namespace ladder::ptx
