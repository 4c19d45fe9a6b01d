// The producer of early_weights.cu: it loads B's first k-tiles, waits for the grid before, and loads A after
// them.
#pragma once

#include "08_warp_specialized/general/kernel.cuh"

namespace ladder::every_shape {

namespace general = rung_08::general;
using general::Part, general::Peers, general::Tiles;
using rung_08::SharedAddress, rung_08::Stage;

// Global -> shared, a CTA's share of a k-tile of A and of B, and to all that share it.
template <class C>
struct Loads {
  typename C::Shared& shared;
  const typename C::Operands& p;
  const Peers<C> peers;
  const unsigned short row_ctas = peers.row(), column_ctas = peers.column();

  // A stage's phase has one arrival, and expects the bytes of both matrices, the peers' included: it cannot
  // complete before A is there, however much earlier B has come.
  __device__ void begin(int stage, int col, int k) const {
    const SharedAddress full = ptx::shared_address(&shared.full[stage]);
    ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes);
#pragma unroll
    for (int i = 0; i < C::share_b; ++i) {
      const int box = peers.rank % C::cluster_m * C::share_b + i;
      const SharedAddress to = ptx::shared_address(shared.buffer[stage]) + C::tile_a + box * C::box_b;
      if constexpr (C::cluster_m == 1) {
        ptx::tma_load(to, p.map_b, col + box * C::box_n, k, full);
      } else {
        ptx::tma_load_multicast(to, p.map_b, col + box * C::box_n, k, full, column_ctas);
      }
    }
  }
  __device__ void complete(int stage, int row, int k) const {
    const SharedAddress full = ptx::shared_address(&shared.full[stage]);
    const SharedAddress to = ptx::shared_address(shared.buffer[stage]);
    const int first = peers.rank / C::cluster_m * C::share_a;
    if constexpr (C::cluster_n == 1) {
      ptx::tma_load(to, p.map_a, k, row, full);
    } else {
      ptx::tma_load_multicast(to + first * C::row, p.map_a, k, row + first, full, row_ctas);
    }
  }
};

// The producer warp.
template <class C>
__device__ void produce_weights_first(const Loads<C>& loads, Tiles<C> tiles, Part part) {
  // The first k-tiles of the first tile. No stage has to become empty: none has been filled.
  int begun = tiles.valid() ? min(C::stages, part.tiles) : 0;
  if (ptx::elect_one())
    for (int s = 0; s < begun; ++s) loads.begin(s, tiles.col(), (part.first + s) * C::block_k);
  __syncwarp();
  ptx::wait_for_previous_grid();  // it wrote A

  Stage<C> stage;
  for (; tiles.valid(); tiles.advance(), begun = 0) {
    for (int t = 0; t < part.tiles; ++t) {
      const SharedAddress empty = ptx::shared_address(&loads.shared.empty[stage.index]);
      const int k = (part.first + t) * C::block_k;
      if (t >= begun) ptx::mbarrier_wait(empty, stage.parity ^ 1);
      if (ptx::elect_one()) {
        if (t >= begun) loads.begin(stage.index, tiles.col(), k);
        loads.complete(stage.index, tiles.row(), k);
      }
      __syncwarp();
      stage.advance();
    }
  }
  // As in general::produce(): the peers' consumers arrive here until all stages are empty.
  if constexpr (C::sharers > 1) {
    for (int s = 0; s < C::stages; ++s, stage.advance())
      ptx::mbarrier_wait(ptx::shared_address(&loads.shared.empty[stage.index]), stage.parity ^ 1);
  }
}

}  // namespace ladder::every_shape
