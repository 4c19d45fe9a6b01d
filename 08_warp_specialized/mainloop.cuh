// The ring, and both who fill it and who empty it: produce(), global -> shared, and multiply(), shared ->
// sums.
#pragma once

#include "08_warp_specialized/design.cuh"
#include "08_warp_specialized/row_scales.cuh"
#include "common/ptx/cluster.cuh"
#include "common/ptx/elect.cuh"
#include "common/ptx/timeline.cuh"
#include "common/ptx/wgmma_fp8.cuh"

namespace ladder::rung_08 {

using ptx::MatrixDescriptor;
using ptx::SharedAddress;
using ptx::Swizzle;

// Where everything is. c, m and n are for the stores without TMA. Scales of fp8_block: a row of map_scales_a
// is a k-tile's for all rows of A, and scales_b are B's. Of fp8_tensor: *scale_a, and *scales_b.
struct Operands {
  CUtensorMap map_a, map_b, map_c, map_scales_a;
  const float* scales_b;
  __nv_bfloat16* c;
  int m, n, k;
  NormOperands norm;  // of a design that scales rows
  const float* scale_a;
};

template <class C>
using Parameters = std::conditional_t<C::design.traced, Traced<Operands>, Operands>;
template <class C>
using Track = ptx::Track<Parameters<C>>;

// A place in the ring, and how often it went round.
template <class C>
struct Slot {
  int stage = 0, parity = 0;
  __device__ void advance() {
    if (++stage == C::stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  __device__ void skip(int slots) {
    parity ^= (stage + slots) / C::stages & 1;
    stage = (stage + slots) % C::stages;
  }
};

// Which k-tiles a CTA adds up: all, or in split-K its part of them, which may be none.
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

// Global -> shared, by one warp. It runs ahead of the consumers, also from tile to tile, as far as the ring
// allows. Before it asks for A it calls wait_for_a(row, k).
template <class C, class WaitForA>
__device__ void produce(typename C::Shared& shared, const Operands& p, Peers<C> peers, Tiles<C> tiles,
                        Part part, Track<C> track, const WaitForA& wait_for_a) {
  const int from_row = peers.rank / C::cluster_m * C::share_a;  // of A's tile: this CTA's share
  const int from_box = peers.rank % C::cluster_m * C::share_b;
  const unsigned short row_ctas = peers.row(), column_ctas = peers.column();
  Slot<C> slot;
  for (; tiles.valid(); tiles.advance()) {
    for (int t = part.first; t < part.first + part.tiles; ++t) {
      const SharedAddress full = ptx::shared_address(&shared.full[slot.stage]);
      const SharedAddress to_a = ptx::shared_address(shared.ring[slot.stage]), to_b = to_a + C::tile_a;
      // Parity 1 first: the phase before the first is complete, the slots are free.
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[slot.stage]), slot.parity ^ 1);
      const int k = t * C::block_k;
      wait_for_a(tiles.row(), k);
      const auto free = track.now();
      if (ptx::elect_one()) {
        ptx::mbarrier_arrive_expect_bytes(full,
                                          C::stage_bytes + C::scale_bytes);  // what the peers send included
        if constexpr (C::scaled)
          ptx::tma_load(ptx::shared_address(shared.scales[slot.stage]), p.map_scales_a, tiles.row(), t, full);
        if constexpr (C::cluster_n == 1) {
          ptx::tma_load(to_a, p.map_a, k, tiles.row(), full);
        } else {
          ptx::tma_load_multicast(to_a + from_row * row, p.map_a, k, tiles.row() + from_row, full, row_ctas);
        }
#pragma unroll
        for (int i = 0; i < C::share_b; ++i) {
          const int box = from_box + i, col = tiles.col() + box * C::box_n;
          const int x = C::eight_bits ? k : col, y = C::eight_bits ? col : k;
          const SharedAddress to = to_b + box * C::box_b;
          if constexpr (C::cluster_m == 1) {
            ptx::tma_load(to, p.map_b, x, y, full);
          } else {
            ptx::tma_load_multicast(to, p.map_b, x, y, full, column_ctas);
          }
        }
      }
      __syncwarp();
      track.mark(Doing::wait_for_slot, t, free);
      track.mark(Doing::load, t);
      slot.advance();
    }
    track.next_tile();
  }
  track.end();
  // A CTA's barriers must stay until its peers have arrived at them for the last time: until all slots are
  // free.
  if constexpr (C::sharers > 1) {
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[slot.stage]), slot.parity ^ 1);
      slot.advance();
    }
  }
}

// Tells those who fill a slot that this warp has read it. Each lane tells one of them; the CTA itself is in
// its column.
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

// sum += a · b over 32 bytes of k, the step-th of a k-tile.
template <class C, int columns>
__device__ void multiply_step(float (&sum)[columns][4], MatrixDescriptor a, MatrixDescriptor b, int step,
                              bool add) {
  if constexpr (C::eight_bits) {
    ptx::wgmma_m64k32<C::type_a, C::type_b>(sum, a + step * mma_bytes, b + step * mma_bytes, add);
  } else {
    constexpr int mma_k = mma_bytes / C::operand;
    ptx::wgmma_m64k16<ptx::Major::mn>(sum, a + step * mma_bytes, b + step * mma_k * row, add);
  }
}

// Shared -> sums, by a warpgroup: 64 * rows_each rows of a tile, from row `first` on.
// meanwhile() is called when all k-tiles have come and the last products still run.
struct Nothing {
  __device__ void operator()() const {}
};
template <class C, class Meanwhile = Nothing>
__device__ void multiply(float (&sum)[C::rows_each][C::block_n / 8][4], typename C::Shared& shared,
                         const Releases<C>& slots, Track<C>& track, int tiles_k, int first, Slot<C>& slot,
                         const Meanwhile& meanwhile = {}) {
  if constexpr (!C::design.first_mma_sets || C::cluster_k > 1) {
#pragma unroll
    for (int i = 0; i < C::rows_each * C::block_n / 2; ++i) (&sum[0][0][0])[i] = 0;
  }
  int before = 0;
  for (int t = 0; t < tiles_k; ++t) {
    ptx::mbarrier_wait(ptx::shared_address(&shared.full[slot.stage]), slot.parity);
    const auto there = track.now();
    const SharedAddress from_a = ptx::shared_address(shared.ring[slot.stage]);
    const SharedAddress from_b = from_a + C::tile_a;
    const MatrixDescriptor b(from_b, C::box_b, 8 * row, Swizzle::bytes128);
    ptx::wgmma_fence();
#pragma unroll
    for (int step = 0; step < row / mma_bytes; ++step) {
#pragma unroll
      for (int i = 0; i < C::rows_each; ++i) {
        const MatrixDescriptor a(from_a + (first + i * mma_m) * row, 0, 8 * row, Swizzle::bytes128);
        multiply_step<C>(sum[i], a, b, step, t > 0 || step > 0 || !C::design.first_mma_sets);
      }
    }
    ptx::wgmma_commit_group();
    track.mark(Doing::wait_for_data, t, there);
    // These products run on; those of the k-tile before are complete, and its slot is free.
    ptx::wgmma_wait_group<1>();
    if (t > 0) slots.release(before);
    track.mark(Doing::multiply, t);
    before = slot.stage;
    slot.advance();
  }
  // In ping-pong the other may begin: its products queue up behind these.
  if constexpr (C::design.ping_pong) {
    const int self = threadIdx.x / warpgroup_size - 1;
    if (threadIdx.x % warp_size == 0) ptx::mbarrier_arrive(ptx::shared_address(&shared.turn[self ^ 1]));
    slot.skip(tiles_k);
  }
  meanwhile();
  ptx::wgmma_wait_group<0>();
#pragma unroll
  for (int i = 0; i < C::rows_each; ++i) ptx::keep_sums(sum[i]);
  track.mark(Doing::multiply, tiles_k - 1);
  if (tiles_k > 0) slots.release(before);
}

}  // namespace ladder::rung_08
