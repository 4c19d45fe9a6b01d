// What a norm_gemm adds to a gemm: C's rows by their scales, and, in one of its designs, A itself.
#pragma once

#include <cstddef>

#include "common/rung.h"

namespace ladder::rung_08 {

constexpr int part_columns = 512;  // of h, whose squares one warp adds up

// How far A has come: what CTAs tell each other, and, beside it, how many rows of each block have each part.
// All zero before and after a launch.
struct Progress {
  unsigned next_piece;  // which nobody has begun
  unsigned ctas_done;   // which look at none of this any more
};

struct NormOperands {
  float* squares;  // [parts][rows]: sums of h² over a part of the row
  int parts;
  float eps;
  // Where A = x + residual is made while the product runs.
  const __nv_bfloat16 *x, *residual;
  __nv_bfloat16* h;
  Progress* progress;
  unsigned* rows_there;  // [blocks of rows][parts]
};

// rsqrt(mean of the row's h² + eps). The parts are added in order: the result does not depend on who was
// first.
__device__ inline float row_scale(const NormOperands& p, int row, int rows, int cols) {
  float sum = 0;
#pragma unroll 8
  for (int part = 0; part < p.parts; ++part) sum += p.squares[std::size_t(part) * rows + row];
  return rsqrtf(sum / float(cols) + p.eps);
}

}  // namespace ladder::rung_08
