// Few rows: the transposed product, Cᵀ = Bᵀ·Aᵀ, and split-K. B's columns fill the 128 rows of an MMA, and
// A's rows are its n, so a tile is 128 columns of C and only as many rows as the problem has. The tensor core
// transposes B as it reads it. The CTAs of a cluster have the same tile, each with a part of k.
//
// The accumulator is transposed, too: a lane of tensor memory is a column of C, so a warp stores 32 columns
// of a row at once. Each CTA of the cluster owns an equal part of the tile's rows. Its peers send it their
// accumulators for these rows, and it reduces and stores them.
//
// Who waits for whom, all through mbarriers in shared memory:
//   load      empty of a stage: the MMAs that read it are complete (tcgen05.commit)
//   multiply  full of a stage: the bytes have arrived (TMA)
//   epilogue  accumulator_full: all MMAs are complete (tcgen05.commit)
//             combined: the rows that this CTA owns have arrived from its peers (st.async)
#include "09_tcgen05/pipeline.cuh"
#include "common/every_shape/blackwell/launches.h"
#include "common/ptx/dependent_launch.cuh"
#include "common/ptx/elect.cuh"

namespace ladder::every_shape {
namespace {

using namespace rung_09;

template <int rows_>
struct Config {
  static constexpr int rows = rows_, cols = 128, block_k = 64;  // of the tile of C, and of a k-tile
  using Mma = ptx::MmaDescriptor<1, ptx::MmaKind::f16, cols, rows, ptx::Major::mn, ptx::Major::k>;
  static constexpr int row = 128, box_cols = row / element;  // bytes, elements of a box's row
  static constexpr int box_b = block_k * row, boxes_b = cols / box_cols;
  static constexpr int tile_a = rows * row, tile_b = boxes_b * box_b, stage_bytes = tile_a + tile_b;
  static constexpr int load_warp = 4, multiply_warp = 5, threads = 6 * warp_size;  // warps 0 to 3: epilogue
  // The rows are owned and sent four at a time: 16 bytes of each column.
  static constexpr int groups = rows / 4;
  static constexpr int received_bytes = groups * cols * int(sizeof(float4));
  // What else is in shared memory: the mbarriers, and what aligns the swizzle's pattern.
  static constexpr int stages = (227 * 1024 - received_bytes - 2048) / stage_bytes;

  struct Shared {
    alignas(1024) unsigned char buffer[stages][stage_bytes];
    float4 received[groups][cols];  // by part, in the order of k: the groups that this CTA owns
    ptx::Mbarrier full[stages], empty[stages], accumulator_full, combined;
    TensorAddress tensor_memory;
  };
  static constexpr int shared_bytes = sizeof(Shared) + 1024;  // to align it
  static_assert(shared_bytes <= 227 * 1024, "the most that a CTA can have");
  static_assert(groups % transposed_most_parts == 0, "the CTAs of a cluster own equally many rows");
};

struct Operands {
  CUtensorMap a{}, b{};
  __nv_bfloat16* c;
  int m, n, tiles_k, parts;
};

// A CTA's tile, and its part of k in k-tiles: at least one, since there are no more parts than k-tiles.
struct Work {
  int row, col, part, first, end;
};

template <class C>
__device__ Work work_of(const Operands& p) {
  // Clusters that run at the same time go down the same columns of B, which then are in L2.
  const int tile = int(blockIdx.x) / p.parts, tiles_m = ceil_div(p.m, C::rows), part = ptx::cluster_rank();
  return {.row = tile % tiles_m * C::rows,
          .col = tile / tiles_m * C::cols,
          .part = part,
          .first = int(1ll * p.tiles_k * part / p.parts),
          .end = int(1ll * p.tiles_k * (part + 1) / p.parts)};
}

// Global -> shared, by one thread.
template <class C>
__device__ void load(typename C::Shared& shared, const Operands& p, const Work& work) {
  Stage<C::stages> stage;
  for (int t = work.first; t < work.end; ++t, stage.advance()) {
    const SharedAddress full = stage.of(shared.full);
    const SharedAddress to_a = stage.of(shared.buffer), to_b = to_a + C::tile_a;
    ptx::mbarrier_wait(stage.of(shared.empty), stage.parity ^ 1);  // the stages start out empty
    ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes);
    const int k = t * C::block_k;
    ptx::tma_load(to_a, p.a, k, work.row, full);
#pragma unroll
    for (int box = 0; box < C::boxes_b; ++box)
      ptx::tma_load(to_b + box * C::box_b, p.b, work.col + box * C::box_cols, k, full);
  }
  // The CTA may not exit before the last commits have arrived at its barriers: until all stages are empty.
  for (int s = 0; s < C::stages; ++s, stage.advance())
    ptx::mbarrier_wait(stage.of(shared.empty), stage.parity ^ 1);
}

// Shared -> accumulator, by one thread.
template <class C>
__device__ void multiply(typename C::Shared& shared, const Work& work, TensorAddress accumulator) {
  Stage<C::stages> stage;
  for (int t = work.first; t < work.end; ++t, stage.advance()) {
    ptx::mbarrier_wait(stage.of(shared.full), stage.parity);
    ptx::tcgen05_fence_after();  // orders the MMAs after the wait
    const SharedAddress from_a = stage.of(shared.buffer), from_b = from_a + C::tile_a;
    const SharedMatrix columns(from_b, C::box_b, 8 * C::row, Swizzle::bytes128);
    const SharedMatrix rows(from_a, 0, 8 * C::row, Swizzle::bytes128);
#pragma unroll
    for (int k0 = 0; k0 < C::block_k; k0 += mma_k)
      ptx::tcgen05_mma<1, ptx::MmaKind::f16>(accumulator, columns + k0 * C::row, rows + k0 * element,
                                             C::Mma::bits, t > work.first || k0 > 0);
    ptx::tcgen05_commit<1>(stage.of(shared.empty), 0);
  }
  ptx::tcgen05_commit<1>(ptx::shared_address(&shared.accumulator_full), 0);
}

// Accumulators -> the owners' shared memory, by four warps; a thread has a column of C. An owner is known
// only at run time, and registers cannot be indexed by it, but addresses can: so the CTA's own rows go
// through shared memory, too. A thread reads back only what it wrote itself, which needs no barrier.
template <class C>
__device__ void send(typename C::Shared& shared, const Work& work, int own_groups,
                     TensorAddress accumulator) {
  const int col = threadIdx.x, warp = threadIdx.x / warp_size;
  const int own_shift = 31 - __clz(own_groups);  // a power of two, and no division for each group
  const SharedAddress combined = ptx::shared_address(&shared.combined);
  ptx::mbarrier_wait(ptx::shared_address(&shared.accumulator_full), 0);
  ptx::tcgen05_fence_after();  // orders the loads after the wait
  for (int row = 0; row < C::rows; row += 32) {
    float values[1][32];
    ptx::tcgen05_load(values[0], accumulator + (warp * warp_size << 16) + row);
    ptx::tcgen05_wait_load(values);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int group = row / 4 + i, owner = group >> own_shift;
      float4* const to = &shared.received[(work.part - owner << own_shift) + group][col];
      const float(&four)[4] = reinterpret_cast<const float(&)[4]>(values[0][i * 4]);
      if (owner == work.part) {
        *to = make_float4(four[0], four[1], four[2], four[3]);
      } else {
        ptx::store_async(ptx::shared_address(to), four, combined, owner);
      }
    }
  }
}

// Shared -> C, by the same warps: the rows that this CTA owns. The parts are added in the order of k,
// whichever arrived first, so the result is the same in every run. A warp stores 64 bytes of a row, which are
// whole sectors. A CTA that waits for what its peers send cannot exit too early; what it has sent came from
// registers, so it need not wait for that to land.
template <class C>
__device__ void store(typename C::Shared& shared, const Operands& p, const Work& work, int own_groups) {
  const int col = work.col + int(threadIdx.x), row = work.row + work.part * own_groups * 4;
  const int rows = col < p.n ? p.m - row : 0;  // rows that lie in C
  __nv_bfloat16* to = p.c + std::size_t(row) * p.n + col;
  ptx::mbarrier_wait(ptx::shared_address(&shared.combined), 0);
  for (int group = 0; group < own_groups; ++group) {
    float4 sum = shared.received[group][threadIdx.x];
    for (int part = 1; part < p.parts; ++part) {
      const float4 next = shared.received[part * own_groups + group][threadIdx.x];
      sum = {sum.x + next.x, sum.y + next.y, sum.z + next.z, sum.w + next.w};
    }
    const float four[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
    for (int i = 0; i < 4; ++i, to += p.n)
      if (group * 4 + i < rows) *to = __float2bfloat16(four[i]);
  }
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1) transposed_kernel(const __grid_constant__ Operands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  // The shuffle tells the compiler that all threads of the warp have the same value.
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);
  const Work work = work_of<C>(p);

  if (warp == C::load_warp && ptx::elect_one()) {
    ptx::prefetch_tensor_map(p.a);
    ptx::prefetch_tensor_map(p.b);
    init_barriers(shared.full, 1);   // one arrival, and the bytes
    init_barriers(shared.empty, 1);  // one commit
    ptx::mbarrier_init(ptx::shared_address(&shared.accumulator_full), 1);
    ptx::mbarrier_init(ptx::shared_address(&shared.combined), 1);
    ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&shared.combined),
                                      C::received_bytes / p.parts * (p.parts - 1));
    ptx::fence_mbarrier_init();
  }
  __syncwarp();
  // The CTAs of the cluster have started and their mbarriers are initialised before one sends to another.
  // That needs no order of memory beyond fence_mbarrier_init(), so the barrier is the relaxed one.
  ptx::cluster_sync_relaxed();
  const ptx::TensorMemory<1, C::rows> memory(shared.tensor_memory);
  ptx::let_next_grid_start();
  ptx::wait_for_previous_grid();  // it may have written A and B, and read C

  if (warp == C::load_warp) {
    if (ptx::elect_one()) load<C>(shared, p, work);
  } else if (warp == C::multiply_warp) {
    if (ptx::elect_one()) multiply<C>(shared, work, memory.address());
  } else {
    send<C>(shared, work, C::groups / p.parts, memory.address());
    store<C>(shared, p, work, C::groups / p.parts);
  }
}

template <int rows>
cudaError_t launch(const Gemm& p, int parts, cudaStream_t stream, bool early_start) {
  using C = Config<rows>;
  auto* const kernel = transposed_kernel<C>;
  Operands operands{.c = p.c, .m = p.m, .n = p.n, .tiles_k = ceil_div(p.k, C::block_k), .parts = parts};
  constexpr Swizzle swizzle = Swizzle::bytes128;
  cudaError_t error = ptx::make_tensor_map(&operands.a, p.a, p.m, p.k, C::rows, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.b, p.b, p.k, p.n, C::block_k, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error != cudaSuccess) return error;
  const Launch config(ceil_div(p.m, C::rows) * ceil_div(p.n, C::cols), parts, C::threads, C::shared_bytes,
                      stream, early_start);
  return cudaLaunchKernelEx(&config.config, kernel, operands);
}

}  // namespace

cudaError_t launch_transposed(const Gemm& p, int rows, int parts, cudaStream_t stream, bool early_start) {
  const auto launch_rows = rows == 32 ? launch<32> : rows == 64 ? launch<64> : launch<128>;
  return launch_rows(p, parts, stream, early_start);
}

}  // namespace ladder::every_shape
