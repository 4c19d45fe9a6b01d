// The main loop of 8-bit operands that does not trust the tensor core with long sums: every few k-tiles they
// are added to others in fp32, which only threads can do. While one warpgroup adds, the other's products run.
// It is also where scales of blocks come in: a k-tile is as long as a block.
#pragma once

#include "08_warp_specialized/mainloop.cuh"

namespace ladder::rung_08 {

// Shared -> sums, by a warpgroup: 64 rows of a tile, from row `first` on; the tile begins at column tile_col.
//
// `part` is the tensor core's while multiply() runs, which waits for the last of its products, and the
// threads' until the next wgmma_fence(), which is multiply()'s first. A slot is released before its part is
// added: its scales are in registers by then.
template <class C>
__device__ void multiply_promoted(float (&sum)[1][C::block_n / 8][4], typename C::Shared& shared,
                                  const Operands& p, const Releases<C>& slots, Track<C>& track, int tiles_k,
                                  int first, int tile_col, Slot<C>& slot) {
  constexpr int columns = C::part_n / 8;
  const int row_of_thread =
      first + threadIdx.x % warpgroup_size / warp_size * 16 + threadIdx.x % warp_size / 4;
#pragma unroll
  for (int j = 0; j < C::block_n / 2; ++j) (&sum[0][0][0])[j] = 0;
  for (int t = 0; t < tiles_k; t += C::promote) {
    const int tiles = min(C::promote, tiles_k - t);
    const Slot<C> start = slot;
    float scales_a[2];  // of rows 8 apart
    if constexpr (C::scaled) {
      ptx::mbarrier_wait(ptx::shared_address(&shared.full[start.stage]), start.parity);
      for (int i = 0; i < 2; ++i) scales_a[i] = shared.scales[start.stage][row_of_thread + 8 * i];
      __syncwarp();  // all lanes have read, before one of them releases the slot
    }
#pragma unroll
    for (int col = 0; col < C::block_n; col += C::part_n) {
      float part[1][columns][4], scales[2];
      if constexpr (C::scaled) {
        // Of columns that are there: the last tile may reach past them.
        const int block = min(tile_col + col, p.n - 1) / BlockScales::block;
        const float scale_b = __ldg(p.scales_b + BlockScales::of_b(p.n, p.k).at(block, t));
        for (int i = 0; i < 2; ++i) scales[i] = scales_a[i] * scale_b;
      }
      slot = start;
      multiply<C>(part, shared, slots, track, tiles, first, slot, col, col + C::part_n == C::block_n);
#pragma unroll
      for (int j = 0; j < columns; ++j)
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          float& to = sum[0][col / 8 + j][q];
          to = C::scaled ? fmaf(part[0][j][q], scales[q / 2], to) : to + part[0][j][q];
        }
    }
  }
}

}  // namespace ladder::rung_08
