// A group of threads shares a row, neighbouring lanes on neighbouring columns, and reduces its partial sums
// by shuffles: within a warp first, then, if a CTA has the row, across its warps through shared memory. h is
// read back from L2, or from DRAM when too many rows are in flight for L2 to hold.
#include "common/rung.h"

namespace ladder::rung_01 {
namespace {

constexpr int warp_size = 32;

// The sum over the 32 lanes, in every lane: 5 steps, each adding the value of the lane 16, 8, 4, 2, 1 away.
__device__ float warp_sum(float value) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xFFFFFFFFu, value, distance);
  return value;
}

// One row per `threads_per_row` threads, `rows_per_cta` rows side by side in a CTA.
template <int threads_per_row, int rows_per_cta>
__global__ void __launch_bounds__(threads_per_row* rows_per_cta) fused_norm_kernel(FusedNorm p) {
  static_assert(threads_per_row == warp_size || rows_per_cta == 1, "a row is a warp's, or the whole CTA's");
  static_assert(threads_per_row % warp_size == 0, "whole warps, so that shuffles see every lane");
  const long long row = blockIdx.x * static_cast<long long>(rows_per_cta) + threadIdx.y;
  if (row >= p.rows) return;  // all threads of the row's group together
  const std::size_t start = std::size_t(row) * p.cols;

  // Lane i reads 2 bytes next to lane i - 1's: 64 bytes, two sectors, for a warp.
  float squares = 0;
  for (int col = threadIdx.x; col < p.cols; col += threads_per_row) {
    const float sum = __bfloat162float(p.x[start + col]) + __bfloat162float(p.residual[start + col]);
    const __nv_bfloat16 h = __float2bfloat16_rn(sum);
    p.h[start + col] = h;
    squares += __bfloat162float(h) * __bfloat162float(h);
  }

  squares = warp_sum(squares);
  if constexpr (threads_per_row > warp_size) {
    constexpr int warps = threads_per_row / warp_size;
    static_assert(warps <= warp_size, "the last step is one warp's");
    __shared__ float partial[warps];
    if (threadIdx.x % warp_size == 0) partial[threadIdx.x / warp_size] = squares;
    __syncthreads();  // partial[] is complete
    const int lane = threadIdx.x % warp_size;
    squares = warp_sum(lane < warps ? partial[lane] : 0.0f);  // every warp does the last step for itself
  }

  const float scale = rsqrtf(squares / float(p.cols) + p.eps);
  // Each thread reads back what it has written itself.
  for (int col = threadIdx.x; col < p.cols; col += threads_per_row) {
    const float h = __bfloat162float(p.h[start + col]);
    p.y[start + col] = __float2bfloat16_rn(h * scale * __bfloat162float(p.gamma[col]));
  }
}

template <int threads_per_row, int rows_per_cta>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const dim3 cta(threads_per_row, rows_per_cta);
  fused_norm_kernel<threads_per_row, rows_per_cta><<<ceil_div(p.rows, rows_per_cta), cta, 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace

Variants<FusedNorm> fused_norm() {
  return {
      {.name = "warp_per_row", .what = "a warp per row, shuffles only", .launch = launch<32, 8>},
      {.name = "cta_per_row", .what = "a CTA per row, shuffles and shared memory", .launch = launch<512, 1>}};
}

}  // namespace ladder::rung_01
