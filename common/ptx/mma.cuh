// mma.sync: a warp multiplies two small matrices on the tensor core of its SM sub-partition. PTX ISA,
// "Multiply-accumulate operation using mma instruction", "Matrix Fragments for mma.m16n8k16". sm_80 and
// newer.
#pragma once

namespace ladder::ptx {

// d[16,8] += a[16,16] · b[16,8]: bf16 operands, fp32 accumulators. All 32 lanes together: 2048 multiply-adds.
//
// Lane l holds, with g = l / 4 and t = l % 4, two bf16 to a register, the first in the lower half:
//   a[0]: row g,   columns 2t, 2t+1      a[2]: row g,   columns 2t+8, 2t+9
//   a[1]: row g+8, columns 2t, 2t+1      a[3]: row g+8, columns 2t+8, 2t+9
//   b[0]: column g, rows 2t, 2t+1        b[1]: column g, rows 2t+8, 2t+9
//   d[0], d[1]: row g, columns 2t, 2t+1  d[2], d[3]: row g+8, columns 2t, 2t+1
// The order in which the products are accumulated is up to the hardware.
// (mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32)
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The same in f16. (mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32)
__device__ __forceinline__ void mma_m16n8k16_f16(float (&d)[4], const unsigned (&a)[4],
                                                 const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The same with f16 accumulators, two to a register: d[0] holds what d[0] and d[1] hold above, the first in
// the lower half, d[1] what d[2] and d[3] hold. (mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16)
__device__ __forceinline__ void mma_m16n8k16_f16(unsigned (&d)[2], const unsigned (&a)[4],
                                                 const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// d[16,8] += a[16,8] · b[8,8]: tf32 operands, one to a register, whose lower 13 bits are ignored. The bytes
// of a row lie as those of bf16 do: a[0]: row g, column t; a[1]: row g+8; a[2], a[3]: column t+4; b[0]:
// column g, row t; b[1]: row t+4. (mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32)
__device__ __forceinline__ void mma_m16n8k8_tf32(float (&d)[4], const unsigned (&a)[4],
                                                 const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// d[8,8] += a[8,4] · b[4,8] in fp64, fused multiply-adds, rounded to nearest. Lane 4g + t holds a: row g,
// column t; b: column g, row t; d[0], d[1]: row g, columns 2t, 2t+1.
// (mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64)
__device__ __forceinline__ void mma_m8n8k4_f64(double (&d)[2], double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(a), "d"(b));
}

// d[16,8] += a[16,4] · b[4,8] in fp64, as above; sm_90. Lane 4g + t holds a[0], a[1]: rows g and g + 8,
// column t; b: column g, row t; d[0], d[1]: row g, columns 2t, 2t+1; d[2], d[3]: row g + 8.
// (mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64)
__device__ __forceinline__ void mma_m16n8k4_f64(double (&d)[4], const double (&a)[2], double b) {
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(b));
}

// d[16,8] += a[16,32] · b[32,8]: s8 operands, four to a register, s32 accumulators, which wrap around. Again
// the bytes lie as those of bf16 do: a[0]: row g, columns 4t to 4t+3; b[0]: column g, rows 4t to 4t+3.
// (mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32)
__device__ __forceinline__ void mma_m16n8k32_s8(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// d[16,8] += a[16,32] · b[32,8] in bf16, with a sparse: of every four neighbours in a row two are stored, and
// the others are 0. The stored ones lie as a matrix of 16 columns does above. b[0] to b[3]: column g, rows
// 2t and 2t+1, and those 8, 16, 24 further down.
//
// Metadata: two neighbouring lanes of every four supply it, 4g and 4g+1 (selector 0) or 4g+2 and 4g+3 (1).
// The first has the metadata of columns 0 to 15, the second of 16 to 31: row g in the lower half, row g+8 in
// the upper one. For each four columns, from the lowest bits: two bits with the column of the first stored
// element, and two with that of the second, which is further right.
// (mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32; PTX ISA, "mma.sp instruction
// with sparse matrix A")
template <int selector>
__device__ __forceinline__ void mma_sp_m16n8k32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[4],
                                                unsigned metadata) {
  asm volatile(
      "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, %13;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata),
        "n"(selector));
}

}  // namespace ladder::ptx
