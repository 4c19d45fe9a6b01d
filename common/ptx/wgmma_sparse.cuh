// wgmma with a sparse A: as in wgmma.cuh, but of every four neighbours in a row of A two are stored, and
// metadata in registers say which. PTX ISA, "Sparse matrix multiply-accumulate operation using
// wgmma.mma_async.sp instruction"; "Sparse matrix storage". sm_90a and nothing else.
#pragma once

#include "common/ptx/wgmma.cuh"

namespace ladder::ptx {

// d[64, n] += a[64, 32] * b[32, n]: bf16 operands, fp32 accumulators, d as in wgmma_m64k16(). a is k-major in
// shared memory: the stored elements alone, as a matrix of 16 columns.
//
// Metadata: warp w supplies those of rows 16w to 16w + 15, as for mma_sp_m16n8k32(): of every four lanes 4g
// and 4g + 1 (selector 0), or 4g + 2 and 4g + 3 (selector 1). The first has those of columns 0 to 15, the
// second of 16 to 31: row 16w + g in the lower half, row 16w + g + 8 in the upper one. For each four columns,
// from the lowest bits: two bits with the column of the first stored element, and two with that of the
// second. So a word in every lane serves two MMAs, one with each selector.
// (wgmma.mma_async.sp.sync.aligned.m64nNk32.f32.bf16.bf16)
// clang-format off
#define LADDER_WGMMA_SP_M64K32(n, columns, at_a, at_b, at_metadata, at_selector, at_major)                     \
  template <Major major_b, int selector>                                                                       \
  __device__ __forceinline__ void wgmma_sp_m64k32(float (&d)[columns][4], MatrixDescriptor a,                  \
                                                  MatrixDescriptor b, unsigned metadata) {                     \
    asm volatile(                                                                                              \
        "wgmma.mma_async.sp.sync.aligned.m64n" #n "k32.f32.bf16.bf16 {" LADDER_WGMMA_NUMBERS_##columns "}, "   \
        at_a ", " at_b ", " at_metadata ", " at_selector ", 1, 1, 1, 0, " at_major ";\n"                       \
        : LADDER_WGMMA_ACCUMULATORS_##columns                                                                  \
        : "l"(a.bits()), "l"(b.bits()), "r"(metadata), "n"(selector), "n"(int(major_b)));                      \
  }
// clang-format on
LADDER_WGMMA_OF_EVERY_N(LADDER_WGMMA_SP_M64K32)
#undef LADDER_WGMMA_SP_M64K32

// shared -> word, for MMAs to come. Those that were issued with `word` have been waited for: an H100 reads
// metadata when an MMA runs (the ISA says nothing of that), and wrong metadata make a wrong product. ptxas
// does not know that, and would give the register to another value in between. The load's condition prevents
// that: for all that ptxas knows, the old value of `word` is needed until here.
__device__ inline void load_metadata(unsigned& word, SharedAddress from, int never_0) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.shared.b32 %0, [%1]; }"
               : "+r"(word)
               : "r"(from), "r"(never_0)
               : "memory");
}

}  // namespace ladder::ptx
