// wgmma with A in registers: as in wgmma.cuh, but a warpgroup holds the fragments of A, and only B is in
// shared memory. PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operation using
// wgmma.mma_async instruction"; "Register Fragments for wgmma.mma_async.m64nNk16". sm_90a and nothing else.
//
// What wgmma.cuh says of the accumulators holds for the registers of A, too: a wgmma_fence() after the
// instructions that wrote them, and no access from the MMA to the wait for its group.
#pragma once

#include "common/ptx/wgmma.cuh"

namespace ladder::ptx {

// d[64, 256] += a[64, 16] * b[16, 256]: bf16 operands, fp32 accumulators. The warpgroup's warp w holds rows
// 16w to 16w + 15 of a, as the fragment that mma_m16n8k16() takes and ldmatrix_x4() gives; d as in
// wgmma_m64k16(). (wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16)
template <Major major_b>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[32][4], const unsigned (&a)[4], MatrixDescriptor b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" LADDER_WGMMA_NUMBERS_32
               "}, {%128, %129, %130, %131}, %132, 1, 1, 1, %133;\n"
               : LADDER_WGMMA_ACCUMULATORS_32
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits()), "n"(int(major_b)));
}

}  // namespace ladder::ptx
