// wgmma with A in registers: as in wgmma.cuh, but a warpgroup holds the fragments of A, and only B is in
// shared memory. PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operation using
// wgmma.mma_async instruction"; "Register Fragments for wgmma.mma_async.m64nNk16". sm_90a and nothing else.
//
// What wgmma.cuh says of the accumulators holds for the registers of A, too: a wgmma_fence() after the
// instructions that wrote them, and no access from the MMA to the wait for its group.
#pragma once

#include "common/ptx/wgmma.cuh"

namespace ladder::ptx {

// d[64, n] += a[64, 16] * b[16, n]: bf16 operands, fp32 accumulators; n is 8 times the length of d, 64 or
// 256. The warpgroup's warp w holds rows 16w to 16w + 15 of a, as the fragment that mma_m16n8k16() takes and
// ldmatrix_x4() gives; d as in wgmma_m64k16(). (wgmma.mma_async.sync.aligned.m64nNk16.f32.bf16.bf16)
// clang-format off
#define LADDER_WGMMA_REGISTER_A(n, columns, at_a, at_b, at_major)                                             \
  template <Major major_b>                                                                                    \
  __device__ __forceinline__ void wgmma_m64k16(float (&d)[columns][4], const unsigned (&a)[4],                \
                                               MatrixDescriptor b) {                                          \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k16.f32.bf16.bf16 {" LADDER_WGMMA_NUMBERS_##columns  \
                 "}, {" at_a "}, " at_b ", 1, 1, 1, " at_major ";\n"                                          \
                 : LADDER_WGMMA_ACCUMULATORS_##columns                                                        \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits()), "n"(int(major_b)));             \
  }
LADDER_WGMMA_REGISTER_A(64, 8, "%32, %33, %34, %35", "%36", "%37")
LADDER_WGMMA_REGISTER_A(256, 32, "%128, %129, %130, %131", "%132", "%133")
#undef LADDER_WGMMA_REGISTER_A
// clang-format on

}  // namespace ladder::ptx
