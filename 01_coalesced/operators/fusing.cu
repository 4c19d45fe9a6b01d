// What fusing the residual add with the norm buys: the same in two kernels, and in one that adds a second
// time instead of reading h back. A CTA per row, as in the rung.
#include "01_coalesced/operators/reduce.cuh"

namespace ladder::rung_01 {
namespace {

constexpr int threads = 512;

__device__ __nv_bfloat16 sum_of(const FusedNorm& p, std::size_t i) {
  return __float2bfloat16_rn(__bfloat162float(p.x[i]) + __bfloat162float(p.residual[i]));
}

// h = x + residual: two matrices read, one written.
__global__ void __launch_bounds__(threads) add_kernel(FusedNorm p) {
  const std::size_t elements = std::size_t(p.rows) * p.cols, step = std::size_t(gridDim.x) * threads;
  for (std::size_t i = std::size_t(blockIdx.x) * threads + threadIdx.x; i < elements; i += step)
    p.h[i] = sum_of(p, i);
}

// Computes y from h, which is read twice, the second time from L2 where that holds the rows in flight; or,
// with `recomputed`, from x and residual, both read twice.
template <bool recomputed>
__global__ void __launch_bounds__(threads) norm_kernel(FusedNorm p) {
  __shared__ float partial[warp_size];
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  float squares = 0;
  for (int col = threadIdx.x; col < p.cols; col += threads) {
    const float h = __bfloat162float(recomputed ? sum_of(p, start + col) : p.h[start + col]);
    squares += h * h;
  }
  const float scale = rsqrtf(row_reduce<Sum, threads>(squares, partial) / float(p.cols) + p.eps);
  for (int col = threadIdx.x; col < p.cols; col += threads) {
    const __nv_bfloat16 h = recomputed ? sum_of(p, start + col) : p.h[start + col];
    if (recomputed) p.h[start + col] = h;
    p.y[start + col] = __float2bfloat16_rn(__bfloat162float(h) * scale * __bfloat162float(p.gamma[col]));
  }
}

cudaError_t launch_unfused(const FusedNorm& p, cudaStream_t stream) {
  constexpr std::size_t most_ctas = 1 << 20;
  const std::size_t ctas = (std::size_t(p.rows) * p.cols + threads - 1) / threads;
  add_kernel<<<unsigned(ctas < most_ctas ? ctas : most_ctas), threads, 0, stream>>>(p);
  norm_kernel<false><<<p.rows, threads, 0, stream>>>(p);
  return cudaGetLastError();
}

cudaError_t launch_recomputed(const FusedNorm& p, cudaStream_t stream) {
  norm_kernel<true><<<p.rows, threads, 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace

Variants<FusedNorm> fusing() {
  return {{.name = "unfused",
           .what = "two kernels, the first writes h, the second reads it: 5 matrix passes, fused 4",
           .launch = launch_unfused},
          {.name = "recomputed",
           .what = "x and residual read and added again for y, instead of h: 6 matrix passes, fused 4",
           .launch = launch_recomputed}};
}

}  // namespace ladder::rung_01
