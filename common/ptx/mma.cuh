// mma.sync: a warp multiplies two small matrices on its SM sub-partition's tensor core. PTX ISA, "Multiply-
// accumulate operation using mma instruction", "Matrix Fragments for mma.m16n8k16". sm_80 and newer.
#pragma once

namespace ladder::ptx {

// d[16,8] += a[16,16] · b[16,8]: bf16 in, fp32 out. 2048 multiply-adds, by all 32 lanes together.
//
// What lane l holds, with g = l / 4 and t = l % 4, two bf16 to a register, the first in the lower half:
//   a[0]: row g,   columns 2t, 2t+1      a[2]: row g,   columns 2t+8, 2t+9
//   a[1]: row g+8, columns 2t, 2t+1      a[3]: row g+8, columns 2t+8, 2t+9
//   b[0]: column g, rows 2t, 2t+1        b[1]: column g, rows 2t+8, 2t+9
//   d[0], d[1]: row g, columns 2t, 2t+1  d[2], d[3]: row g+8, columns 2t, 2t+1
// The order in which the products are added is the hardware's own.
// (mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32)
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace ladder::ptx
