// A sparse A: of every four neighbours along k two are stored, and tcgen05.mma.sp multiplies 32 of k in the
// time of 16. As the variant warp_specialized, one CTA with one tile. The metadata come with a k-tile, by a
// bulk copy; tcgen05.cp copies them to tensor memory, and the MMAs read them there.
//
// Who waits for whom, all through mbarriers in shared memory:
//   load      empty of a stage: the MMAs and the copy that read it are complete (tcgen05.commit). They read
//             the stage's columns of metadata, too, which are overwritten after that
//   multiply  full of a stage: the bytes have arrived (TMA)
//   epilogue  accumulator_full: all MMAs are complete (tcgen05.commit)
#include "09_tcgen05/pipeline.cuh"
#include "09_tcgen05/precision/compressed.h"
#include "common/ptx/elect.cuh"
#include "common/ptx/tcgen05_sparse.cuh"

namespace ladder::rung_09 {
namespace {

constexpr int row = 128;                                                   // bytes of a box's row
constexpr int block_m = 128, block_n = 256, block_k = 128, sparse_k = 32;  // k with what is not stored
constexpr int stages = 2, group_m = 8;
constexpr int tile_a = block_m * row, box_b = block_k * row, boxes_b = block_n * element / row;
constexpr int tile_b = boxes_b * box_b, metadata_bytes = Compressed::words * 4;
constexpr int stage_bytes = tile_a + tile_b + metadata_bytes;
using Mma = ptx::MmaDescriptor<1, ptx::MmaKind::f16, block_m, block_n, ptx::Major::k, ptx::Major::mn>;
// Tensor memory: the accumulators, then for each stage a column of metadata for each of its MMAs.
constexpr int columns = 512, first_metadata = block_n, metadata_columns = block_k / sparse_k;
constexpr int epilogue_first = 4, epilogue_warps = 4, threads = (epilogue_first + epilogue_warps) * warp_size;
static_assert(first_metadata + stages * metadata_columns <= columns);

struct Shared {
  alignas(1024) unsigned char buffer[stages][(stage_bytes + 1023) / 1024 * 1024];  // the swizzle's pattern
  ptx::Mbarrier full[stages], empty[stages], accumulator_full;
  TensorAddress tensor_memory;
};
constexpr int shared_bytes = sizeof(Shared) + 1024;  // to align it
static_assert(shared_bytes <= 227 * 1024, "the most that a CTA can have");

struct SparseOperands {
  CUtensorMap a, b;
  const unsigned* metadata;
  __nv_bfloat16* c;
  int m, n, tiles_k;
};

// Global -> shared, by one thread.
__device__ void load(Shared& shared, const SparseOperands& p, int m, int n) {
  Stage<stages> stage;
  const unsigned* metadata = p.metadata + std::size_t(m / block_m) * p.tiles_k * Compressed::words;
  for (int t = 0; t < p.tiles_k; ++t, stage.advance(), metadata += Compressed::words) {
    const SharedAddress full = stage.of(shared.full);
    const SharedAddress to_a = stage.of(shared.buffer), to_b = to_a + tile_a;
    // Parity 1 first: the phase before the first counts as complete, so the stages start out empty.
    ptx::mbarrier_wait(stage.of(shared.empty), stage.parity ^ 1);
    ptx::mbarrier_arrive_expect_bytes(full, stage_bytes);
    ptx::tma_load(to_a, p.a, t * block_k / 2, m, full);
    for (int box = 0; box < boxes_b; ++box)
      ptx::tma_load(to_b + box * box_b, p.b, n + box * row / element, t * block_k, full);
    ptx::bulk_load(to_b + tile_b, metadata, metadata_bytes, full);
  }
  // The CTA may not exit before the last commits have arrived at its barriers: until all stages are empty.
  for (int s = 0; s < stages; ++s, stage.advance())
    ptx::mbarrier_wait(stage.of(shared.empty), stage.parity ^ 1);
}

// Shared -> tensor memory, the metadata; shared -> accumulator. By one thread.
__device__ void multiply(Shared& shared, const SparseOperands& p, TensorAddress memory) {
  Stage<stages> stage;
  for (int t = 0; t < p.tiles_k; ++t, stage.advance()) {
    ptx::mbarrier_wait(stage.of(shared.full), stage.parity);
    ptx::tcgen05_fence_after();
    const SharedAddress from_a = stage.of(shared.buffer), from_b = from_a + tile_a;
    const TensorAddress metadata = memory + first_metadata + stage.index * metadata_columns;
    // Ordered before the MMAs, since the same thread issues them. After the MMAs that last read these
    // columns, since they are complete: the stage was empty before it was filled.
    ptx::tcgen05_copy_columns(metadata, from_b + tile_b);
    const SharedMatrix a(from_a, 0, 8 * row, Swizzle::bytes128);
    const SharedMatrix b(from_b, box_b, 8 * row, Swizzle::bytes128);
    // 32 of k are 16 stored elements of A, 32 bytes of a row; of B they are 32 rows.
#pragma unroll
    for (int step = 0; step < metadata_columns; ++step)
      ptx::tcgen05_mma_sp(memory, a + step * sparse_k / 2 * element, b + step * sparse_k * row,
                          metadata + step / 2 * 2, ptx::sparse<Mma>(step % 2), t > 0 || step > 0);
    ptx::tcgen05_commit<1>(stage.of(shared.empty), 0);
  }
  ptx::tcgen05_commit<1>(ptx::shared_address(&shared.accumulator_full), 0);
}

// Accumulator -> registers -> C, by four warps with 32 rows each: a thread has a row, 64 bytes at a time.
__device__ void epilogue(Shared& shared, const SparseOperands& p, TensorAddress memory, int m, int n) {
  const int warp = threadIdx.x / warp_size % epilogue_warps,
            at = m + warp * warp_size + threadIdx.x % warp_size;
  ptx::mbarrier_wait(ptx::shared_address(&shared.accumulator_full), 0);
  ptx::tcgen05_fence_after();
  for (int col = 0; col < block_n; col += 32) {
    float values[1][32];
    ptx::tcgen05_load(values[0], memory + (warp * warp_size << 16) + col);
    ptx::tcgen05_wait_load(values);
#pragma unroll
    for (int chunk = 0; chunk < 4; ++chunk) {
      uint4 bits;
      unsigned* const words = &bits.x;
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const float* const from = &values[0][chunk * 8 + w * 2];
        const __nv_bfloat162 pair = __floats2bfloat162_rn(from[0], from[1]);
        words[w] = reinterpret_cast<const unsigned&>(pair);
      }
      const int to = n + col + chunk * 8;
      if (at < p.m && to < p.n) *reinterpret_cast<uint4*>(p.c + std::size_t(at) * p.n + to) = bits;
    }
  }
}

__global__ void __launch_bounds__(threads, 1) sparse_kernel(const __grid_constant__ SparseOperands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared =
      *reinterpret_cast<Shared*>(unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  // The shuffle tells the compiler that all threads of the warp have the same value.
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);
  if (warp == epilogue_first && ptx::elect_one()) {
    init_barriers(shared.full, 1);
    init_barriers(shared.empty, 1);
    ptx::mbarrier_init(ptx::shared_address(&shared.accumulator_full), 1);
    ptx::fence_mbarrier_init();
  }
  // Its constructor has a barrier of the CTA, after which the mbarriers are initialised.
  const ptx::TensorMemory<1, columns> memory(shared.tensor_memory);
  const int2 tile = tile_of_cluster(blockIdx.x, ceil_div(p.m, block_m), ceil_div(p.n, block_n), group_m);
  const int m = tile.x * block_m, n = tile.y * block_n;
  if (warp == 0) {
    if (ptx::elect_one()) load(shared, p, m, n);
  } else if (warp == 1) {
    if (ptx::elect_one()) multiply(shared, p, memory.address());
  } else if (warp >= epilogue_first) {
    epilogue(shared, p, memory.address(), m, n);
  }
}

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  const Compressed from(p);
  SparseOperands operands{{}, {}, from.metadata, p.c, p.m, p.n, from.tiles_k};
  constexpr Swizzle swizzle = Swizzle::bytes128;
  auto error = ptx::make_tensor_map(&operands.a, from.a, p.m, from.pitch_a, block_m, block_k / 2, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.b, from.b, p.k, p.n, block_k, row / element, swizzle);
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(sparse_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error != cudaSuccess) return error;
  const unsigned ctas = unsigned(ceil_div(p.m, block_m)) * unsigned(ceil_div(p.n, block_n));
  sparse_kernel<<<ctas, threads, shared_bytes, stream>>>(operands);
  return cudaGetLastError();
}

Text whole_vectors(const Gemm& p) {
  if (p.n % 8 == 0) return {};
  return "n must be a multiple of 8: rows of B and C are accessed in units of 16 bytes";
}

constexpr Extension<Gemm> two_of_four{
    .precision = Precision::bf16_sparse, .workspace_bytes = compressed_bytes, .prepare = compress};

}  // namespace

Variants<Gemm> sparse() {
  return {{.name = "bf16_sparse",
           .what = "2:4 sparse A by tcgen05.mma.sp, one CTA",
           .unsupported = whole_vectors,
           .launch = launch,
           .extension = &two_of_four}};
}

}  // namespace ladder::rung_09
