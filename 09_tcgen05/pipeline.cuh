// The ring buffer in shared memory and its two ends: produce(), global -> shared, and multiply(), shared ->
// tensor memory. And the tiles that a cluster works on, by launch control. C is the kernel's Config.
#pragma once

#include "common/ptx/cluster_launch_control.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/tcgen05.cuh"
#include "common/rung.h"

namespace ladder::rung_09 {

using ptx::SharedAddress;
using ptx::SharedMatrix;
using ptx::Swizzle;
using ptx::TensorAddress;

constexpr int warp_size = 32, element = sizeof(__nv_bfloat16), mma_k = 16;  // bytes; elements of k in an MMA
constexpr unsigned short both_ctas = 3;                                     // of the CTA pair, as a mask

// A stage of a ring buffer of n, and the parity of its barriers' phase: it flips when the buffer starts over.
template <int n>
struct Stage {
  int index = 0, parity = 0;
  // The buffer or the barrier of this stage.
  template <class T>
  __device__ SharedAddress of(T (&all)[n]) const {
    return ptx::shared_address(&all[index]);
  }
  __device__ void advance() {
    if (++index == n) index = 0, parity ^= 1;
  }
};

// By one thread; fence_mbarrier_init() must follow.
template <int n>
__device__ void init_barriers(ptx::Mbarrier (&barriers)[n], int arrivals) {
  for (ptx::Mbarrier& barrier : barriers) ptx::mbarrier_init(ptx::shared_address(&barrier), arrivals);
}

// Global -> shared, by one thread of each CTA: its rows of A and its part of B, from column `b_col` of the
// tile on. It runs ahead of the MMAs, from one tile to the next as well, until every stage is full. The CTA
// of rank 0 is the leader of the pair: it issues the MMAs of both.
template <class C, class Operands, class Tiles>
__device__ void produce(typename C::Shared& shared, const Operands& p, const CUtensorMap& b, int rank,
                        int b_col, Tiles tiles) {
  Stage<C::stages> stage;
  for (; tiles.valid(); tiles.advance()) {
    const int m = tiles.row() + rank * C::block_m, n = tiles.col() + b_col;
    for (int t = 0; t < p.tiles_k; ++t, stage.advance()) {
      const SharedAddress full = stage.of(shared.full), leader_full = ptx::cluster_address(full, 0);
      const SharedAddress to_a = stage.of(shared.buffer), to_b = to_a + C::tile_a;
      // Parity 1 first: the phase before the first counts as complete, so the stages start out empty.
      ptx::mbarrier_wait(stage.of(shared.empty), stage.parity ^ 1);
      // The leader's barrier counts the bytes of both CTAs. The peer's may arrive before this: its stage is
      // empty only after the last phase was complete, so they count for this one, which awaits the arrival.
      if (rank == 0) ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes * C::ctas);
      const int k = t * C::block_k;
      ptx::tma_load_of_cta_pair(to_a, p.a, k, m, leader_full);
#pragma unroll
      for (int box = 0; box < C::boxes_b; ++box)
        ptx::tma_load_of_cta_pair(to_b + box * C::box_b, b, n + box * C::box_cols, k, leader_full);
    }
  }
  // The CTA may not exit before the last commits have arrived at its barriers: until all stages are empty.
  for (int s = 0; s < C::stages; ++s, stage.advance())
    ptx::mbarrier_wait(stage.of(shared.empty), stage.parity ^ 1);
}

// Shared -> accumulators in tensor memory, by one thread of the leader for both CTAs.
template <class C, class Operands, class Tiles>
__device__ void multiply(typename C::Shared& shared, const Operands& p, TensorAddress memory, Tiles tiles) {
  Stage<C::stages> stage;
  Stage<C::accumulators> accumulator;
  for (; tiles.valid(); tiles.advance(), accumulator.advance()) {
    // Parity 1 first: the accumulators start out empty.
    ptx::mbarrier_wait(accumulator.of(shared.accumulator_empty), accumulator.parity ^ 1);
    ptx::tcgen05_fence_after();  // orders the MMAs after the wait
    const TensorAddress to = memory + accumulator.index * (C::columns / C::accumulators);
    for (int t = 0; t < p.tiles_k; ++t, stage.advance()) {
      ptx::mbarrier_wait(stage.of(shared.full), stage.parity);
      ptx::tcgen05_fence_after();
      const SharedAddress from_a = stage.of(shared.buffer), from_b = from_a + C::tile_a;
      const SharedMatrix a(from_a, 0, 8 * C::row, Swizzle::bytes128);
      const SharedMatrix b(from_b, C::box_b, 8 * C::row, Swizzle::bytes128);
      // A is k-major and B n-major, as on rung 07.
#pragma unroll
      for (int k0 = 0; k0 < C::block_k; k0 += mma_k)
        ptx::tcgen05_mma<C::ctas, ptx::MmaKind::f16>(to, a + k0 * element, b + k0 * C::row, C::Mma::bits,
                                                     t > 0 || k0 > 0);
      ptx::tcgen05_commit<C::ctas>(stage.of(shared.empty), both_ctas);
    }
    ptx::tcgen05_commit<C::ctas>(accumulator.of(shared.accumulator_full), both_ctas);
  }
}

// The index-th tile, in tiles: row and column. Tiles that run at the same time share rows and columns of A
// and B, which come from L2 after the first read: down `group_m` tiles, then on to the next column.
__device__ inline int2 tile_of_cluster(int index, int tiles_m, int tiles_n, int group_m) {
  const int first = index / (group_m * tiles_n) * group_m, height = min(group_m, tiles_m - first);
  const int in_group = index - first * tiles_n;
  return make_int2(first + in_group % height, in_group / height);
}

// Responses of cluster launch control, requested ahead.
struct Responses {
  static constexpr int depth = 2, bytes = 16;
  alignas(bytes) unsigned char response[depth][bytes];
  ptx::Mbarrier full[depth], empty[depth];
};

// The tiles of a cluster, for one thread of each role: they exchange nothing, but read the same responses.
// The grid has a cluster for each tile; a running one takes over from one that has not started.
template <class C>
struct Tiles {
  int tiles_m, tiles_n;  // C in tiles of the cluster
  Responses& responses;
  int index = int(blockIdx.x) / C::ctas;  // -1: there are no more
  Stage<Responses::depth> stage{};

  __device__ bool valid() const { return index >= 0 && index < tiles_m * tiles_n; }
  __device__ void advance() {
    ptx::mbarrier_wait(stage.of(responses.full), stage.parity);
    const int first_cta = ptx::canceled_cluster(stage.of(responses.response));
    index = first_cta < 0 ? -1 : first_cta / C::ctas;
    // The next response is written through the async proxy: not before this read.
    ptx::fence_proxy_async();
    ptx::mbarrier_arrive(stage.of(responses.empty), 0);
    stage.advance();
  }
  // Of the tile's first element in C.
  __device__ int row() const { return tile_of_cluster(index, tiles_m, tiles_n, C::group_m).x * C::tile_m; }
  __device__ int col() const { return tile_of_cluster(index, tiles_m, tiles_n, C::group_m).y * C::tile_n; }
};

// Requests tiles ahead of the roles that work on them, until there are none. By one thread of the leader.
template <class C>
__device__ void schedule(Responses& responses) {
  Stage<Responses::depth> stage;
  for (int first_cta = 0; first_cta >= 0; stage.advance()) {
    const SharedAddress full = stage.of(responses.full), response = stage.of(responses.response);
    ptx::mbarrier_wait(stage.of(responses.empty), stage.parity ^ 1);  // the buffers start out empty
    for (int cta = 0; cta < C::ctas; ++cta) ptx::mbarrier_arrive_expect_bytes(full, Responses::bytes, cta);
    ptx::try_cancel<C::ctas>(response, full);
    ptx::mbarrier_wait(full, stage.parity);
    first_cta = ptx::canceled_cluster(response);  // another request after one that failed is undefined
    ptx::fence_proxy_async();
  }
}

}  // namespace ladder::rung_09
