// What happens to a tile of C between the last MMA and memory.
#pragma once

#include "06_swizzle_ldmatrix/tiles.cuh"

namespace ladder::rung_06 {

// The sum of h² of every row of A, and the norm's eps.
struct RowSquares {
  const float* of_rows = nullptr;
  float eps = 0;
};

// Multiplies a lane's accumulators by rsqrt(mean of h² + eps) of their rows. They are fragments of 16 rows,
// of which a lane has two, 8 apart; `row` is its first. k is the length of the rows of A, m their number.
template <int mmas_m, int mmas_n>
__device__ void scale_rows(float (&accumulator)[mmas_m][mmas_n][4], const RowSquares& squares, int row, int m,
                           int k) {
#pragma unroll
  for (int i = 0; i < mmas_m; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at = row + i * 16 + half * 8;
      const float scale = at < m ? rsqrtf(squares.of_rows[at] / float(k) + squares.eps) : 0;
#pragma unroll
      for (int j = 0; j < mmas_n; ++j) {
        accumulator[i][j][half * 2] *= scale;
        accumulator[i][j][half * 2 + 1] *= scale;
      }
    }
}

// Converts a warp's accumulators, fragments of 16 x 8, to C and hands them out 16 bytes at a time: put(r, x,
// bits) is called for each of the r-th 8 rows and the x-th 64 bytes of them; lane 4g + t has the t-th 16
// bytes of row g.
template <class Type, int mmas_m, int mmas_n, class Put>
__device__ void for_each_16_bytes(
    const typename Type::Accumulator (&accumulator)[mmas_m][mmas_n][Type::registers], int lane, Put put) {
  using Pair = typename Type::Pair;
  constexpr int together = 16 / sizeof(Pair);  // fragments
#pragma unroll
  for (int i = 0; i < mmas_m; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int j = 0; j < mmas_n; j += together) {
        alignas(16) Pair of[together];
#pragma unroll
        for (int f = 0; f < together; ++f) of[f] = Type::pair(accumulator[i][j + f], half);
        uint4 bits;
        if constexpr (Type::k_major_b) {
          bits = reinterpret_cast<const uint4&>(of);  // interleaved already
        } else {
          bits = gather(of, lane % 4);
        }
        put(i * 2 + half, j / together, bits);
      }
}

}  // namespace ladder::rung_06
