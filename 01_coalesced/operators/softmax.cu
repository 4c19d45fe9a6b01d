// Softmax, neighbouring lanes on neighbouring columns. exp(x) overflows from x = 88.7 on, so the row's
// maximum is subtracted first, which changes nothing in the quotient. In two passes that costs a read of x
// for the maximum, one for the sum and one for y.
//
// Online, the first two are one: a sum relative to the largest element so far is multiplied by
// exp(old largest - new largest) when a larger one comes.
#include "01_coalesced/operators/reduce.cuh"
#include "common/extension.h"

namespace ladder::rung_01 {
namespace {

// One row per `threads_per_row` threads, `rows_per_cta` rows side by side in a CTA.
template <bool online, int threads_per_row, int rows_per_cta>
__global__ void __launch_bounds__(threads_per_row* rows_per_cta) softmax_kernel(RowOperator p) {
  static_assert(threads_per_row == warp_size || rows_per_cta == 1, "a row is a warp's, or the whole CTA's");
  __shared__ float partial[2][warp_size];
  const long long row = blockIdx.x * static_cast<long long>(rows_per_cta) + threadIdx.y;
  if (row >= p.rows) return;  // all threads of the row's group together
  const __nv_bfloat16* const x = p.x + std::size_t(row) * p.cols;
  __nv_bfloat16* const y = p.y + std::size_t(row) * p.cols;

  float largest = Maximum::none, sum = 0;  // of what this thread has seen
  for (int col = threadIdx.x; col < p.cols; col += threads_per_row) {
    const float one = __bfloat162float(x[col]);
    if (online) {
      if (one > largest) sum *= __expf(largest - one);
      sum += __expf(one - fmaxf(largest, one));
    }
    largest = fmaxf(largest, one);
  }

  const float of_row = row_reduce<Maximum, threads_per_row>(largest, partial[0]);
  if (online) {
    sum *= __expf(largest - of_row);
  } else {
    for (int col = threadIdx.x; col < p.cols; col += threads_per_row)
      sum += __expf(__bfloat162float(x[col]) - of_row);
  }
  const float scale = 1 / row_reduce<Sum, threads_per_row>(sum, partial[1]);

  for (int col = threadIdx.x; col < p.cols; col += threads_per_row)
    y[col] = __float2bfloat16_rn(__expf(__bfloat162float(x[col]) - of_row) * scale);
}

template <bool online, int threads_per_row, int rows_per_cta>
cudaError_t launch(const RowOperator& p, cudaStream_t stream) {
  const dim3 cta(threads_per_row, rows_per_cta);
  softmax_kernel<online, threads_per_row, rows_per_cta>
      <<<ceil_div(p.rows, rows_per_cta), cta, 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace

Variants<RowOperator> softmax() {
  static constexpr Extension<RowOperator> extension{.operation = RowOperation::softmax};
  return {{.name = "softmax_warp",
           .what = "softmax, a warp per row: x read three times",
           .launch = launch<false, 32, 8>,
           .extension = &extension},
          {.name = "softmax",
           .what = "softmax, a CTA per row: x read three times, for maximum, sum and y",
           .launch = launch<false, 512, 1>,
           .extension = &extension},
          {.name = "softmax_online",
           .what = "softmax, a CTA per row: x read twice, maximum and sum in one pass",
           .launch = launch<true, 512, 1>,
           .extension = &extension}};
}

}  // namespace ladder::rung_01
