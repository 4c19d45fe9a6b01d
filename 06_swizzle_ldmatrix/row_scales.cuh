// What a norm_gemm adds to a gemm: C's rows by their scales.
#pragma once

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

}  // namespace ladder::rung_06
