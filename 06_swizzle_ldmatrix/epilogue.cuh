// What happens to a tile of C between the last mma and memory.
#pragma once

#include "06_swizzle_ldmatrix/variants.h"

namespace ladder::rung_06 {

// The sum of h² of every row of A, and what is added to its mean.
struct RowSquares {
  const float* of_rows = nullptr;
  float eps = 0;
};

// Multiplies a lane's sums by rsqrt(mean of h² + eps) of their rows. They are fragments of 16 rows, of which
// a lane has two, 8 apart; `row` is its first. k is the length of the rows of A, m their number.
template <int mmas_m, int mmas_n>
__device__ void scale_rows(float (&sum)[mmas_m][mmas_n][4], const RowSquares& squares, int row, int m,
                           int k) {
#pragma unroll
  for (int i = 0; i < mmas_m; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at = row + i * 16 + half * 8;
      const float scale = at < m ? rsqrtf(squares.of_rows[at] / float(k) + squares.eps) : 0;
#pragma unroll
      for (int j = 0; j < mmas_n; ++j) {
        sum[i][j][half * 2] *= scale;
        sum[i][j][half * 2 + 1] *= scale;
      }
    }
}

// Four lanes 4g + t hold a fragment's row of C between them, a pair of neighbours each: 16 bytes of a row at
// a time would be stored. So they exchange: of four fragments a lane ends with the whole row of one, fragment
// t; the others give theirs of it, and get the rest.
__device__ inline uint4 gather(const unsigned (&of)[4], int t) {
  unsigned r[4] = {of[0], of[1], of[2], of[3]};
  auto swap = [&](int distance, unsigned& low, unsigned& high) {
    const bool upper = t & distance;
    const unsigned got = __shfl_xor_sync(0xffffffff, upper ? low : high, distance);
    (upper ? low : high) = got;
  };
  swap(1, r[0], r[1]);
  swap(1, r[2], r[3]);
  swap(2, r[0], r[2]);
  swap(2, r[1], r[3]);
  return make_uint4(r[0], r[1], r[2], r[3]);
}

// Hands out a warp's sums, fragments of 16 x 8, as pieces of C: put(r, x, what a lane has of it). Piece r, x
// is the x-th 64 bytes of each of the r-th 8 rows; lane 4g + t has the t-th 16 bytes of row g.
template <class Type, int mmas_m, int mmas_n, class Put>
__device__ void in_pieces(const typename Type::Sum (&sum)[mmas_m][mmas_n][Type::sums], int lane, Put put) {
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
        for (int f = 0; f < together; ++f) of[f] = Type::pair(sum[i][j + f], half);
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
