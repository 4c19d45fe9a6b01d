// One thread computes one element of C and loops over k. threadIdx.x runs along m, as in the textbook's
// C[i][j] with i first, so the 32 lanes of a warp are in 32 different rows: every load of A touches 32
// sectors.
#include "common/rung.h"

namespace ladder::rung_00 {
namespace {

struct Config {
  static constexpr int block_m = 32;  // threadIdx.x: one warp spans 32 rows
  static constexpr int block_n = 32;  // threadIdx.y
};

// A CTA computes a block_m x block_n tile of C. Tiles are numbered down the columns of C in blockIdx.x, the
// only grid dimension that reaches 2^31.
__global__ void __launch_bounds__(Config::block_m* Config::block_n) gemm_kernel(Gemm p, int tiles_m) {
  const int row = blockIdx.x % tiles_m * Config::block_m + threadIdx.x;
  const int col = blockIdx.x / tiles_m * Config::block_n + threadIdx.y;
  if (row >= p.m || col >= p.n) return;

  // Per step of k a warp loads A[row..row+31, k]: 32 addresses k·2 bytes apart, 32 sectors for 64 useful
  // bytes, and B[k, col]: one address for all lanes, one sector.
  const __nv_bfloat16* a = p.a + std::size_t(row) * p.k;
  const __nv_bfloat16* b = p.b + col;
  float accumulator = 0;
  for (int k = 0; k < p.k; ++k) {
    accumulator += __bfloat162float(a[k]) * __bfloat162float(*b);
    b += p.n;
  }
  p.c[std::size_t(row) * p.n + col] = __float2bfloat16_rn(accumulator);  // 32 rows again: 32 sectors
}

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  const int tiles_m = ceil_div(p.m, Config::block_m), tiles_n = ceil_div(p.n, Config::block_n);
  gemm_kernel<<<unsigned(tiles_m) * unsigned(tiles_n), dim3(Config::block_m, Config::block_n), 0, stream>>>(
      p, tiles_m);
  return cudaGetLastError();
}

}  // namespace

Variants<Gemm> gemm() {
  return {{.name = "naive", .what = "one thread per element of C, threadIdx.x along m", .launch = launch}};
}

}  // namespace ladder::rung_00
