// The ring buffer and its two ends, for every tile shape: produce(), global -> shared, and multiply(), shared
// -> accumulator. What is not the same in every precision and problem is in C::Policy (bf16.cuh).
#pragma once

#include "08_warp_specialized/general/design.cuh"

namespace ladder::rung_08::general {

// Advances in the ring buffer by this many k-tiles.
template <class C>
__device__ void skip(Stage<C>& stage, int k_tiles) {
  stage.parity ^= (stage.index + k_tiles) / C::stages & 1;
  stage.index = (stage.index + k_tiles) % C::stages;
}

// Which k-tiles a CTA multiplies: all, or in split-K its part of them, which may be none.
struct Part {
  int index, first, tiles;
  __device__ Part(int tiles_k, int part, int parts)
      : index(part), first(tiles_k * part / parts), tiles(tiles_k * (part + 1) / parts - first) {}
};

// Which CTAs of the cluster get what this one loads: A all of its row, B all of its column.
template <class C>
struct Peers {
  int rank;
  __device__ int in_row(int i) const { return rank % C::cluster_m + i * C::cluster_m; }
  __device__ int in_column(int i) const { return rank / C::cluster_m * C::cluster_m + i; }
  __device__ unsigned short row() const {
    unsigned short ctas = 0;
    for (int i = 0; i < C::cluster_n; ++i) ctas |= 1 << in_row(i);
    return ctas;
  }
  __device__ unsigned short column() const {
    unsigned short ctas = 0;
    for (int i = 0; i < C::cluster_m; ++i) ctas |= 1 << in_column(i);
    return ctas;
  }
};

// Global -> shared, by the producer warp. It runs ahead of the consumers, from one tile to the next as well,
// until the ring buffer is full.
template <class C>
__device__ void produce(typename C::Shared& shared, const typename C::Operands& p, Peers<C> peers,
                        Tiles<C> tiles, Part part) {
  using Policy = typename C::Policy;
  const int from_row = peers.rank / C::cluster_m * C::share_a;  // of A's tile: this CTA's share
  const int from_box = peers.rank % C::cluster_m * C::share_b;
  const unsigned short row_ctas = peers.row(), column_ctas = peers.column();
  Stage<C> stage;
  for (; tiles.valid(); tiles.advance()) {
    for (int t = part.first; t < part.first + part.tiles; ++t) {
      const SharedAddress full = ptx::shared_address(&shared.full[stage.index]);
      const SharedAddress to_a = ptx::shared_address(shared.buffer[stage.index]), to_b = to_a + C::tile_a;
      // Parity 1 first: of a new barrier that phase counts as complete, and every stage is free.
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[stage.index]), stage.parity ^ 1);
      const int k = t * C::block_k;
      Policy::template wait_for_a<C>(p, tiles.row(), k);
      if (ptx::elect_one()) {
        // What the peers send is included.
        ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes + C::scale_bytes);
        Policy::template load_scales<C>(p, shared, stage.index, tiles.row(), t);
        if constexpr (C::cluster_n == 1) {
          ptx::tma_load(to_a, p.map_a, k, tiles.row(), full);
        } else {
          ptx::tma_load_multicast(to_a + from_row * C::row, p.map_a, k, tiles.row() + from_row, full,
                                  row_ctas);
        }
#pragma unroll
        for (int i = 0; i < C::share_b; ++i) {
          const int box = from_box + i, col = tiles.col() + box * C::box_n;
          const int x = Policy::b_k_major ? k : col, y = Policy::b_k_major ? col : k;
          const SharedAddress to = to_b + box * C::box_b;
          if constexpr (C::cluster_m == 1) {
            ptx::tma_load(to, p.map_b, x, y, full);
          } else {
            ptx::tma_load_multicast(to, p.map_b, x, y, full, column_ctas);
          }
        }
      }
      __syncwarp();
      stage.advance();
    }
  }
  // The peers' consumers arrive at this CTA's barriers: it may not exit before they have arrived for the last
  // time, which is when all stages are empty.
  if constexpr (C::sharers > 1) {
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[stage.index]), stage.parity ^ 1);
      stage.advance();
    }
  }
}

// Arrives at the barriers of all that load into a stage, when this warp has read it: each lane at one of
// them. The CTA itself is in its column.
template <class C>
class Releases {
 public:
  __device__ Releases(typename C::Shared& shared, Peers<C> peers) : shared_(shared) {
    const int other = lane_ - C::cluster_m;
    peer_ = other < 0 ? peers.in_column(lane_) : peers.in_row(other + (other >= peers.rank / C::cluster_m));
  }
  __device__ void release(int stage) const {
    const SharedAddress empty = ptx::shared_address(&shared_.empty[stage]);
    if constexpr (C::sharers == 1) {
      if (lane_ == 0) ptx::mbarrier_arrive(empty);
    } else {
      if (lane_ < C::fillers) ptx::mbarrier_arrive(empty, peer_);
    }
  }

 private:
  typename C::Shared& shared_;
  int lane_ = threadIdx.x % warp_size, peer_;
};

template <class C>
using Accumulator = float[C::rows_each][C::block_n / 8][4];

template <class C>
__device__ void clear(Accumulator<C>& accumulator) {
#pragma unroll
  for (int i = 0; i < C::rows_each * C::block_n / 2; ++i) (&accumulator[0][0][0])[i] = 0;
}

// Shared -> accumulator, by a warpgroup: 64 * rows_each rows of a tile, from row `first` on. meanwhile() is
// called when all k-tiles have arrived and the last MMAs still run.
struct Nothing {
  __device__ void operator()() const {}
};
template <class C, class Meanwhile = Nothing>
__device__ void multiply(Accumulator<C>& accumulator, typename C::Shared& shared, const Releases<C>& releases,
                         int tiles_k, int first, Stage<C>& stage, const Meanwhile& meanwhile = {}) {
  if constexpr (C::cluster_k > 1) clear<C>(accumulator);  // a part may have no k-tile
  int before = 0;
  for (int t = 0; t < tiles_k; ++t) {
    ptx::mbarrier_wait(ptx::shared_address(&shared.full[stage.index]), stage.parity);
    const SharedAddress from_a = ptx::shared_address(shared.buffer[stage.index]);
    const SharedAddress from_b = from_a + C::tile_a;
    const MatrixDescriptor b(from_b, C::box_b, 8 * C::row, Swizzle::bytes128);
    ptx::wgmma_fence();
#pragma unroll
    for (int step = 0; step < C::row / mma_bytes; ++step) {
#pragma unroll
      for (int i = 0; i < C::rows_each; ++i) {
        const MatrixDescriptor a(from_a + (first + i * mma_m) * C::row, 0, 8 * C::row, Swizzle::bytes128);
        C::Policy::multiply_step(accumulator[i], a, b, step, t > 0 || step > 0);
      }
    }
    ptx::wgmma_commit_group();
    // While these MMAs run, those of the k-tile before are complete, and its stage can be filled again.
    ptx::wgmma_wait_group<1>();
    if (t > 0) releases.release(before);
    before = stage.index;
    stage.advance();
  }
  // In ping-pong the other consumer may begin: its MMAs queue up behind these.
  if constexpr (C::design.ping_pong) {
    const int self = threadIdx.x / warpgroup_size - 1;
    if (threadIdx.x % warp_size == 0) ptx::mbarrier_arrive(ptx::shared_address(&shared.turn[self ^ 1]));
    skip(stage, tiles_k);
  }
  meanwhile();
  ptx::wgmma_wait_group<0>();
#pragma unroll
  for (int i = 0; i < C::rows_each; ++i) ptx::keep_accumulators(accumulator[i]);
  if (tiles_k > 0) releases.release(before);
}

}  // namespace ladder::rung_08::general
