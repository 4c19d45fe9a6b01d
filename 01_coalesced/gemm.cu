// Still one thread per element of C, but threadIdx.x now runs along n: the lanes of a warp stand side by side
// in a row of B and of C. Nothing else changed since 00_naive.
#include "common/rung.h"

namespace ladder::rung_01 {
namespace {

struct Config {
  static constexpr int block_n = 32;  // threadIdx.x: one warp spans 32 columns
  static constexpr int block_m = 32;  // threadIdx.y
};

// A CTA computes a block_m x block_n tile of C. Tiles are numbered along the rows of C in blockIdx.x, the
// only grid dimension that reaches 2^31.
__global__ void __launch_bounds__(Config::block_m* Config::block_n) gemm_kernel(Gemm p, int tiles_n) {
  const int row = blockIdx.x / tiles_n * Config::block_m + threadIdx.y;
  const int col = blockIdx.x % tiles_n * Config::block_n + threadIdx.x;
  if (row >= p.m || col >= p.n) return;

  // Per step of k a warp loads A[row, k]: one address for all lanes, one sector, and B[k, col..col+31]: 64
  // bytes side by side, two sectors.
  const __nv_bfloat16* a = p.a + std::size_t(row) * p.k;
  const __nv_bfloat16* b = p.b + col;
  float accumulator = 0;
  for (int k = 0; k < p.k; ++k) {
    accumulator += __bfloat162float(a[k]) * __bfloat162float(*b);
    b += p.n;
  }
  p.c[std::size_t(row) * p.n + col] = __float2bfloat16_rn(accumulator);  // two sectors
}

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  const int tiles_m = ceil_div(p.m, Config::block_m), tiles_n = ceil_div(p.n, Config::block_n);
  gemm_kernel<<<unsigned(tiles_m) * unsigned(tiles_n), dim3(Config::block_n, Config::block_m), 0, stream>>>(
      p, tiles_n);
  return cudaGetLastError();
}

}  // namespace

Variants<Gemm> gemm() {
  return {
      {.name = "coalesced", .what = "one thread per element of C, threadIdx.x along n", .launch = launch}};
}

}  // namespace ladder::rung_01
