// Global -> shared -> accumulators.
#pragma once

#include "common/every_shape/hopper/transposed/tiles.cuh"
#include "common/ptx/wgmma_every_n.cuh"

namespace ladder::every_shape::transposed {

// By a thread, before fence_mbarrier_init().
template <class C>
__device__ void initialise(typename C::Shared& shared, Cluster cluster) {
  // Until a stage is empty: the arrivals of the consumers in all the CTAs that this one loads for.
  const int releases = (cluster.n + cluster.m - 1) * C::readers;
#pragma unroll
  for (int s = 0; s < C::stages; ++s) {
    ptx::mbarrier_init(ptx::shared_address(&shared.full[s]), 1);
    ptx::mbarrier_init(ptx::shared_address(&shared.empty[s]), releases);
  }
  if constexpr (C::design.ping_pong)
    for (auto& turn : shared.turn) ptx::mbarrier_init(ptx::shared_address(&turn), 4);
}

// By the producer of a CTA in a cluster of this size, which the compiler knows: a small tile's MMAs take
// hardly longer than this loop. It works out all that it can before it meets the others. Walk: Tiles, or
// another walk over tiles, each of which has a B of its own (../grouped).
template <class C, int cluster_n, int cluster_m, class Walk, class Meet>
__device__ void produce_in(typename C::Shared& shared, const Operands& p, Walk tiles, int rank,
                           const Meet& meet) {
  constexpr Cluster cluster{cluster_n, cluster_m};
  constexpr int share_a = C::share_a(cluster), share_b = C::blocks * C::block_k / cluster_m;
  constexpr int load_b = C::load_b(cluster);
  // To those beside and below this CTA.
  const int row_in_cluster = rank / cluster_n, col_in_cluster = rank % cluster_n;
  const auto beside = static_cast<unsigned short>(cluster.beside() << row_in_cluster * cluster_n);
  const auto below = static_cast<unsigned short>(cluster.below() << col_in_cluster);
  const int from_a = C::groups_a * col_in_cluster / cluster_n * 8;
  const bool less = C::groups_a * (col_in_cluster + 1) / cluster_n * 8 - from_a < share_a;
  const int from_b = row_in_cluster * share_b;
  Stage<C> stage;
  meet();
  for (; tiles.valid(); tiles.advance()) {
#pragma unroll 1
    for (int t = tiles.first(); t < tiles.end(); ++t) {
      const SharedAddress full = ptx::shared_address(&shared.full[stage.index]);
      const SharedAddress to_a = ptx::shared_address(shared.buffer[stage.index]), to_b = to_a + C::tile_a;
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[stage.index]), stage.parity ^ 1);
      if (ptx::elect_one()) {
        ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes);
#pragma unroll
        for (int i = 0; i < share_b; i += load_b) {
          const int from = from_b + i;  // of the rows of all boxes
          const int x = tiles.col() + from / C::block_k * mma_m, y = t * C::block_k + from % C::block_k;
          if constexpr (requires { tiles.matrix_of_b(); }) {
            ptx::tma_load(to_b + from * C::row, p.b, x, y, tiles.matrix_of_b(), full);
          } else if constexpr (cluster_m == 1) {
            ptx::tma_load(to_b + from * C::row, p.b, x, y, full);
          } else {
            ptx::tma_load_multicast(to_b + from * C::row, p.b, x, y, full, below);
          }
        }
        if constexpr (cluster_n == 1) {
          ptx::tma_load(to_a, p.a, t * C::block_k, tiles.row(), full);
        } else {
          ptx::tma_load_multicast(to_a + from_a * C::row, less ? p.less_of_a : p.a, t * C::block_k,
                                  tiles.row() + from_a, full, beside);
        }
      }
      __syncwarp();
      stage.advance();
    }
  }
  // The peers' consumers arrive at this CTA's barriers until all of its stages are empty.
  if constexpr (cluster.size() > 1) {
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[stage.index]), stage.parity ^ 1);
      stage.advance();
    }
  }
}

template <class C, class Walk, class Meet>
__device__ void produce(typename C::Shared& shared, const Operands& p, const Walk& tiles, int rank,
                        const Meet& meet) {
  if constexpr (C::design.split) {
    produce_in<C, 1, 1>(shared, p, tiles, 0, meet);
  } else {
    in_cluster(p.cluster, [&]<int n, int m> {
      if constexpr (m == 1 || !requires { tiles.matrix_of_b(); })  // a group's rows may not be enough
        produce_in<C, n, m>(shared, p, tiles, rank, meet);
    });
  }
}

template <class C>
using Accumulator = float[C::design.blocks][C::groups][4];

// By a warpgroup: its columns of B, from block `block` on, and its rows of A, from the tile's row `top` on.
// last_issued() is called when the last MMAs still run.
template <class C, class LastIssued>
__device__ void multiply(Accumulator<C>& accumulator, typename C::Shared& shared, Peers peers, int block,
                         int top, int first, int end, Stage<C>& stage, const LastIssued& last_issued) {
  // The MMAs of a small tile take hardly longer than the loop around them. So its addresses are worked out
  // here, and kept from the compiler, which would work them out again in each pass.
  const SharedAddress buffer = ptx::keep(ptx::shared_address(shared.buffer[0]));
  const SharedAddress full = ptx::keep(ptx::shared_address(&shared.full[0]));
  const MatrixDescriptor columns_0(buffer + C::tile_a + block * C::box_b, C::box_b, 8 * C::row,
                                   Swizzle::bytes128);
  const MatrixDescriptor rows_0(buffer + top * C::row, 0, 8 * C::row, Swizzle::bytes128);
  // A warpgroup's MMAs are complete for all of its warps at once, so a single one arrives at a CTA that
  // loads into the stage: each warp at another one.
  const int filler = threadIdx.x % warp_size * 4 + threadIdx.x / warp_size % 4;
  const bool releases = filler < peers.fillers();
  SharedAddress empty = ptx::shared_address(&shared.empty[0]);
  if constexpr (!C::design.split) empty = ptx::cluster_address(empty, peers.filler(releases ? filler : 0));
  empty = ptx::keep(empty);
  auto release = [&](int stage_read) {
    const SharedAddress barrier = empty + stage_read * int(sizeof(ptx::Mbarrier));
    if constexpr (C::design.split) {
      if (releases) ptx::mbarrier_arrive(barrier);
    } else {
      if (releases) ptx::mbarrier_arrive_in_cluster(barrier);
    }
  };
  if constexpr (C::design.split) {  // a part may have no k-tile
#pragma unroll
    for (int i = 0; i < C::groups * 4; ++i) (&accumulator[0][0][0])[i] = 0;
  }
  int before = 0;
#pragma unroll(C::groups <= 4 ? 4 : 1)
  for (int t = first; t < end; ++t) {
    const MatrixDescriptor columns = columns_0 + stage.index * C::stage_bytes;
    const MatrixDescriptor rows = rows_0 + stage.index * C::stage_bytes;
    ptx::mbarrier_wait(full + stage.index * int(sizeof(ptx::Mbarrier)), stage.parity);
    ptx::wgmma_fence();
#pragma unroll
    for (int k0 = 0; k0 < C::block_k; k0 += mma_k) {
#pragma unroll
      for (int i = 0; i < C::design.blocks; ++i)
        ptx::wgmma_m64k16_transposed(accumulator[i], columns + i * C::box_b + k0 * C::row,
                                     rows + k0 * element, t > first || k0 > 0);
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();
    if (t > first) release(before);
    before = stage.index;
    stage.advance();
  }
  last_issued();
  ptx::wgmma_wait_group<0>();
#pragma unroll
  for (int i = 0; i < C::design.blocks; ++i) ptx::keep_accumulators(accumulator[i]);
  if (first < end) release(before);
}

}  // namespace ladder::every_shape::transposed
