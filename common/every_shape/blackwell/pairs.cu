// The rung's kernel with what gemm.cu leaves out: a tile of half the width, an order of tiles that turns
// round, a start without a cluster barrier that orders memory, and early launch. What loads, multiplies and
// stores is as there, and so is who waits for whom.
#include "09_tcgen05/tiles.cuh"
#include "common/every_shape/blackwell/launches.h"
#include "common/ptx/dependent_launch.cuh"
#include "common/ptx/elect.cuh"
#include "common/ptx/tcgen05.cuh"

namespace ladder::every_shape {
namespace {

using ptx::SharedAddress;
using ptx::SharedMatrix;
using ptx::Swizzle;
using ptx::TensorAddress;

constexpr int warp_size = 32;
constexpr int element = sizeof(__nv_bfloat16), mma_k = 16;  // bytes; elements of k in an MMA
constexpr unsigned short both_ctas = 3;                     // of the CTA pair, as a mask

template <int tile_n_, bool serpentine_>
struct Config {
  static constexpr bool serpentine = serpentine_;
  static constexpr Schedule schedule = Schedule::launch_control;
  static constexpr int ctas = 2, stages = tile_n_ == 256 ? 6 : 8;
  static constexpr int group_m = 8;  // rows of tiles that neighbouring clusters share
  // The CTA pair's tile of C. A CTA has half of its rows, and loads these of A and half of B's columns.
  static constexpr int tile_m = 256, tile_n = tile_n_, block_m = tile_m / ctas, block_n = tile_n / ctas;
  static constexpr int block_k = 64;
  using Mma = ptx::MmaDescriptor<ctas, ptx::MmaKind::f16, tile_m, tile_n, ptx::Major::k, ptx::Major::mn>;

  // A is one box; B, whose rows run along n, is boxes of block_k rows and 64 columns.
  static constexpr int row = 128, box_cols = row / element;  // bytes, elements of a box's row
  static constexpr int box_b = block_k * row, boxes_b = block_n / box_cols;
  static constexpr int tile_a = block_m * row, tile_b = boxes_b * box_b, stage_bytes = tile_a + tile_b;

  static constexpr int accumulators = 2, columns = accumulators * tile_n;  // of tensor memory's 512
  static constexpr int epilogue_first = 4, epilogue_warps = 4;
  static constexpr int threads = (epilogue_first + epilogue_warps) * warp_size;
  static constexpr int box_c = warp_size * row;  // bytes that a warp stores at once: 32 rows of 64 columns

  struct Shared {
    alignas(1024) unsigned char buffer[stages][stage_bytes];  // 1024: where the swizzle's pattern repeats
    alignas(1024) unsigned char boxes[epilogue_warps][2][box_c];
    ptx::Mbarrier full[stages], empty[stages];
    ptx::Mbarrier accumulator_full[accumulators], accumulator_empty[accumulators];
    Responses responses;
    TensorAddress tensor_memory;
  };
  static constexpr int shared_bytes = sizeof(Shared) + 1024;  // to align it
  static_assert(shared_bytes <= 227 * 1024, "the most that a CTA can have");
  static_assert(block_k == box_cols, "A's tile is one box");
};

struct Operands {
  CUtensorMap a{}, b{}, c{};
  int m, n, tiles_k;
};

// The tiles of a cluster, in the rung's order or serpentine: every second group of rows goes through the
// columns from the right. So it begins with the columns of B with which the group before has ended, and which
// are still in L2.
template <class C>
class Order : public Tiles<C> {
 public:
  __device__ Order(int tiles_m, int tiles_n, Responses& responses)
      : Tiles<C>(tiles_m, tiles_n, responses), end_(tiles_n * C::tile_n) {}
  __device__ int col() const {
    const int col = Tiles<C>::col();
    if constexpr (!C::serpentine) return col;
    return this->row() / (C::group_m * C::tile_m) % 2 == 0 ? col : end_ - C::tile_n - col;
  }

 private:
  int end_;  // of the last column of tiles
};

// Global -> shared, by one thread of each CTA.
template <class C>
__device__ void load(typename C::Shared& shared, const Operands& p, int rank, Order<C> tiles) {
  Stage<C::stages> stage;
  for (; tiles.valid(); tiles.advance()) {
    const int m = tiles.row() + rank * C::block_m, n = tiles.col() + rank * C::block_n;
    for (int t = 0; t < p.tiles_k; ++t, stage.advance()) {
      const SharedAddress full = stage.of(shared.full), leader_full = ptx::cluster_address(full, 0);
      const SharedAddress to_a = stage.of(shared.buffer), to_b = to_a + C::tile_a;
      // Parity 1 first: the phase before the first counts as complete, so the stages start out empty.
      ptx::mbarrier_wait(stage.of(shared.empty), stage.parity ^ 1);
      // The leader's barrier counts the bytes of both CTAs; the peer's may arrive before this.
      if (rank == 0) ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes * C::ctas);
      const int k = t * C::block_k;
      ptx::tma_load_of_cta_pair(to_a, p.a, k, m, leader_full);
#pragma unroll
      for (int box = 0; box < C::boxes_b; ++box)
        ptx::tma_load_of_cta_pair(to_b + box * C::box_b, p.b, n + box * C::box_cols, k, leader_full);
    }
  }
  // The CTA may not exit before the last commits have arrived at its barriers: until all stages are empty.
  for (int s = 0; s < C::stages; ++s, stage.advance())
    ptx::mbarrier_wait(stage.of(shared.empty), stage.parity ^ 1);
}

// Shared -> accumulators in tensor memory, by one thread of the leader for both CTAs.
template <class C>
__device__ void multiply(typename C::Shared& shared, const Operands& p, TensorAddress memory,
                         Order<C> tiles) {
  Stage<C::stages> stage;
  Stage<C::accumulators> accumulator;
  for (; tiles.valid(); tiles.advance(), accumulator.advance()) {
    // Parity 1 first: the accumulators start out empty.
    ptx::mbarrier_wait(accumulator.of(shared.accumulator_empty), accumulator.parity ^ 1);
    ptx::tcgen05_fence_after();  // orders the MMAs after the wait
    const TensorAddress to = memory + accumulator.index * C::tile_n;
    for (int t = 0; t < p.tiles_k; ++t, stage.advance()) {
      ptx::mbarrier_wait(stage.of(shared.full), stage.parity);
      ptx::tcgen05_fence_after();
      const SharedAddress from_a = stage.of(shared.buffer), from_b = from_a + C::tile_a;
      const SharedMatrix a(from_a, 0, 8 * C::row, Swizzle::bytes128);
      const SharedMatrix b(from_b, C::box_b, 8 * C::row, Swizzle::bytes128);
#pragma unroll
      for (int k0 = 0; k0 < C::block_k; k0 += mma_k)
        ptx::tcgen05_mma<C::ctas, ptx::MmaKind::f16>(to, a + k0 * element, b + k0 * C::row, C::Mma::bits,
                                                     t > 0 || k0 > 0);
      ptx::tcgen05_commit<C::ctas>(stage.of(shared.empty), both_ctas);
    }
    ptx::tcgen05_commit<C::ctas>(accumulator.of(shared.accumulator_full), both_ctas);
  }
}

// A row of 64 columns in bf16 to its place in a box of C: 16-byte chunks, swizzled as TMA expects them.
__device__ void store_row(unsigned char* box, int at, const float (&values)[2][32]) {
  constexpr int row = 64 * element;  // bytes
#pragma unroll
  for (int chunk = 0; chunk < 8; ++chunk) {
    uint4 bits;
    unsigned* const words = &bits.x;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const int j = chunk * 8 + w * 2;
      const __nv_bfloat162 pair = __floats2bfloat162_rn(values[j / 32][j % 32], values[j / 32][j % 32 + 1]);
      words[w] = reinterpret_cast<const unsigned&>(pair);
    }
    *reinterpret_cast<uint4*>(box + at * row + (chunk ^ at % 8) * 16) = bits;
  }
}

// Accumulators -> registers -> shared -> C, by four warps, each with 32 rows of the tile: 64 columns at a
// time through two boxes in turn.
template <class C>
__device__ void epilogue(typename C::Shared& shared, const Operands& p, int rank, TensorAddress memory,
                         Order<C> tiles) {
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size % C::epilogue_warps;
  auto(&boxes)[2][C::box_c] = shared.boxes[warp];
  Stage<C::accumulators> accumulator;
  int next_box = 0;
  auto broadcast = [](int value) { return __shfl_sync(~0u, value, 0); };  // lane 0 walks through the tiles
  while (broadcast(tiles.valid())) {
    const int tile_row = broadcast(tiles.row()) + rank * C::block_m + warp * warp_size;
    const int tile_col = broadcast(tiles.col());
    ptx::mbarrier_wait(accumulator.of(shared.accumulator_full), accumulator.parity);
    ptx::tcgen05_fence_after();  // orders the loads after the wait
    const TensorAddress from = memory + (warp * warp_size << 16) + accumulator.index * C::tile_n;
    for (int col = 0; col < C::tile_n; col += C::box_cols) {
      float values[2][32];
      ptx::tcgen05_load(values[0], from + col);
      ptx::tcgen05_load(values[1], from + col + 32);
      ptx::tcgen05_wait_load(values);
      if (col + C::box_cols == C::tile_n) {
        ptx::tcgen05_fence_before();  // orders the loads before the arrival
        __syncwarp();                 // the whole warp has read the accumulator
        if (lane == 0) ptx::mbarrier_arrive(accumulator.of(shared.accumulator_empty), 0);
      }

      if (lane == 0) ptx::bulk_wait_group_read<1>();
      __syncwarp();  // TMA has read this box
      store_row(boxes[next_box], lane, values);
      ptx::fence_proxy_async();  // threads have written, TMA will read
      __syncwarp();              // the box is complete
      if (lane == 0) {
        ptx::tma_store(p.c, tile_col + col, tile_row, ptx::shared_address(boxes[next_box]));
        ptx::bulk_commit_group();
      }
      next_box ^= 1;
    }
    if (lane == 0) tiles.advance();
    accumulator.advance();
  }
  if (lane == 0) ptx::bulk_wait_group_read<0>();  // shared memory lives until then
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1) pairs_kernel(const __grid_constant__ Operands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  // The shuffle tells the compiler that all threads of the warp have the same value.
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0), rank = ptx::cluster_rank();

  if (warp == C::epilogue_first && ptx::elect_one()) {
    ptx::prefetch_tensor_map(p.a);
    ptx::prefetch_tensor_map(p.b);
    ptx::prefetch_tensor_map(p.c);
    init_barriers(shared.full, 1);   // one arrival, and the bytes
    init_barriers(shared.empty, 1);  // one commit
    init_barriers(shared.accumulator_full, 1);
    init_barriers(shared.accumulator_empty, C::epilogue_warps * C::ctas);
    init_barriers(shared.responses.full, 1);
    // The warps that load and store in each CTA, and the one that multiplies.
    init_barriers(shared.responses.empty, (1 + C::epilogue_warps) * C::ctas + 1);
    ptx::fence_mbarrier_init();
  }
  // Its constructor has a barrier of the cluster, behind which both CTAs' mbarriers are initialised; so has
  // its destructor, behind which no CTA accesses its peer. Behind the allocation it has only a barrier
  // of the CTA: `true` is for that.
  const ptx::TensorMemory<C::ctas, C::columns, true> memory(shared.tensor_memory);
  const Order<C> tiles(ceil_div(p.m, C::tile_m), ceil_div(p.n, C::tile_n), shared.responses);
  ptx::let_next_grid_start();
  ptx::wait_for_previous_grid();  // it may have written A and B, and read C

  if (warp == 0) {
    if (ptx::elect_one()) load<C>(shared, p, rank, tiles);
  } else if (warp == 1) {
    if (rank == 0 && ptx::elect_one()) multiply<C>(shared, p, memory.address(), tiles);
  } else if (warp == 2) {
    if (rank == 0 && ptx::elect_one()) schedule<C>(shared.responses);
  } else if (warp >= C::epilogue_first) {
    epilogue<C>(shared, p, rank, memory.address(), tiles);
  }
}

template <class C>
cudaError_t launch(const Gemm& p, cudaStream_t stream, bool early_start) {
  auto* const kernel = pairs_kernel<C>;
  Operands operands{.m = p.m, .n = p.n, .tiles_k = ceil_div(p.k, C::block_k)};
  constexpr Swizzle swizzle = Swizzle::bytes128;
  cudaError_t error = ptx::make_tensor_map(&operands.a, p.a, p.m, p.k, C::block_m, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.b, p.b, p.k, p.n, C::block_k, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.c, p.c, p.m, p.n, warp_size, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error != cudaSuccess) return error;
  const Launch config(ceil_div(p.m, C::tile_m) * ceil_div(p.n, C::tile_n), C::ctas, C::threads,
                      C::shared_bytes, stream, early_start);
  return cudaLaunchKernelEx(&config.config, kernel, operands);
}

}  // namespace

cudaError_t launch_pairs(const Gemm& p, int tile_n, bool serpentine, cudaStream_t stream, bool early_start) {
  const auto launch_tile = tile_n == 128 ? launch<Config<128, false>>
                           : serpentine  ? launch<Config<256, true>>
                                         : launch<Config<256, false>>;
  return launch_tile(p, stream, early_start);
}

}  // namespace ladder::every_shape
