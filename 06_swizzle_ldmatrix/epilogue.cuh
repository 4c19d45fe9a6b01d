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

// Four lanes 4g + t hold a fragment's row of C between them, a pair of neighbours each: 8 or 16 bytes of a
// row at a time would be stored. So they exchange, until each has 16 bytes in a row. Pairs of 4 bytes: of
// four fragments a lane ends with the whole row of one, fragment t; the others give theirs of it, and get the
// rest.
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
// Pairs of 8 bytes: of two fragments a lane ends with half a row of one, fragment t % 2.
template <class Pair>
__device__ uint4 gather(const Pair (&of)[2], int t) {
  const bool odd = t & 1;
  const Pair mine = odd ? of[1] : of[0], theirs = odd ? of[0] : of[1];
  const Pair got = {__shfl_xor_sync(0xffffffff, theirs.x, 1), __shfl_xor_sync(0xffffffff, theirs.y, 1)};
  const uint2 low = odd ? reinterpret_cast<const uint2&>(got) : reinterpret_cast<const uint2&>(mine);
  const uint2 high = odd ? reinterpret_cast<const uint2&>(mine) : reinterpret_cast<const uint2&>(got);
  return make_uint4(low.x, low.y, high.x, high.y);
}

// Stores a warp's sums, fragments of 16 x 8, to C from `row` and `col` on: with an instruction 64 bytes of
// each of 8 rows. C is m x n.
template <class Type, int mmas_m, int mmas_n>
__device__ void store_tile(const typename Type::Sum (&sum)[mmas_m][mmas_n][Type::sums], int lane,
                           typename Type::C* c, int row, int col, int m, int n) {
  using Pair = typename Type::Pair;
  constexpr int together = 16 / sizeof(Pair);  // fragments
  const int t = lane % 4;
  const int at_col = col + (together == 4 ? t * 8 : t % 2 * 8 + t / 2 * 4);
#pragma unroll
  for (int i = 0; i < mmas_m; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at_row = row + i * 16 + half * 8 + lane / 4;
      typename Type::C* const to = c + std::size_t(at_row) * n + at_col;
#pragma unroll
      for (int j = 0; j < mmas_n; j += together) {
        Pair of[together];
#pragma unroll
        for (int f = 0; f < together; ++f) of[f] = Type::pair(sum[i][j + f], half);
        const uint4 bits = gather(of, t);
        if (at_row < m && at_col + j * 8 < n) *reinterpret_cast<uint4*>(to + j * 8) = bits;
      }
    }
}

}  // namespace ladder::rung_06
