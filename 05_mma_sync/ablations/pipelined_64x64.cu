// The rung's pipeline at its smallest: 64x64x16 tiles, four warps, two stages. Every thread copies 16 bytes
// of A and 16 of B per k-tile, a warp computes 32x32 of C, and the fragments are loaded element by element
// as the PTX ISA has them. It shows in one screen what gemm.cu does with larger tiles, more stages and wide
// loads of B.
#include "common/ptx/cp_async.cuh"
#include "common/ptx/mma.cuh"
#include "common/rung.h"

namespace ladder::rung_05 {
namespace {

constexpr int vector = 8;                         // bf16 elements in 16 bytes, the size of a copy
constexpr int mma_m = 16, mma_n = 8, mma_k = 16;  // what one mma.sync multiplies
constexpr int block_m = 64, block_n = 64, block_k = mma_k, stages = 2;
constexpr int warps_n = 2, warp_m = 32, warp_n = 32, threads = 128;
static_assert(block_m * block_k == threads * vector && block_k * block_n == threads * vector,
              "every thread copies one vector of each matrix");

// With 8 elements after each row, rows of A start 12 banks apart and rows of B 4: the 8 rows that a warp
// loads of A at once, 4 words of each, lie in 32 different banks, and so do the 4 rows of B.
constexpr int padding = 8;

__global__ void __launch_bounds__(threads) gemm_kernel(Gemm p, int tiles_n) {
  __shared__ __align__(16) __nv_bfloat16 tile_a[stages][block_m][block_k + padding];
  __shared__ __align__(16) __nv_bfloat16 tile_b[stages][block_k][block_n + padding];
  const int row0 = blockIdx.x / tiles_n * block_m, col0 = blockIdx.x % tiles_n * block_n;

  // Global -> shared: this thread's vectors of the k-tile at k0. Past the edges zeros are written. The group
  // is committed even past the last k-tile, where it is empty.
  const int a_row = threadIdx.x / (block_k / vector), a_k = threadIdx.x % (block_k / vector) * vector;
  const int b_k = threadIdx.x / (block_n / vector), b_col = threadIdx.x % (block_n / vector) * vector;
  auto issue = [&](int k0, int stage) {
    if (k0 < p.k) {
      const bool inside_a = row0 + a_row < p.m && k0 + a_k < p.k;
      const bool inside_b = k0 + b_k < p.k && col0 + b_col < p.n;
      ptx::cp_async_16(ptx::shared_address(&tile_a[stage][a_row][a_k]),
                       p.a + std::size_t(row0 + a_row) * p.k + k0 + a_k, inside_a ? 16 : 0);
      ptx::cp_async_16(ptx::shared_address(&tile_b[stage][b_k][b_col]),
                       p.b + std::size_t(k0 + b_k) * p.n + col0 + b_col, inside_b ? 16 : 0);
    }
    ptx::cp_async_commit_group();
  };

  // Shared -> registers -> tensor cores: 2 x 4 mmas for a k-tile.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / warps_n * warp_m, warp_col = warp % warps_n * warp_n;
  const int g = lane / 4, t = lane % 4;  // common/ptx/mma.cuh says what of a fragment lane 4g + t holds
  constexpr int mmas_m = warp_m / mma_m, mmas_n = warp_n / mma_n;
  float accumulator[mmas_m][mmas_n][4] = {};
  auto multiply = [&](int stage) {
    unsigned a[mmas_m][4], b[mmas_n][2];
#pragma unroll
    for (int i = 0; i < mmas_m; ++i)
#pragma unroll
      for (int r = 0; r < 4; ++r)
        a[i][r] = *reinterpret_cast<const unsigned*>(
            &tile_a[stage][warp_row + i * mma_m + g + r % 2 * 8][2 * t + r / 2 * 8]);
#pragma unroll
    for (int j = 0; j < mmas_n; ++j)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int k = 2 * t + r * 8, col = warp_col + j * mma_n + g;
        const unsigned low = *reinterpret_cast<const unsigned short*>(&tile_b[stage][k][col]);
        const unsigned high = *reinterpret_cast<const unsigned short*>(&tile_b[stage][k + 1][col]);
        b[j][r] = high << 16 | low;
      }
#pragma unroll
    for (int j = 0; j < mmas_n; ++j)
#pragma unroll
      for (int i = 0; i < mmas_m; ++i) ptx::mma_m16n8k16(accumulator[i][j], a[i], b[j]);
  };

  issue(0, 0);
  int stage = 0;
  for (int k0 = 0; k0 < p.k; k0 += block_k) {
    ptx::cp_async_wait_group<0>();  // this thread's vectors of the k-tile at k0 have landed
    __syncthreads();  // every thread's have, and all warps have finished reading the other stage
    issue(k0 + block_k, stage ^ 1);  // in flight during the mmas below
    multiply(stage);
    stage ^= 1;
  }

  // A lane holds columns 2t and 2t+1 of rows g and g+8 of each mma.
#pragma unroll
  for (int i = 0; i < mmas_m; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + warp_row + i * mma_m + half * 8 + g;
      if (row >= p.m) continue;
#pragma unroll
      for (int j = 0; j < mmas_n; ++j) {
        const int col = col0 + warp_col + j * mma_n + 2 * t;
        const float* const from = &accumulator[i][j][half * 2];
        const __nv_bfloat162 pair = __floats2bfloat162_rn(from[0], from[1]);
        if (col < p.n) *reinterpret_cast<__nv_bfloat162*>(p.c + std::size_t(row) * p.n + col) = pair;
      }
    }
}

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  const int tiles_m = ceil_div(p.m, block_m), tiles_n = ceil_div(p.n, block_n);
  gemm_kernel<<<unsigned(tiles_m) * unsigned(tiles_n), threads, 0, stream>>>(p, tiles_n);
  return cudaGetLastError();
}

Text whole_vectors(const Gemm& p) {
  if (p.n % vector == 0 && p.k % vector == 0) return {};
  return "n and k must be multiples of 8 (--variant any_n_k takes others)";
}

}  // namespace

Variants<Gemm> pipelined_64x64() {
  return {{.name = "pipelined_64x64",
           .what = "64x64x16 tiles, four warps, two stages",
           .unsupported = whole_vectors,
           .launch = launch}};
}

}  // namespace ladder::rung_05
