// Any n and k: swizzled tiles and ldmatrix as in the rung, with copies as wide as rows are aligned, 8 or 4
// bytes where 16 are not. An odd n or k leaves every other row of B or A between two words of 4 bytes: those
// rows pass through registers, which shift them. They leave fewer registers, so a k-tile is half as long as
// the rung's, and a CTA computes one tile. C passes through shared memory, where a warp gathers whole rows.
#include "06_swizzle_ldmatrix/tiles.cuh"
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/mma.cuh"
#include "common/rows/any_rows.cuh"

namespace ladder::rung_06 {

Variants<Gemm> gemm();

namespace {

const Variant<Gemm>& the_rung() {
  static const Variant<Gemm> rung = gemm().back();
  return rung;
}

constexpr int block_m = 128, block_n = 256, block_k = 32, stages = 4, threads = 256;
constexpr int warp_m = 64, warp_n = 64, warps_n = block_n / warp_n;
constexpr int mmas_m = warp_m / 16, mmas_n = warp_n / 8, steps = block_k / 16;  // of m16n8k16
constexpr int row_a = block_k * 2, row_b = block_n * 2;                         // bytes in shared memory
constexpr int tile_a = block_m * row_a, stage_bytes = tile_a + block_k * row_b;
constexpr int shared_bytes = stages * stage_bytes;  // 96 KiB: every GPU from sm_80 on has as much
constexpr int row_c = warp_n + 8;                   // elements; C lies where the stages were
static_assert(block_m * warps_n * row_c * 2 <= shared_bytes, "C fits where the stages were");

// Bytes from the start of a stage to a chunk of 16. Eight rows of it cover all banks; of A, two rows share
// 128 bytes.
__device__ int chunk_of_a(int row, int chunk) {
  return row * row_a + (chunk ^ row / 2 % 4) * 16;
}
__device__ int chunk_of_b(int k, int chunk) {
  return tile_a + k * row_b + (chunk ^ k % 8) * 16;
}

template <bool odd_k, bool odd_n>
__global__ void __launch_bounds__(threads, 1) gemm_kernel(Gemm p, TileOrder<8> order) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / warps_n * warp_m, warp_col = warp % warps_n * warp_n;
  const int2 tile = order.tile(blockIdx.x);
  const int row0 = tile.x * block_m, col0 = tile.y * block_n;

  // Global -> shared. What finish() stores has the time of the MMAs in between to arrive.
  any_rows::TileCopy<odd_k, block_m, block_k, threads> copy_a;
  any_rows::TileCopy<odd_n, block_k, block_n, threads> copy_b;
  auto at_a = [&](int stage) {
    return [to = shared + stage * stage_bytes](int row, int k) {
      return reinterpret_cast<unsigned*>(to + chunk_of_a(row, k / 8) + k % 8 * 2);
    };
  };
  auto at_b = [&](int stage) {
    return [to = shared + stage * stage_bytes](int k, int col) {
      return reinterpret_cast<unsigned*>(to + chunk_of_b(k, col / 8) + col % 8 * 2);
    };
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

  // Shared -> registers -> tensor cores, with the fragments of both steps of a k-tile.
  float accumulator[mmas_m][mmas_n][4] = {};
  auto multiply = [&](int stage) {
    unsigned a[steps][mmas_m][4], b[steps][mmas_n / 2][4];
    const ptx::SharedAddress from = ptx::shared_address(shared) + stage * stage_bytes;
    auto load = [&](int step, int i) {
      const int row = lane % 16, chunk = lane / 16;
      ptx::ldmatrix_x4(a[step][i], from + chunk_of_a(warp_row + i * 16 + row, step * 2 + chunk));
      ptx::ldmatrix_x4_trans(b[step][i], from + chunk_of_b(step * 16 + row, warp_col / 8 + i * 2 + chunk));
    };
#pragma unroll
    for (int i = 0; i < mmas_m; ++i) load(0, i);
#pragma unroll
    for (int step = 0; step < steps; ++step)
#pragma unroll
      for (int i = 0; i < mmas_m; ++i) {
        if (step + 1 < steps) load(step + 1, i);
#pragma unroll
        for (int x = 0; x < mmas_n; ++x) {
          const int j = i % 2 == 1 ? mmas_n - 1 - x : x;
          const unsigned(&two)[4] = b[step][j / 2];
          ptx::mma_m16n8k16(accumulator[i][j], a[step][i], {two[j % 2 * 2], two[j % 2 * 2 + 1]});
        }
      }
  };
  static_assert(mmas_n == 2 * mmas_m, "as many ldmatrix.x4 of B, two fragments each, as of A");

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

  auto* const tile_c = reinterpret_cast<unsigned*>(shared) + warp * warp_m * row_c / 2;  // words: pairs
#pragma unroll
  for (int i = 0; i < mmas_m; ++i)
#pragma unroll
    for (int j = 0; j < mmas_n; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float* const from = &accumulator[i][j][half * 2];
        const __nv_bfloat162 pair = __floats2bfloat162_rn(from[0], from[1]);
        tile_c[(i * 16 + half * 8 + lane / 4) * row_c / 2 + j * 4 + lane % 4] =
            reinterpret_cast<const unsigned&>(pair);
      }
  __syncwarp();
  const int rows = min(p.m - row0 - warp_row, warp_m), col = col0 + warp_col;
  if (col >= p.n) return;
  for (int row = 0; row < rows; ++row)
    any_rows::store_64(p.c + std::size_t(row0 + warp_row + row) * p.n + col, tile_c[row * row_c / 2 + lane],
                       p.n - col);
}

template <bool odd_k, bool odd_n>
cudaError_t launch_odd(const Gemm& p, cudaStream_t stream) {
  auto* kernel = gemm_kernel<odd_k, odd_n>;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error != cudaSuccess) return error;
  const TileOrder<8> order(ceil_div(p.m, block_m), ceil_div(p.n, block_n));
  kernel<<<order.tiles, threads, shared_bytes, stream>>>(p, order);
  return cudaGetLastError();
}

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return the_rung().launch(p, stream);
  if (p.k % 2 != 0)
    return p.n % 2 != 0 ? launch_odd<true, true>(p, stream) : launch_odd<true, false>(p, stream);
  return p.n % 2 != 0 ? launch_odd<false, true>(p, stream) : launch_odd<false, false>(p, stream);
}

}  // namespace

Variants<Gemm> any_n_k() {
  return {{.name = "any_n_k", .what = "any n and k: copies as wide as rows are aligned", .launch = launch}};
}

}  // namespace ladder::rung_06
