// The rung's kernel with an epilogue: what a Finish (../epilogue.cuh) does to the accumulator, a row of C in
// each thread, while the next tile is multiplied.
//
// With two weight matrices one CTA of the pair loads 128 columns of B, and its peer the same 128 of Gate: the
// halves of B that the pair's MMA takes from its CTAs. The accumulator's first 128 columns are then A·B, the
// others A·Gate, for the same columns of C.
#pragma once

#include "09_tcgen05/epilogue.cuh"
#include "common/ptx/elect.cuh"

namespace ladder::rung_09 {

// The rung's, as ../gemm.cu explains it, and Gate.
template <bool gated_>
struct Config {
  static constexpr bool gated = gated_;
  static constexpr int ctas = 2, stages = 6;
  static constexpr int group_m = 8;  // rows of tiles that neighbouring clusters share
  // The CTA pair's tile. A CTA has half of its rows, and loads those of A and half of the weights' columns.
  static constexpr int tile_m = 256, mma_n = 256, block_m = tile_m / ctas, block_n = mma_n / ctas;
  static constexpr int tile_n = gated ? mma_n / 2 : mma_n;  // columns of C
  static constexpr int block_k = 64;
  using Mma = ptx::MmaDescriptor<ctas, ptx::MmaKind::f16, tile_m, mma_n, ptx::Major::k, ptx::Major::mn>;

  // A is one box; B, whose rows run along n, is boxes of block_k rows and 64 columns.
  static constexpr int row = 128, box_cols = row / element;  // bytes, elements of a box's row
  static constexpr int box_b = block_k * row, boxes_b = block_n / box_cols;
  static constexpr int tile_a = block_m * row, tile_b = boxes_b * box_b, stage_bytes = tile_a + tile_b;

  // Tensor memory has 512 columns: the accumulators of two tiles fill it.
  static constexpr int accumulators = 2, columns = accumulators * mma_n;

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

// Operands: the tensor maps a, c and weights, which are B, and Gate where there is one; m, n and tiles_k.
template <class C, class Finish, class Operands>
__global__ void __launch_bounds__(C::threads, 1) fused_kernel(const __grid_constant__ Operands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  // The shuffle tells the compiler that all threads of the warp have the same value.
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0), rank = ptx::cluster_rank();
  const CUtensorMap& weights = p.weights[C::gated ? rank : 0];

  if (warp == C::epilogue_first && ptx::elect_one()) {
    ptx::prefetch_tensor_map(p.a);
    ptx::prefetch_tensor_map(weights);
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
  // its destructor, after which no CTA accesses its peer.
  const ptx::TensorMemory<C::ctas, C::columns> memory(shared.tensor_memory);
  const Tiles<C> tiles{ceil_div(p.m, C::tile_m), ceil_div(p.n, C::tile_n), shared.responses};

  if (warp == 0) {
    if (ptx::elect_one()) produce<C>(shared, p, weights, rank, C::gated ? 0 : rank * C::block_n, tiles);
  } else if (warp == 1) {
    if (rank == 0 && ptx::elect_one()) multiply<C>(shared, p, memory.address(), tiles);
  } else if (warp == 2) {
    if (rank == 0 && ptx::elect_one()) schedule<C>(shared.responses);
  } else if (warp >= C::epilogue_first) {
    epilogue<C, Finish>(shared, p, rank, memory.address(), tiles);
  }
}

}  // namespace ladder::rung_09
