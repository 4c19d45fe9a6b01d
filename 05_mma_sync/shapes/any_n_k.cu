// Any n and k: the rung's kernel with copies as wide as its rows are aligned, 8 or 4 bytes where 16 are not.
// An odd n or k leaves every other row of B or A between two words of 4 bytes: those rows pass through
// registers, which shift them. C passes through shared memory, where a warp gathers whole rows.
#include "common/ptx/mma.cuh"
#include "common/rows/any_rows.cuh"

namespace ladder::rung_05 {

Variants<Gemm> gemm();

namespace {

// As in gemm.cu, which says why.
constexpr int vector = 8, mma_m = 16, mma_n = 8, mma_k = 16;
constexpr int stages = 4, padding = 8;
constexpr int warps_m = 2, warps_n = 2, threads = 32 * warps_m * warps_n, ctas_per_sm = 2;
constexpr int warp_m = 64, warp_n = 64;
constexpr int block_m = warps_m * warp_m, block_n = warps_n * warp_n, block_k = 32;

struct Stage {
  __nv_bfloat16 a[block_m][block_k + padding];
  __nv_bfloat16 b[block_k][block_n + padding];
};
struct Output {  // after the mainloop, where the stages were: each warp's tile of C
  __nv_bfloat16 c[warps_m * warps_n][warp_m][warp_n + padding];
};
static_assert(sizeof(Output) <= stages * sizeof(Stage), "C fits where the stages were");

__device__ unsigned pair_of(const uint4& even, const uint4& odd, int i) {
  const unsigned low = reinterpret_cast<const unsigned*>(&even)[i / 2],
                 high = reinterpret_cast<const unsigned*>(&odd)[i / 2];
  return __byte_perm(low, high, i % 2 == 0 ? 0x5410 : 0x7632);
}

__device__ unsigned pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const unsigned&>(pair);
}

template <bool odd_k, bool odd_n>
__global__ void __launch_bounds__(threads, ctas_per_sm) gemm_kernel(Gemm p, int tiles_n) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto* tiles = reinterpret_cast<Stage*>(shared);

  const int row0 = blockIdx.x / tiles_n * block_m, col0 = blockIdx.x % tiles_n * block_n;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / warps_n * warp_m, warp_col = warp % warps_n * warp_n;
  const int g = lane / 4, t = lane % 4;

  // Global -> shared. What finish() stores has the time of the MMAs in between to arrive.
  any_rows::TileCopy<odd_k, block_m, block_k, threads> copy_a;
  any_rows::TileCopy<odd_n, block_k, block_n, threads> copy_b;
  auto at_a = [&](int stage) {
    return [=](int row, int k) { return reinterpret_cast<unsigned*>(&tiles[stage].a[row][k]); };
  };
  auto at_b = [&](int stage) {
    return [=](int k, int col) { return reinterpret_cast<unsigned*>(&tiles[stage].b[k][col]); };
  };
  auto issue = [&](int k0, int stage) {
    if (k0 < p.k) {
      copy_a.issue(p.a + std::size_t(row0) * p.k + k0, p.k, any_rows::aligned_elements(p.k), p.m - row0,
                   p.k - k0, at_a(stage));
      copy_b.issue(p.b + std::size_t(k0) * p.n + col0, p.n, any_rows::aligned_elements(p.n), p.k - k0,
                   p.n - col0, at_b(stage));
    }
    ptx::cp_async_commit_group();
  };
  auto finish = [&](int stage) {
    copy_a.store(at_a(stage));
    copy_b.store(at_b(stage));
  };

  constexpr int mmas_m = warp_m / mma_m, mmas_n = warp_n / mma_n;
  float accumulator[mmas_m][mmas_n][4] = {};
  auto multiply = [&](int stage) {
    const Stage& tile = tiles[stage];
#pragma unroll
    for (int k0 = 0; k0 < block_k; k0 += mma_k) {
      unsigned a[mmas_m][4], b[mmas_n][2];
#pragma unroll
      for (int i = 0; i < mmas_m; ++i)
#pragma unroll
        for (int r = 0; r < 4; ++r)
          a[i][r] = *reinterpret_cast<const unsigned*>(
              &tile.a[warp_row + i * mma_m + g + r % 2 * 8][k0 + 2 * t + r / 2 * 8]);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int k = k0 + 2 * t + r * 8, col = warp_col + g * vector;
        const uint4 even = *reinterpret_cast<const uint4*>(&tile.b[k][col]);
        const uint4 odd = *reinterpret_cast<const uint4*>(&tile.b[k + 1][col]);
#pragma unroll
        for (int c = 0; c < mmas_n; ++c) b[c][r] = pair_of(even, odd, c);
      }
#pragma unroll
      for (int c = 0; c < mmas_n; ++c)
#pragma unroll
        for (int i = 0; i < mmas_m; ++i) ptx::mma_m16n8k16(accumulator[i][c], a[i], b[c]);
    }
  };

  for (int stage = 0; stage < stages - 1; ++stage) {
    issue(stage * block_k, stage);
    finish(stage);
  }
  int stage = 0, free_stage = stages - 1;
  for (int k0 = 0; k0 < p.k; k0 += block_k) {
    ptx::cp_async_wait_group<stages - 2>();
    __syncthreads();
    issue(k0 + (stages - 1) * block_k, free_stage);
    multiply(stage);
    finish(free_stage);
    free_stage = stage;
    stage = stage + 1 == stages ? 0 : stage + 1;
  }
  ptx::cp_async_wait_group<0>();
  __syncthreads();  // from here on the stages hold C

  auto& tile_c = reinterpret_cast<Output*>(shared)->c[warp];
#pragma unroll
  for (int i = 0; i < mmas_m; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        auto value = [&](int c) { return accumulator[i][c][half * 2 + odd]; };
        *reinterpret_cast<uint4*>(&tile_c[i * mma_m + half * 8 + g][(2 * t + odd) * vector]) =
            make_uint4(pack(value(0), value(1)), pack(value(2), value(3)), pack(value(4), value(5)),
                       pack(value(6), value(7)));
      }
  __syncwarp();
  const int rows = min(p.m - row0 - warp_row, warp_m), col = col0 + warp_col;
  if (col >= p.n) return;
  for (int row = 0; row < rows; ++row)
    any_rows::store_64(p.c + std::size_t(row0 + warp_row + row) * p.n + col,
                       *reinterpret_cast<const unsigned*>(&tile_c[row][2 * lane]), p.n - col);
}

template <bool odd_k, bool odd_n>
cudaError_t launch_odd(const Gemm& p, cudaStream_t stream) {
  auto* kernel = gemm_kernel<odd_k, odd_n>;
  constexpr int bytes = stages * int(sizeof(Stage));
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  const int tiles_m = ceil_div(p.m, block_m), tiles_n = ceil_div(p.n, block_n);
  kernel<<<unsigned(tiles_m) * unsigned(tiles_n), threads, bytes, stream>>>(p, tiles_n);
  return cudaGetLastError();
}

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  static const auto rung = gemm().back().launch;
  if (p.n % vector == 0 && p.k % vector == 0) return rung(p, stream);
  if (p.k % 2 != 0)
    return p.n % 2 != 0 ? launch_odd<true, true>(p, stream) : launch_odd<true, false>(p, stream);
  return p.n % 2 != 0 ? launch_odd<false, true>(p, stream) : launch_odd<false, false>(p, stream);
}

}  // namespace

Variants<Gemm> any_n_k() {
  return {{.name = "any_n_k", .what = "any n and k: copies as wide as rows are aligned", .launch = launch}};
}

}  // namespace ladder::rung_05
