// The rung with a k-tile half as long: 128x128x32 tiles, four stages, four warps of 64x64, and rows of 64
// bytes in shared memory, for which the swizzle is another one. It shows in one screen what gemm.cu does with
// larger tiles, persistent CTAs and a second set of fragments.
#include "06_swizzle_ldmatrix/tiles.cuh"
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/mma.cuh"
#include "common/rung.h"

namespace ladder::rung_06 {
namespace {

constexpr int block_m = 128, block_n = 128, block_k = 32, stages = 4, threads = 128;
constexpr int warp_m = 64, warp_n = 64, warps_n = block_n / warp_n;
constexpr int mmas_m = warp_m / 16, mmas_n = warp_n / 8, steps = block_k / 16;  // of m16n8k16
constexpr int vector = 8, chunk_bytes = 16;  // a chunk: what a cp.async copies, a row of an 8x8 matrix

// Shared memory is made of boxes of 32 rows of 64 bytes, four chunks. All threads copy a box with one
// instruction each. A's tile is four boxes, one below the other, with k along the rows; B's is four boxes
// side by side, each k-tile x 32 columns, with n along the rows.
constexpr int row_bytes = 64, chunks = row_bytes / chunk_bytes, box_rows = threads / chunks;
constexpr int box_cols = row_bytes / 2, box_bytes = box_rows * row_bytes;
constexpr int boxes_a = block_m / box_rows, boxes_b = block_n / box_cols;
constexpr int stage_bytes = (boxes_a + boxes_b) * box_bytes, shared_bytes = stages * stage_bytes;
static_assert(box_cols == block_k && box_rows == block_k,
              "a row of A and a column of B's boxes are a k-tile");

// The 64-byte swizzle. Two rows fill all 32 banks: rows r and r + 2 would have chunk c in the same four.
// Chunk c of row r therefore lies at c ^ (r / 2) % 4: a matrix, the same chunk of 8 rows, meets four places
// of the even rows, in one half of the banks, and four of the odd ones, in the other. (With the c ^ r % 4
// that a row of 64 bytes seems to need, rows r and r + 4 would collide.) Eight lanes that copy write two
// whole rows, in whatever order: all banks.
__device__ int chunk_offset(int row, int chunk) {
  return row * row_bytes + (chunk ^ row / 2 % chunks) * chunk_bytes;
}

// Global -> shared: this thread's chunk of each box of the k-tile at k0, zeros past the edges of A and B.
__device__ void copy_k_tile(const Gemm& p, int row0, int col0, int k0, ptx::SharedAddress stage) {
  const int row = threadIdx.x / chunks, chunk = threadIdx.x % chunks, along = chunk * vector;
  const ptx::SharedAddress to = stage + chunk_offset(row, chunk);
#pragma unroll
  for (int box = 0; box < boxes_a; ++box) {
    const int m = row0 + box * box_rows + row, k = k0 + along;
    const bool inside = m < p.m && k < p.k;
    ptx::cp_async_16(to + box * box_bytes, p.a + std::size_t(m) * p.k + k, inside ? 16 : 0);
  }
#pragma unroll
  for (int box = 0; box < boxes_b; ++box) {
    const int k = k0 + row, n = col0 + box * box_cols + along;
    const bool inside = k < p.k && n < p.n;
    ptx::cp_async_16(to + (boxes_a + box) * box_bytes, p.b + std::size_t(k) * p.n + n, inside ? 16 : 0);
  }
}

// Shared -> registers -> tensor cores: a warp's share of a k-tile. Lane l gives the address of row l % 8 of
// ldmatrix's matrix l / 8; the four come out as a[0..3] of an mma, and as b[0..1] of two.
__device__ void multiply_k_tile(float (&accumulator)[mmas_m][mmas_n][4], ptx::SharedAddress stage,
                                int warp_row, int warp_col) {
  const int row = threadIdx.x % 16, chunk = threadIdx.x % 32 / 16;
  const ptx::SharedAddress of_a = stage + warp_row * row_bytes;
  const ptx::SharedAddress of_b = stage + (boxes_a + warp_col / box_cols) * box_bytes;
#pragma unroll
  for (int step = 0; step < steps; ++step) {
    unsigned a[mmas_m][4], b[mmas_n / 2][4];
#pragma unroll
    for (int i = 0; i < mmas_m; ++i)
      ptx::ldmatrix_x4(a[i], of_a + chunk_offset(i * 16 + row, step * 2 + chunk));
#pragma unroll
    for (int j = 0; j < mmas_n / 2; ++j)  // two columns of MMAs, 32 bytes: half the width of a box
      ptx::ldmatrix_x4_trans(b[j],
                             of_b + j / 2 * box_bytes + chunk_offset(step * 16 + row, j % 2 * 2 + chunk));
#pragma unroll
    for (int i = 0; i < mmas_m; ++i)
#pragma unroll
      for (int j = 0; j < mmas_n; ++j)
        ptx::mma_m16n8k16(accumulator[i][j], a[i], {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]});
  }
}

__global__ void __launch_bounds__(threads) gemm_kernel(Gemm p, TileOrder<8> order) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int2 tile = order.tile(blockIdx.x);
  const int row0 = tile.x * block_m, col0 = tile.y * block_n;
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / warps_n * warp_m, warp_col = warp % warps_n * warp_n;
  const int tiles_k = ceil_div(p.k, block_k);
  auto stage_of = [&](int t) { return ptx::shared_address(shared) + t % stages * stage_bytes; };
  // A k-tile is a group of copies. Behind the last k-tile the group is empty, so that the wait below always
  // leaves the same number of groups in flight.
  auto issue = [&](int t) {
    if (t < tiles_k) copy_k_tile(p, row0, col0, t * block_k, stage_of(t));
    ptx::cp_async_commit_group();
  };

  for (int t = 0; t < stages - 1; ++t) issue(t);
  float accumulator[mmas_m][mmas_n][4] = {};
  for (int t = 0; t < tiles_k; ++t) {
    ptx::cp_async_wait_group<stages - 2>();  // this thread's copies of k-tile t have landed
    __syncthreads();        // every thread's have, and all warps have finished with k-tile t - 1
    issue(t + stages - 1);  // into the stage of k-tile t - 1
    multiply_k_tile(accumulator, stage_of(t), warp_row, warp_col);
  }
  store_tile(accumulator, p, row0 + warp_row, col0 + warp_col);
}

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  const cudaError_t error =
      cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error != cudaSuccess) return error;
  const TileOrder<8> order(ceil_div(p.m, block_m), ceil_div(p.n, block_n));
  gemm_kernel<<<order.tiles, threads, shared_bytes, stream>>>(p, order);
  return cudaGetLastError();
}

Text whole_vectors(const Gemm& p) {
  if (p.n % vector == 0 && p.k % vector == 0) return {};
  return "n and k must be multiples of 8 (--variant any_n_k takes others)";
}

}  // namespace

Variants<Gemm> four_stages() {
  return {{.name = "128x128x32_4_stages",
           .what = "128x128x32 tiles, four stages, rows of 64 bytes and the swizzle for them",
           .unsupported = whole_vectors,
           .launch = launch}};
}

}  // namespace ladder::rung_06
