// The rung's kernel with narrower loads of B: a lane reads one or two neighbours of a row in place of eight.
// With one, it is the fragment as the PTX ISA has it: mma j multiplies columns j·8 to j·8 + 7.
#include <type_traits>

#include "common/ptx/cp_async.cuh"
#include "common/ptx/mma.cuh"
#include "common/rung.h"

namespace ladder::rung_05 {
namespace {

// As in gemm.cu, which says why.
constexpr int vector = 8;  // bf16 elements in 16 bytes, the size of a copy
constexpr int mma_m = 16, mma_n = 8, mma_k = 16;
constexpr int stages = 4, padding = 8;
constexpr int warps_m = 2, warps_n = 2, threads = 32 * warps_m * warps_n, ctas_per_sm = 2;
constexpr int warp_m = 64, warp_n = 64;
constexpr int block_m = warps_m * warp_m, block_n = warps_n * warp_n, block_k = 32;
constexpr int copies_a = block_m * block_k / vector / threads;  // per thread and k-tile
constexpr int copies_b = block_k * block_n / vector / threads;

struct Stage {
  __nv_bfloat16 a[block_m][block_k + padding];
  __nv_bfloat16 b[block_k][block_n + padding];
};

__device__ unsigned pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const unsigned&>(pair);
}

// b_columns: how many neighbours of a row of B a lane reads at once, 1 or 2.
template <int b_columns>
__global__ void __launch_bounds__(threads, ctas_per_sm) gemm_kernel(Gemm p, int tiles_n) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto* tiles = reinterpret_cast<Stage*>(shared);

  const int row0 = blockIdx.x / tiles_n * block_m;
  const int col0 = blockIdx.x % tiles_n * block_n;

  auto issue = [&](int k0, int stage) {
    if (k0 < p.k) {
#pragma unroll
      for (int v = 0; v < copies_a; ++v) {
        const int i = threadIdx.x + v * threads, row = i / 4, k = i % 4 * vector;
        const bool inside = row0 + row < p.m && k0 + k < p.k;
        ptx::cp_async_16(ptx::shared_address(&tiles[stage].a[row][k]),
                         p.a + std::size_t(row0 + row) * p.k + k0 + k, inside ? 16 : 0);
      }
#pragma unroll
      for (int v = 0; v < copies_b; ++v) {
        const int i = threadIdx.x + v * threads, k = i / (block_n / vector),
                  col = i % (block_n / vector) * vector;
        const bool inside = k0 + k < p.k && col0 + col < p.n;
        ptx::cp_async_16(ptx::shared_address(&tiles[stage].b[k][col]),
                         p.b + std::size_t(k0 + k) * p.n + col0 + col, inside ? 16 : 0);
      }
    }
    ptx::cp_async_commit_group();
  };

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / warps_n * warp_m, warp_col = warp % warps_n * warp_n;
  const int g = lane / 4, t = lane % 4;  // common/ptx/mma.cuh says what of a fragment lane 4g + t holds

  // Mma j + c multiplies the columns warp_col + j·8 + g·b_columns + c.
  constexpr int mmas_m = warp_m / mma_m, mmas_n = warp_n / mma_n;
  float accumulator[mmas_m][mmas_n][4] = {};
  auto multiply = [&](int stage) {
    const Stage& tile = tiles[stage];
#pragma unroll
    for (int k0 = 0; k0 < block_k; k0 += mma_k) {
      unsigned a[mmas_m][4];
#pragma unroll
      for (int i = 0; i < mmas_m; ++i)
#pragma unroll
        for (int r = 0; r < 4; ++r)
          a[i][r] = *reinterpret_cast<const unsigned*>(
              &tile.a[warp_row + i * mma_m + g + r % 2 * 8][k0 + 2 * t + r / 2 * 8]);

#pragma unroll
      for (int j = 0; j < mmas_n; j += b_columns) {
        unsigned b[b_columns][2];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          using Neighbours = std::conditional_t<b_columns == 1, unsigned short, unsigned>;
          const int k = k0 + 2 * t + r * 8, col = warp_col + j * mma_n + g * b_columns;
          const unsigned even = *reinterpret_cast<const Neighbours*>(&tile.b[k][col]);
          const unsigned odd = *reinterpret_cast<const Neighbours*>(&tile.b[k + 1][col]);
#pragma unroll
          for (int c = 0; c < b_columns; ++c) b[c][r] = __byte_perm(even, odd, c == 0 ? 0x5410 : 0x7632);
        }
#pragma unroll
        for (int c = 0; c < b_columns; ++c)
#pragma unroll
          for (int i = 0; i < mmas_m; ++i) ptx::mma_m16n8k16(accumulator[i][j + c], a[i], b[c]);
      }
    }
  };

  for (int stage = 0; stage < stages - 1; ++stage) issue(stage * block_k, stage);
  int stage = 0, free_stage = stages - 1;
  for (int k0 = 0; k0 < p.k; k0 += block_k) {
    ptx::cp_async_wait_group<stages - 2>();
    __syncthreads();
    issue(k0 + (stages - 1) * block_k, free_stage);
    multiply(stage);
    free_stage = stage;
    stage = stage + 1 == stages ? 0 : stage + 1;
  }

  // A lane holds columns 2t and 2t+1 of each mma: 2·b_columns neighbours of C, from 2t·b_columns on.
#pragma unroll
  for (int i = 0; i < mmas_m; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + warp_row + i * mma_m + half * 8 + g;
      if (row >= p.m) continue;
#pragma unroll
      for (int j = 0; j < mmas_n; j += b_columns) {
        const int col = col0 + warp_col + j * mma_n + t * 2 * b_columns;
        auto value = [&](int e) { return accumulator[i][j + e % b_columns][half * 2 + e / b_columns]; };
        std::conditional_t<b_columns == 1, unsigned, uint2> bits;
#pragma unroll
        for (int e = 0; e < b_columns; ++e)
          reinterpret_cast<unsigned*>(&bits)[e] = pack(value(2 * e), value(2 * e + 1));
        if (col < p.n) *reinterpret_cast<decltype(bits)*>(p.c + std::size_t(row) * p.n + col) = bits;
      }
    }
}

template <int b_columns>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  auto* kernel = gemm_kernel<b_columns>;
  constexpr int bytes = stages * int(sizeof(Stage));
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  const int tiles_m = ceil_div(p.m, block_m), tiles_n = ceil_div(p.n, block_n);
  kernel<<<unsigned(tiles_m) * unsigned(tiles_n), threads, bytes, stream>>>(p, tiles_n);
  return cudaGetLastError();
}

Text whole_vectors(const Gemm& p) {
  if (p.n % vector == 0 && p.k % vector == 0) return {};
  return "n and k must be multiples of 8 (--variant any_n_k takes others)";
}

}  // namespace

Variants<Gemm> ablations() {
  return {{.name = "halfwords",
           .what = "B read 2 bytes at a time",
           .unsupported = whole_vectors,
           .launch = launch<1>},
          {.name = "words",
           .what = "B read 4 bytes at a time",
           .unsupported = whole_vectors,
           .launch = launch<2>}};
}

}  // namespace ladder::rung_05
