// The rung's tile without TMA. All 256 threads copy A and B with cp.async, 12 vectors each per k-tile, and do
// what TMA did: addresses, bounds, and the 128-byte swizzle that wgmma reads. cp.async writes through the
// generic proxy, as a store does, and wgmma reads through the async one. A thread whose copies have landed
// has to fence them before the barrier that hands the stage to the tensor cores; TMA needs no such fence.
#include "common/ptx/cp_async.cuh"
#include "common/ptx/wgmma.cuh"
#include "common/rung.h"

namespace ladder::rung_07 {
namespace {

using ptx::MatrixDescriptor;
using ptx::SharedAddress;

constexpr int warpgroup_size = 128, mma_m = 64, mma_k = 16;
constexpr int block_m = 128, block_n = 256, block_k = 64, stages = 4, threads = 256;
constexpr int element = sizeof(__nv_bfloat16), vector = 8;  // bf16 elements in 16 bytes, the size of a copy
constexpr int row_bytes = 128, box_cols = row_bytes / element;  // as TMA's boxes lie in shared memory
constexpr int box_b = block_k * row_bytes, tile_a = block_m * row_bytes, tile_b = block_n / box_cols * box_b;
constexpr int stage_bytes = tile_a + tile_b, shared_bytes = stages * stage_bytes + 1024;  // 1024 to align it
constexpr int group_m = 8;  // rows of CTA tiles that neighbouring CTAs share

// Where the swizzle puts a vector: chunk c of row r, both counted within a box, at c ^ r % 8. The pattern
// repeats after 8 rows, 1024 bytes, and a box starts at a multiple of that.
__device__ int swizzled(int row, int chunk) {
  return row * row_bytes + (chunk ^ row % 8) * 16;
}

__global__ void __launch_bounds__(threads, 1) gemm_kernel(Gemm p, int tiles_m, int tiles_n) {
  extern __shared__ unsigned char unaligned[];
  const SharedAddress buffer = (ptx::shared_address(unaligned) + 1023) / 1024 * 1024;
  const int per_group = group_m * tiles_n, first = blockIdx.x / per_group * group_m;  // as in gemm.cu
  const int rows = min(tiles_m - first, group_m), i = blockIdx.x % per_group;
  const int row0 = (first + i % rows) * block_m, col0 = i / rows * block_n, tiles_k = ceil_div(p.k, block_k);

  // Global -> shared: this thread's 4 vectors of A, 32 rows apart, and 8 of B, 8 rows apart. The distances
  // are multiples of 8 rows, so the swizzle moves all of a matrix's to the same chunk.
  const int a_row = threadIdx.x / 8, a_chunk = threadIdx.x % 8;
  const int b_row = threadIdx.x / 32, b_chunk = threadIdx.x % 32;
  auto load = [&](int k_tile) {
    if (k_tile < tiles_k) {
      const SharedAddress to = buffer + k_tile % stages * stage_bytes;
#pragma unroll
      for (int row = a_row; row < block_m; row += threads / 8) {
        const int k = k_tile * block_k + a_chunk * vector;
        const bool inside = row0 + row < p.m && k < p.k;
        ptx::cp_async_16(to + swizzled(row, a_chunk), p.a + std::size_t(row0 + row) * p.k + k,
                         inside ? 16 : 0);
      }
#pragma unroll
      for (int row = b_row; row < block_k; row += threads / 32) {
        const int k = k_tile * block_k + row, col = col0 + b_chunk * vector;
        const bool inside = k < p.k && col < p.n;
        ptx::cp_async_16(to + tile_a + b_chunk / 8 * box_b + swizzled(row, b_chunk % 8),
                         p.b + std::size_t(k) * p.n + col, inside ? 16 : 0);
      }
    }
    ptx::cp_async_commit_group();  // past the last k-tile, too: wait_group counts groups
  };

  // Shared -> tensor cores, with the rung's descriptors.
  const int warpgroup = threadIdx.x / warpgroup_size;
  float accumulator[block_n / 8][4] = {};
  auto multiply = [&](int stage) {
    const SharedAddress from_a = buffer + stage * stage_bytes, from_b = from_a + tile_a;
    const MatrixDescriptor a(from_a + warpgroup * mma_m * row_bytes, 0, 8 * row_bytes,
                             ptx::Swizzle::bytes128);
    const MatrixDescriptor b(from_b, box_b, 8 * row_bytes, ptx::Swizzle::bytes128);
#pragma unroll
    for (int k0 = 0; k0 < block_k; k0 += mma_k)
      ptx::wgmma_m64k16<ptx::Major::mn>(accumulator, a + k0 * element, b + k0 * row_bytes, true);
    ptx::wgmma_commit_group();
  };

  // One stage is read, the one before it may still be, and the copies into the other two are in flight.
  for (int t = 0; t < stages - 2; ++t) load(t);
  ptx::keep_accumulators(accumulator);
  for (int t = 0; t < tiles_k; ++t) {
    ptx::cp_async_wait_group<stages - 3>();  // this thread's vectors of k-tile t have landed
    ptx::fence_proxy_async();                // wgmma, in the async proxy, is to see them
    __syncthreads();  // all threads' have, fenced; and no warpgroup's MMAs read k-tile t - 2 any more
    ptx::wgmma_fence();
    multiply(t % stages);
    load(t + stages - 2);  // into the stage of k-tile t - 2, during the MMAs
    ptx::wgmma_wait_group<1>();
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_accumulators(accumulator);

  // Registers -> global, without a detour through shared memory: two neighbours of C in a store.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;  // a warp has 16 rows of the tile
#pragma unroll
  for (int j = 0; j < block_n / 8; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + warp * 16 + half * 8 + lane / 4, col = col0 + j * 8 + lane % 4 * 2;
      const float* const from = &accumulator[j][half * 2];
      const __nv_bfloat162 pair = __floats2bfloat162_rn(from[0], from[1]);
      if (row < p.m && col < p.n)
        *reinterpret_cast<__nv_bfloat162*>(p.c + std::size_t(row) * p.n + col) = pair;
    }
}

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  const cudaError_t error =
      cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error != cudaSuccess) return error;
  const int tiles_m = ceil_div(p.m, block_m), tiles_n = ceil_div(p.n, block_n);
  gemm_kernel<<<unsigned(tiles_m) * unsigned(tiles_n), threads, shared_bytes, stream>>>(p, tiles_m, tiles_n);
  return cudaGetLastError();
}

Text rows_of_vectors(const Gemm& p) {
  if (p.n % vector == 0 && p.k % vector == 0) return {};
  return "n and k must be multiples of 8 (--variant any_n_k takes others)";
}

}  // namespace

Variants<Gemm> cp_async() {
  return {{.name = "cp_async",
           .what = "all threads copy and swizzle with cp.async, no TMA",
           .unsupported = rows_of_vectors,
           .launch = launch}};
}

}  // namespace ladder::rung_07
