// Rung 09's kernel with what its gemm.cu leaves out: a tile of half the width, an order of tiles that turns
// round, a start without a cluster barrier that orders memory, and early launch. Loads, MMAs and epilogue are
// as there, and so are their waits.
#include "09_tcgen05/epilogue.cuh"
#include "common/every_shape/blackwell/launches.h"
#include "common/ptx/dependent_launch.cuh"
#include "common/ptx/elect.cuh"

namespace ladder::every_shape {
namespace {

using namespace rung_09;

template <int tile_n_, bool serpentine_>
struct Config {
  static constexpr bool serpentine = serpentine_;
  static constexpr int ctas = 2, stages = tile_n_ == 256 ? 6 : 8;
  static constexpr int group_m = 8;  // rows of tiles that neighbouring clusters share
  // The CTA pair's tile of C. A CTA has half of its rows, and loads those of A and half of B's columns.
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

// The tiles of a cluster, in rung 09's order or serpentine: every second group of rows goes through the
// columns from the right. So it begins with the columns of B with which the group before has ended, and which
// are still in L2.
template <class C>
struct Order : Tiles<C> {
  int end = this->tiles_n * C::tile_n;  // of the last column of tiles

  __device__ int col() const {
    const int col = Tiles<C>::col();
    if constexpr (!C::serpentine) return col;
    return this->row() / (C::group_m * C::tile_m) % 2 == 0 ? col : end - C::tile_n - col;
  }
};

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
  // Its constructor has a barrier of the cluster, after which both CTAs' mbarriers are initialised; so has
  // its destructor, after which no CTA accesses its peer. With `true` the barrier after the allocation is
  // the CTA's alone.
  const ptx::TensorMemory<C::ctas, C::columns, true> memory(shared.tensor_memory);
  const Order<C> tiles{{ceil_div(p.m, C::tile_m), ceil_div(p.n, C::tile_n), shared.responses}};
  ptx::let_next_grid_start();
  ptx::wait_for_previous_grid();  // it may have written A and B, and read C

  if (warp == 0) {
    if (ptx::elect_one()) produce<C>(shared, p, p.b, rank, rank * C::block_n, tiles);
  } else if (warp == 1) {
    if (rank == 0 && ptx::elect_one()) multiply<C>(shared, p, memory.address(), tiles);
  } else if (warp == 2) {
    if (rank == 0 && ptx::elect_one()) schedule<C>(shared.responses);
  } else if (warp >= C::epilogue_first) {
    epilogue<C, Unchanged>(shared, p, rank, memory.address(), tiles);
  }
}

template <class C>
cudaError_t launch(const Gemm& p, cudaStream_t stream, bool early_start) {
  Operands operands{.m = p.m, .n = p.n, .tiles_k = ceil_div(p.k, C::block_k)};
  constexpr Swizzle swizzle = Swizzle::bytes128;
  cudaError_t error = ptx::make_tensor_map(&operands.a, p.a, p.m, p.k, C::block_m, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.b, p.b, p.k, p.n, C::block_k, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.c, p.c, p.m, p.n, warp_size, C::box_cols, swizzle);
  if (error != cudaSuccess) return error;
  return launch_tiles<C>(pairs_kernel<C>, operands, stream, early_start);
}

}  // namespace

cudaError_t launch_pairs(const Gemm& p, int tile_n, bool serpentine, cudaStream_t stream, bool early_start) {
  const auto launch_tile = tile_n == 128 ? launch<Config<128, false>>
                           : serpentine  ? launch<Config<256, true>>
                                         : launch<Config<256, false>>;
  return launch_tile(p, stream, early_start);
}

}  // namespace ladder::every_shape
