// The arithmetic of 03_vectorized: bf16 converted to fp32, outer products of a column of A and a row of B,
// and the accumulators rounded to bf16. A thread has 8 x 16 elements of C here, in quads of 4.
#pragma once

#include "common/rung.h"

namespace ladder::rung_04 {

constexpr int vector = 8, quad = 4;  // bf16 and fp32 in 16 bytes: the size of a copy, and of an access

// bf16 is the upper half of fp32: converting is a shift or a mask.
__device__ inline void convert(uint4 bits, float (&out)[vector]) {
  const unsigned words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out[2 * i] = __uint_as_float(words[i] << 16);
    out[2 * i + 1] = __uint_as_float(words[i] & 0xFFFF0000u);
  }
}

__device__ inline unsigned pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const unsigned&>(pair);
}

// `count` fp32, in quads that are `step` apart.
template <int count, int step>
__device__ void read_quads(const float* from, float (&out)[count]) {
#pragma unroll
  for (int q = 0; q < count / quad; ++q) {
    const float4 bits = *reinterpret_cast<const float4*>(from + q * step);
    out[4 * q] = bits.x, out[4 * q + 1] = bits.y, out[4 * q + 2] = bits.z, out[4 * q + 3] = bits.w;
  }
}

// The thread's quads begin at row thread_row and column thread_col of the CTA's tiles. A is transposed.
template <class C>
__device__ void accumulate(const float (&tile_a)[C::block_k][C::block_m],
                           const float (&tile_b)[C::block_k][C::block_n], int thread_row, int thread_col,
                           float (&accumulator)[C::thread_m][C::thread_n]) {
#pragma unroll
  for (int k = 0; k < C::block_k; ++k) {
    float a[C::thread_m], b[C::thread_n];
    read_quads<C::thread_m, C::step_m>(&tile_a[k][thread_row], a);
    read_quads<C::thread_n, C::step_n>(&tile_b[k][thread_col], b);
#pragma unroll
    for (int i = 0; i < C::thread_m; ++i)
#pragma unroll
      for (int j = 0; j < C::thread_n; ++j) accumulator[i][j] += a[i] * b[j];
  }
}

// Stores the same quads of C; the first one begins at first_row, first_col. n is a multiple of a quad.
template <class C>
__device__ void store(const Gemm& p, int first_row, int first_col,
                      const float (&accumulator)[C::thread_m][C::thread_n]) {
#pragma unroll
  for (int i = 0; i < C::thread_m; ++i) {
    const int row = first_row + i / quad * C::step_m + i % quad;
#pragma unroll
    for (int q = 0; q < C::thread_n / quad; ++q) {
      const int col = first_col + q * C::step_n;
      const float* from = &accumulator[i][q * quad];
      if (row < p.m && col < p.n)
        *reinterpret_cast<uint2*>(p.c + std::size_t(row) * p.n + col) =
            make_uint2(pack(from[0], from[1]), pack(from[2], from[3]));
    }
  }
}

}  // namespace ladder::rung_04
