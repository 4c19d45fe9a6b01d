// wgmma with 8-bit operands: as in wgmma.cuh, at twice the throughput. In return both operands have to be
// k-major, since the tensor core can transpose only 16-bit types as it reads them, and the tensor core
// accumulates with less precision than fp32. PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Operation using wgmma.mma_async instruction"; "Matrix Data-types". sm_90a and nothing
// else.
#pragma once

#include "common/ptx/wgmma.cuh"

namespace ladder::ptx {

// e4m3: 4 bits of exponent, 3 of fraction, up to 448. e5m2: 5 and 2 bits, up to 57344. PTX ISA, "Alternate
// Floating-Point Data Formats".
enum class Fp8 { e4m3, e5m2 };

// Its name in PTX.
template <Fp8>
struct Fp8Name;
template <>
struct Fp8Name<Fp8::e4m3> {
  static constexpr char text[] = "e4m3";
};
template <>
struct Fp8Name<Fp8::e5m2> {
  static constexpr char text[] = "e5m2";
};

// d[64, n] = a[64, 32] * b[32, n] (+ d where `add`): a and b are e4m3 or e5m2, independently, and k-major.
// Executed by a whole warpgroup, with the same arguments in all threads. The layout of d is that of
// wgmma_m64k16(). (wgmma.mma_async.sync.aligned.m64nNk32.f32.e4m3.e4m3, and so on)
// clang-format off
#define LADDER_WGMMA_M64K32(n, columns, at_a, at_b, at_add, at_type_a, at_type_b)          \
  template <Fp8 type_a, Fp8 type_b>                                                        \
  __device__ __forceinline__ void wgmma_m64k32(float (&d)[columns][4], MatrixDescriptor a, \
                                               MatrixDescriptor b, bool add) {             \
    asm volatile(                                                                          \
        "{\n"                                                                              \
        ".reg .pred add;\n"                                                                \
        "setp.ne.b32 add, " at_add ", 0;\n"                                                \
        "wgmma.mma_async.sync.aligned.m64n" #n "k32.f32." at_type_a "." at_type_b          \
        " {" LADDER_WGMMA_NUMBERS_##columns "}, " at_a ", " at_b ", add, 1, 1;\n"          \
        "}\n"                                                                              \
        : LADDER_WGMMA_ACCUMULATORS_##columns                                              \
        : "l"(a.bits()), "l"(b.bits()), "r"(int(add)), "C"(Fp8Name<type_a>::text),         \
          "C"(Fp8Name<type_b>::text));                                                     \
  }
// clang-format on
LADDER_WGMMA_OF_EVERY_N(LADDER_WGMMA_M64K32)
#undef LADDER_WGMMA_M64K32

}  // namespace ladder::ptx
