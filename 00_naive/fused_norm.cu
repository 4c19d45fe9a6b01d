// One thread computes one row. It reads x and residual, writes h and accumulates its squares, then reads h
// back and writes y.
#include "common/rung.h"

namespace ladder::rung_00 {
namespace {

constexpr int threads = 128;  // rows per CTA

__global__ void __launch_bounds__(threads) fused_norm_kernel(FusedNorm p) {
  const long long row = blockIdx.x * static_cast<long long>(threads) + threadIdx.x;
  if (row >= p.rows) return;
  const std::size_t start = std::size_t(row) * p.cols;

  // Lane i reads cols·2 bytes after lane i - 1: every access of a warp below touches 32 sectors for 64
  // bytes.
  float squares = 0;
  for (int col = 0; col < p.cols; ++col) {
    const float sum = __bfloat162float(p.x[start + col]) + __bfloat162float(p.residual[start + col]);
    const __nv_bfloat16 h = __float2bfloat16_rn(sum);
    p.h[start + col] = h;
    squares += __bfloat162float(h) * __bfloat162float(h);  // of the rounded h, the one that is stored
  }

  const float scale = rsqrtf(squares / float(p.cols) + p.eps);
  for (int col = 0; col < p.cols; ++col) {
    const float h = __bfloat162float(p.h[start + col]);
    p.y[start + col] = __float2bfloat16_rn(h * scale * __bfloat162float(p.gamma[col]));
  }
}

cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  fused_norm_kernel<<<ceil_div(p.rows, threads), threads, 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace

Variants<FusedNorm> fused_norm() {
  return {{.name = "naive", .what = "one thread per row", .launch = launch}};
}

}  // namespace ladder::rung_00
