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

// Stores a warp's sums, 64 columns of fragments of 16 rows, to C from `row` and `col` on. A fragment's row
// has 16 or 32 bytes, the warp's has 128 or 256: stored whole, after a passage through shared memory.
// `scratch` is the warp's own, with 64 bytes for each of its rows; so it goes by parts. C is m x n.
template <class Type, int mmas_m, int mmas_n>
__device__ void store_tile(const typename Type::Sum (&sum)[mmas_m][mmas_n][Type::sums],
                           unsigned char* scratch, int lane, typename Type::C* c, int row, int col, int m,
                           int n) {
  using Pair = typename Type::Pair;
  constexpr int chunk_bytes = 16, size = sizeof(typename Type::C), row_bytes = mmas_n * 8 * size,
                chunks = row_bytes / chunk_bytes, rows = mmas_m * 16 * 64 / row_bytes;
  static_assert(mmas_n == 8 && rows % 16 == 0, "a row meets all 32 banks, once or twice");
  // Swizzled: a quarter-warp's 16 bytes, and a half-warp's 8, meet all banks once.
  auto place = [&](int r, int chunk) {
    return scratch + r * row_bytes + (chunk ^ r % (16 / size) * (size / 2)) * chunk_bytes;
  };
#pragma unroll
  for (int first = 0; first < mmas_m * 16; first += rows) {
    if (first > 0) __syncwarp();  // the rows before have been read
#pragma unroll
    for (int i = 0; i < rows / 16; ++i)
#pragma unroll
      for (int j = 0; j < mmas_n; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int byte = (j * 8 + lane % 4 * 2) * size;
          *reinterpret_cast<Pair*>(place(i * 16 + half * 8 + lane / 4, byte / chunk_bytes) +
                                   byte % chunk_bytes) = Type::pair(sum[first / 16 + i][j], half);
        }
    __syncwarp();
    const int chunk = lane % chunks, at_col = col + chunk * (chunk_bytes / size);
#pragma unroll
    for (int r = 0; r < rows; r += warp_size / chunks) {
      const int in_part = r + lane / chunks, at_row = row + first + in_part;
      const uint4 bits = *reinterpret_cast<const uint4*>(place(in_part, chunk));
      if (at_row < m && at_col < n) *reinterpret_cast<uint4*>(c + std::size_t(at_row) * n + at_col) = bits;
    }
  }
}

}  // namespace ladder::rung_06
