// The main loop of 8-bit operands that does not trust the tensor core with long sums: every few k-tiles they
// are added to others in fp32, which only threads can do. While one warpgroup adds, the other's products run.
#pragma once

#include "08_warp_specialized/mainloop.cuh"

namespace ladder::rung_08 {

// Shared -> sums, by a warpgroup: 64 rows of a tile, from row `first` on.
//
// `part` is the tensor core's while multiply() runs, which waits for the last of its products, and the
// threads' until the next wgmma_fence(), which is multiply()'s first. A slot is released before its part is
// added.
template <class C>
__device__ void multiply_promoted(float (&sum)[1][C::block_n / 8][4], typename C::Shared& shared,
                                  const Releases<C>& slots, int tiles_k, int first, Slot<C>& slot) {
  constexpr int columns = C::part_n / 8;
#pragma unroll
  for (int j = 0; j < C::block_n / 2; ++j) (&sum[0][0][0])[j] = 0;
  for (int t = 0; t < tiles_k; t += C::promote) {
    const int tiles = min(C::promote, tiles_k - t);
    const Slot<C> start = slot;
#pragma unroll
    for (int col = 0; col < C::block_n; col += C::part_n) {
      float part[1][columns][4];
      slot = start;
      multiply<C>(part, shared, slots, tiles, first, slot, col, col + C::part_n == C::block_n);
#pragma unroll
      for (int j = 0; j < columns; ++j)
#pragma unroll
        for (int q = 0; q < 4; ++q) sum[0][col / 8 + j][q] += part[0][j][q];
    }
  }
}

}  // namespace ladder::rung_08
