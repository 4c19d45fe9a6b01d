// The rung with a sparse A: of every four neighbours along k two are stored, and wgmma.sp multiplies 32 of k
// in the time of 16. TMA loads A's stored elements and B as before; a bulk copy adds the metadata, which
// threads load into registers, since the instruction takes them from there. B is whole: in the same time
// twice as much of it has to arrive. So a tile is high, and narrow enough that the accumulators fit.
#include "07_wgmma_tma/precision/compressed.h"
#include "07_wgmma_tma/precision/epilogue.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/wgmma_sparse.cuh"

namespace ladder::rung_07 {
namespace {

using ptx::SharedAddress;
using ptx::Swizzle;

constexpr int mma_k = 32;  // of a wgmma.sp, with what is not stored

// block_k counts what is not stored, too. A row of A has block_k / 2 elements, block_k bytes: that is A's
// swizzle. Each warpgroup has 64 rows of the tile.
template <int block_m_, int block_n_, int block_k_, int stages_>
struct Config {
  static constexpr int block_m = block_m_, block_n = block_n_, block_k = block_k_, stages = stages_;
  static constexpr int warpgroups = block_m / mma_m, threads = warpgroups * warpgroup_size;
  static constexpr Swizzle swizzle_a{block_k};
  static constexpr int row_a = block_k, row_b = 128, box_b = block_k * row_b;  // bytes
  static constexpr int tile_a = block_m * row_a, boxes_b = block_n * element / row_b,
                       tile_b = boxes_b * box_b;
  static constexpr int strip = block_k / 64 * Compressed::words * 4;  // bytes of metadata, of 64 rows
  static constexpr int stage_bytes = tile_a + tile_b + warpgroups * strip;
  static constexpr int stage_pitch = (stage_bytes + 1023) / 1024 * 1024;  // a multiple of the pattern
  static constexpr int shared_bytes = stages * stage_pitch + 1024;        // to align it
  static constexpr int group_m = 8;  // rows of CTA tiles that neighbouring CTAs share
  static_assert(block_k == 64 || block_k == 128, "a row of A is a row of a swizzle");
  static_assert(stages * stage_pitch >= block_m * block_n * element, "the epilogue reuses the buffer for C");
};

struct SparseOperands {
  CUtensorMap a, b, c;
  const unsigned* metadata;
  int blocks;  // of metadata, along k
};

template <class C>
__global__ void __launch_bounds__(C::threads, 1)
    sparse_kernel(const __grid_constant__ SparseOperands p, int tiles_k, int tiles_m, int tiles_n) {
  extern __shared__ unsigned char unaligned[];
  __shared__ ptx::Mbarrier full_barriers[C::stages], empty_barriers[C::stages];
  unsigned char* const buffer = unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024;
  const int per_group = C::group_m * tiles_n, first = blockIdx.x / per_group * C::group_m;  // as in gemm.cu
  const int rows = min(tiles_m - first, C::group_m), i = blockIdx.x % per_group;
  const int row0 = (first + i % rows) * C::block_m, col0 = i / rows * C::block_n;
  const int warpgroup = threadIdx.x / warpgroup_size;

  auto full = [&](int k_tile) { return ptx::shared_address(&full_barriers[k_tile % C::stages]); };
  auto empty = [&](int k_tile) { return ptx::shared_address(&empty_barriers[k_tile % C::stages]); };
  auto load = [&](int t) {  // global -> shared, by one thread
    const SharedAddress to = ptx::shared_address(buffer) + t % C::stages * C::stage_pitch;
    const SharedAddress to_b = to + C::tile_a, to_metadata = to_b + C::tile_b;
    ptx::mbarrier_arrive_expect_bytes(full(t), C::stage_bytes);
    ptx::tma_load(to, p.a, t * C::block_k / 2, row0, full(t));
    for (int box = 0; box < C::boxes_b; ++box)
      ptx::tma_load(to_b + box * C::box_b, p.b, col0 + box * 64, t * C::block_k, full(t));
    // No tensor and no bounds: the workspace has metadata for whole tiles.
    for (int w = 0; w < C::warpgroups; ++w) {
      const std::size_t block = std::size_t(row0 / mma_m + w) * p.blocks + t * (C::block_k / 64);
      ptx::bulk_load(to_metadata + w * C::strip, p.metadata + block * Compressed::words, C::strip, full(t));
    }
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(full(s), 1);
      ptx::mbarrier_init(empty(s), C::threads / warp_size);
    }
    ptx::fence_mbarrier_init();
    for (int t = 0; t < min(C::stages, tiles_k); ++t) load(t);
  }
  __syncthreads();

  float accumulator[C::block_n / 8][4] = {};
  ptx::keep_accumulators(accumulator);
  // A word of metadata covers 64 of k, two MMAs: the selector says which lanes of every four supply it. MMAs
  // read it when they run, not when they are issued, so a k-tile's words are not overwritten before its MMAs
  // have been waited for: there are two sets, in turn.
  unsigned metadata[2][C::block_k / 64] = {};
  auto step = [&](int t, unsigned(&words)[C::block_k / 64]) {
    ptx::mbarrier_wait(full(t), t / C::stages % 2);
    const SharedAddress stage = ptx::shared_address(buffer) + t % C::stages * C::stage_pitch;
    const SharedAddress of_group = stage + C::tile_a + C::tile_b + warpgroup * C::strip;
#pragma unroll
    for (int block = 0; block < C::block_k / 64; ++block)
      ptx::load_metadata(
          words[block],
          of_group + (block * Compressed::words + threadIdx.x % warpgroup_size) * sizeof(unsigned), tiles_k);
    ptx::wgmma_fence();
    const SharedAddress from_b = stage + C::tile_a;
    const ptx::MatrixDescriptor a(stage + warpgroup * mma_m * C::row_a, 0, 8 * C::row_a, C::swizzle_a);
    const ptx::MatrixDescriptor b(from_b, C::box_b, 8 * C::row_b, Swizzle::bytes128);
    // 32 of k are 16 stored elements of A, 32 bytes of a row; of B they are 32 rows.
#pragma unroll
    for (int k0 = 0; k0 < C::block_k; k0 += 2 * mma_k) {
      ptx::wgmma_sp_m64k32<ptx::Major::mn, 0>(accumulator, a + k0, b + k0 * C::row_b, words[k0 / 64]);
      ptx::wgmma_sp_m64k32<ptx::Major::mn, 1>(accumulator, a + (k0 + mma_k), b + (k0 + mma_k) * C::row_b,
                                              words[k0 / 64]);
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();  // the MMAs of k-tile t - 1: TMA can refill its stage
    if (t == 0 || t - 1 + C::stages >= tiles_k) return;
    __syncwarp();  // every lane has its metadata of that stage: one lane arrives for the warp
    if (threadIdx.x % warp_size == 0) ptx::mbarrier_arrive(empty(t - 1));
    if (threadIdx.x != 0) return;
    ptx::mbarrier_wait(empty(t - 1), (t - 1) / C::stages % 2);
    load(t - 1 + C::stages);
  };
  for (int t = 0; t < tiles_k; t += 2) {
    step(t, metadata[0]);
    if (t + 1 < tiles_k) step(t + 1, metadata[1]);
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_accumulators(accumulator);

  __syncthreads();  // no warpgroup's MMAs read the buffer any more
  store_accumulator<C::block_n>(accumulator,
                                ptx::shared_address(buffer) + warpgroup * mma_m * C::block_n * element, p.c,
                                row0 + warpgroup * mma_m, col0);
}

template <class C>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  const Compressed from(p);
  SparseOperands operands{{}, {}, {}, from.metadata, from.blocks};
  const auto kernel = sparse_kernel<C>;
  auto error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.a, from.a, p.m, from.pitch_a, C::block_m, C::block_k / 2,
                                 C::swizzle_a);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.b, from.b, p.k, p.n, C::block_k, 64, Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.c, p.c, p.m, p.n, mma_m, 64, Swizzle::bytes128);
  if (error != cudaSuccess) return error;
  const int tiles_m = ceil_div(p.m, C::block_m), tiles_n = ceil_div(p.n, C::block_n);
  kernel<<<unsigned(tiles_m) * unsigned(tiles_n), C::threads, C::shared_bytes, stream>>>(
      operands, ceil_div(p.k, C::block_k), tiles_m, tiles_n);
  return cudaGetLastError();
}

Text whole_vectors(const Gemm& p) {
  if (p.n % 8 == 0) return {};
  return "n must be a multiple of 8: TMA takes rows of B and C in units of 16 bytes";
}

constexpr Extension<Gemm> two_of_four{
    .precision = Precision::bf16_sparse, .workspace_bytes = compressed_bytes, .prepare = compress};

template <class C>
Variant<Gemm> variant(const char* name, const char* what) {
  return {.name = name,
          .what = what,
          .unsupported = whole_vectors,
          .launch = launch<C>,
          .extension = &two_of_four};
}

}  // namespace

Variants<Gemm> sparse() {
  return {
      variant<Config<128, 256, 64, 5>>("bf16_sparse_128x256", "2:4 sparse A: the rung's tile, k-tiles of 64"),
      variant<Config<256, 192, 64, 5>>("bf16_sparse_256x192", "2:4 sparse A: 256x192 tiles, k-tiles of 64"),
      variant<Config<256, 128, 128, 3>>("bf16_sparse", "2:4 sparse A by wgmma.sp: 256x128, k-tiles of 128")};
}

}  // namespace ladder::rung_07
