// What a type of operand changes in the kernel: the instruction, how many elements make its 32 bytes of a row
// of A, which way B's rows must run, and what C is.
//
// A lies along k in memory. B lies along n, as the gemm is given, where ldmatrix can transpose it on its way:
// it moves pairs of bytes, so only elements of 16 bits come out whole. B of 8 or 32 bits must lie along k,
// too, and the kernel that rounds it transposes it (prepare.cuh).
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "common/ptx/cvt.cuh"
#include "common/ptx/mma.cuh"
#include "common/rung.h"

namespace ladder::rung_06 {

// Metadata are a word per lane: for 16 rows and 64 columns of A, as the 32 lanes of a warp hold them for two
// mma.sp (common/ptx/mma.cuh), 128 bytes. Those of 16 rows follow each other along k. Rows and columns are
// padded to whole tiles of a CTA, 256 by 128.
__host__ __device__ inline std::size_t metadata_at(int k, int tile, int block) {
  return (std::size_t(tile) * ceil_div(k, 128) * 2 + block) * 32;
}
constexpr unsigned first_two_of_four = 0x44444444;  // columns 0 and 1, eight times, where A is 0

// Element types, and the conversion of fp32 to each.
struct Bf16 {
  using Element = __nv_bfloat16;
  static __device__ Element round(float x) { return __float2bfloat16_rn(x); }
};
struct F16 {
  using Element = __half;
  static __device__ Element round(float x) { return __float2half_rn(x); }
};
struct Tf32 {
  using Element = float;  // of which the tensor core reads the upper 19 bits
  static __device__ Element round(float x) { return ptx::round_to_tf32(x); }
};
struct S8 {
  using Element = std::int8_t;
  static __device__ Element round(float x) {
    return static_cast<Element>(max(-127, min(127, __float2int_rn(32 * x))));
  }
};

// What most types have in common.
struct Dense {
  using Pair = unsigned;  // two neighbours of C
  static constexpr bool k_major_b = false, sparse = false;
  static constexpr int block_m = 128, block_n = 256,
                       warp_m = 64;    // of C: a CTA's tile, and a warp's rows of it
  static constexpr int registers = 4;  // of a lane, for 16 x 8 accumulators
};

// B must lie along k, since ldmatrix transposes elements of 16 bits alone. The tile is higher than wide: a
// row of A costs less to copy than a column of B.
struct KMajor : Dense {
  static constexpr bool k_major_b = true;
  static constexpr int block_m = 256, block_n = 128;
};

struct OfBf16 : Dense {
  using A = Bf16;
  using B = Bf16;
  using Accumulator = float;
  using C = __nv_bfloat16;
  static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    ptx::mma_m16n8k16(d, a, b);
  }
  // Two neighbours of C, of row g (half 0) or g + 8 (half 1) of what the lane holds.
  static __device__ Pair pair(const float (&accumulator)[4], int half) {
    const __nv_bfloat162 two = __floats2bfloat162_rn(accumulator[half * 2], accumulator[half * 2 + 1]);
    return reinterpret_cast<const unsigned&>(two);
  }
};

struct OfF16 : Dense {
  using A = F16;
  using B = F16;
  using Accumulator = float;
  using C = __half;
  static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    ptx::mma_m16n8k16_f16(d, a, b);
  }
  static __device__ Pair pair(const float (&accumulator)[4], int half) {
    const __half2 two = __floats2half2_rn(accumulator[half * 2], accumulator[half * 2 + 1]);
    return reinterpret_cast<const unsigned&>(two);
  }
};

// Half the registers for accumulators, each a pair of C already; past 65504 they are infinity.
struct OfF16InF16 : Dense {
  using A = F16;
  using B = F16;
  using Accumulator = unsigned;
  using C = __half;
  static constexpr int registers = 2;
  static __device__ void multiply(unsigned (&d)[2], const unsigned (&a)[4], const unsigned (&b)[2]) {
    ptx::mma_m16n8k16_f16(d, a, b);
  }
  static __device__ Pair pair(const unsigned (&accumulator)[2], int half) { return accumulator[half]; }
};

struct OfTf32 : KMajor {
  using A = Tf32;
  using B = Tf32;
  using Accumulator = float;
  using C = float;
  static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    ptx::mma_m16n8k8_tf32(d, a, b);
  }
  using Pair = float2;
  static __device__ Pair pair(const float (&accumulator)[4], int half) {
    return make_float2(accumulator[half * 2], accumulator[half * 2 + 1]);
  }
};

struct OfS8 : KMajor {
  using A = S8;
  using B = S8;
  using Accumulator = int;
  using C = int;
  static __device__ void multiply(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    ptx::mma_m16n8k32_s8(d, a, b);
  }
  using Pair = int2;
  static __device__ Pair pair(const int (&accumulator)[4], int half) {
    return make_int2(accumulator[half * 2], accumulator[half * 2 + 1]);
  }
};

// Two elements of every four of A are stored, and four bits of metadata say which they were. B is whole: a
// step is 32 elements of k, and its fragments are twice as long.
struct OfSparseBf16 : OfBf16 {
  static constexpr bool sparse = true;
  static constexpr int block_m = 256, block_n = 128;  // upright: A costs less than B
  static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[4],
                                  unsigned metadata, int selector) {
    if (selector == 0) {
      ptx::mma_sp_m16n8k32<0>(d, a, b, metadata);
    } else {
      ptx::mma_sp_m16n8k32<1>(d, a, b, metadata);
    }
  }
};

}  // namespace ladder::rung_06
