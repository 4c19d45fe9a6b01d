// LayerNorm, neighbouring lanes on neighbouring columns. x is read three times: for the mean, for the
// variance, and for y; the second and the third time from L1 or L2, where they still hold the row.
//
// The variance needs the mean first. mean(x²) - mean(x)² would save a read, and cancel where the mean is
// large beside the deviation: two large numbers, whose errors are as large as their difference.
#include "01_coalesced/operators/reduce.cuh"
#include "common/extension.h"

namespace ladder::rung_01 {
namespace {

// One row per `threads_per_row` threads, `rows_per_cta` rows side by side in a CTA.
template <int threads_per_row, int rows_per_cta>
__global__ void __launch_bounds__(threads_per_row* rows_per_cta) layer_norm_kernel(RowOperator p) {
  static_assert(threads_per_row == warp_size || rows_per_cta == 1, "a row is a warp's, or the whole CTA's");
  __shared__ float partial[2][warp_size];
  const long long row = blockIdx.x * static_cast<long long>(rows_per_cta) + threadIdx.y;
  if (row >= p.rows) return;  // all threads of the row's group together
  const __nv_bfloat16* const x = p.x + std::size_t(row) * p.cols;
  __nv_bfloat16* const y = p.y + std::size_t(row) * p.cols;

  float sum = 0;
  for (int col = threadIdx.x; col < p.cols; col += threads_per_row) sum += __bfloat162float(x[col]);
  const float mean = row_reduce<Sum, threads_per_row>(sum, partial[0]) / float(p.cols);

  float squares = 0;
  for (int col = threadIdx.x; col < p.cols; col += threads_per_row) {
    const float difference = __bfloat162float(x[col]) - mean;
    squares += difference * difference;
  }
  const float variance = row_reduce<Sum, threads_per_row>(squares, partial[1]) / float(p.cols);
  const float scale = rsqrtf(variance + p.eps);

  for (int col = threadIdx.x; col < p.cols; col += threads_per_row) {
    const float normalised = (__bfloat162float(x[col]) - mean) * scale;
    y[col] = __float2bfloat16_rn(normalised * __bfloat162float(p.gamma[col]) + __bfloat162float(p.beta[col]));
  }
}

template <int threads_per_row, int rows_per_cta>
cudaError_t launch(const RowOperator& p, cudaStream_t stream) {
  const dim3 cta(threads_per_row, rows_per_cta);
  layer_norm_kernel<threads_per_row, rows_per_cta><<<ceil_div(p.rows, rows_per_cta), cta, 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace

Variants<RowOperator> layer_norm() {
  static constexpr Extension<RowOperator> extension{.operation = RowOperation::layer_norm};
  return {{.name = "layer_norm_warp",
           .what = "LayerNorm, a warp per row: x read three times",
           .launch = launch<32, 8>,
           .extension = &extension},
          {.name = "layer_norm",
           .what = "LayerNorm, a CTA per row: x read three times",
           .launch = launch<512, 1>,
           .extension = &extension}};
}

}  // namespace ladder::rung_01
