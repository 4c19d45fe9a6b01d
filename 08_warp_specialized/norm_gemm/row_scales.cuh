// What a norm_gemm adds to a gemm: C's rows are multiplied by their scales, and, in one of its variants, A is
// made while the product runs (add_rows.cuh).
#pragma once

#include "08_warp_specialized/general/kernel.cuh"

namespace ladder::rung_08 {

constexpr int part_columns = 512;  // of h, whose squares one warp accumulates

// How far A has come: counters that all CTAs share; rows_there, beside it, counts the rows of each block that
// have each part. All zero before and after a launch.
struct Progress {
  unsigned next_piece;  // the first that no warp has begun
  unsigned ctas_done;   // CTAs that read none of this any more
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

// rsqrt(mean of the row's h² + eps). The parts are added in order: the result does not depend on
// which was first.
__device__ inline float row_scale(const NormOperands& p, int row, int rows, int cols) {
  float sum = 0;
#pragma unroll 8
  for (int part = 0; part < p.parts; ++part) sum += p.squares[std::size_t(part) * rows + row];
  return rsqrtf(sum / float(cols) + p.eps);
}

struct ScaleRows : general::Bf16 {
  using Parameters = NormOperands;

  // Of each 64 rows a warp has 16, and a thread two, 8 apart. Where this grid computes the squares, the
  // producer warp has seen all of them, since it waited for A's last columns, and so has this thread, since
  // it waited for what that warp loaded next.
  template <class C>
  struct Scales {
    __device__ void load(const typename C::Operands&) {}
    __device__ void load_of_rows(const typename C::Operands& p, int first_row) {
#pragma unroll
      for (int i = 0; i < C::rows_each; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = first_row + i * mma_m + half * 8 + threadIdx.x % 32 / 4;
          of_rows[i][half] = row < p.m ? row_scale(p.extra, row, p.m, p.k) : 0;
        }
      }
    }
    __device__ void load_of_columns(const typename C::Operands&, int) {}
    __device__ float scaled(float x, int i, int half) const {
      return x * of_rows[i][half];
    }

    float of_rows[C::rows_each][2];
  };
};

}  // namespace ladder::rung_08
