// The ring buffer in shared memory, and its two ends: produce(), global -> shared, and multiply(), shared ->
// accumulator. C is the Config of gemm.cu.
#pragma once

#include "common/ptx/cluster.cuh"
#include "common/ptx/elect.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/timeline.cuh"
#include "common/ptx/tma.cuh"
#include "common/ptx/wgmma.cuh"
#include "common/rung.h"

namespace ladder::rung_08 {

using ptx::MatrixDescriptor;
using ptx::SharedAddress;
using ptx::Swizzle;

constexpr int warp_size = 32, warpgroup_size = 128;
constexpr int mma_m = 64, mma_k = 16;  // of a wgmma; its n is the CTA tile's
constexpr int element = sizeof(__nv_bfloat16);

// The next stage to fill or to read, and the parity of the phase to wait for. k-tiles are counted on from
// tile to tile, and the parity flips each time the ring buffer starts from its first stage again.
template <class C>
struct Stage {
  int index = 0, parity = 0;
  __device__ void advance() {
    if (++index == C::stages) {
      index = 0;
      parity ^= 1;
    }
  }
};

// Global -> shared, by the producer warp. It runs ahead of the consumers, from one tile to the next as well,
// until every stage is full. What lies past the edges of A and B arrives as zeros, which count as bytes, too.
template <class C, class Maps, class Tiles>
__device__ void produce(typename C::Shared& shared, const Maps& maps, Tiles tiles, int tiles_k) {
  constexpr unsigned short all_ctas = (1 << C::cluster_m) - 1;
  ptx::Track<Maps> track(maps, Role::producer);
  Stage<C> stage;
  for (; tiles.valid(); tiles.advance()) {
    for (int t = 0; t < tiles_k; ++t) {
      const SharedAddress full = ptx::shared_address(&shared.full[stage.index]);
      const SharedAddress to_a = ptx::shared_address(shared.buffer[stage.index]), to_b = to_a + C::tile_a;
      // Until the consumers of both CTAs have read the stage, since this CTA's boxes of B go to both. Parity
      // 1 first: of a new barrier that phase counts as complete, and every stage is empty.
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[stage.index]), stage.parity ^ 1);
      track.mark(Doing::wait_for_stage, t);
      if (ptx::elect_one()) {
        // The bytes that the peer sends are expected, too. They may arrive first: the phase cannot complete
        // before this thread's arrival.
        ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes);
        ptx::tma_load(to_a, maps.a, t * C::block_k, tiles.row, full);
#pragma unroll
        for (int j = 0; j < C::share_b; ++j) {
          const int box = tiles.rank * C::share_b + j, col = tiles.col + box * C::box_cols;
          if constexpr (C::cluster_m == 1) {
            ptx::tma_load(to_b + box * C::box_b, maps.b, col, t * C::block_k, full);
          } else {
            ptx::tma_load_multicast(to_b + box * C::box_b, maps.b, col, t * C::block_k, full, all_ctas);
          }
        }
      }
      __syncwarp();
      track.mark(Doing::load, t);
      stage.advance();
    }
    track.next_tile();
  }
  track.end();
  // The peer's consumers arrive at this CTA's barriers: it may not exit before they have arrived for the last
  // time, which is when all of its stages are empty.
  if constexpr (C::cluster_m > 1) {
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[stage.index]), stage.parity ^ 1);
      stage.advance();
    }
  }
}

// Shared -> tensor cores -> accumulator, by a warpgroup: its 64 rows of a tile. A is k-major and B n-major,
// as on rung 07.
template <class C, class Maps>
__device__ void multiply(float (&accumulator)[C::block_n / 8][4], typename C::Shared& shared, int warpgroup,
                         int tiles_k, Stage<C>& stage, ptx::Track<Maps>& track) {
  // This warp has read a stage: lane i arrives at the barrier of the cluster's CTA i, since all of them load
  // into it.
  const int lane = threadIdx.x % warp_size;
  auto release = [&](int read) {
    const SharedAddress empty = ptx::shared_address(&shared.empty[read]);
    if constexpr (C::cluster_m == 1) {
      if (lane == 0) ptx::mbarrier_arrive(empty);
    } else {
      if (lane < C::cluster_m) ptx::mbarrier_arrive(empty, lane);
    }
  };
  if constexpr (!C::design.first_mma_sets) {
#pragma unroll
    for (int i = 0; i < C::block_n / 2; ++i) (&accumulator[0][0])[i] = 0;
  }
  int before = 0;
  for (int t = 0; t < tiles_k; ++t) {
    ptx::mbarrier_wait(ptx::shared_address(&shared.full[stage.index]), stage.parity);
    track.mark(Doing::wait_for_data, t);
    const SharedAddress from_a = ptx::shared_address(shared.buffer[stage.index]), from_b = from_a + C::tile_a;
    const MatrixDescriptor a(from_a + warpgroup * mma_m * C::row, 0, 8 * C::row, Swizzle::bytes128);
    const MatrixDescriptor b(from_b, C::box_b, 8 * C::row, Swizzle::bytes128);
    ptx::wgmma_fence();
#pragma unroll
    for (int k0 = 0; k0 < C::block_k; k0 += mma_k)
      ptx::wgmma_m64k16<ptx::Major::mn>(accumulator, a + k0 * element, b + k0 * C::row,
                                        t > 0 || k0 > 0 || !C::design.first_mma_sets);
    ptx::wgmma_commit_group();
    // These MMAs run on while the warpgroup waits for those of the k-tile before. Then that one's stage is
    // read.
    ptx::wgmma_wait_group<1>();
    if (t > 0) release(before);
    track.mark(Doing::multiply, t);
    before = stage.index;
    stage.advance();
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_accumulators(accumulator);
  track.mark(Doing::multiply, tiles_k - 1);
  release(before);
}

}  // namespace ladder::rung_08
