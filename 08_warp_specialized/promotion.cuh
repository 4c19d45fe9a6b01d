// The main loop of 8-bit operands that does not trust the tensor core with long sums: every few k-tiles they
// are added to others in fp32, which only threads can do. It is also where scales of blocks come in: a k-tile
// is as long as a block.
#pragma once

#include "08_warp_specialized/mainloop.cuh"

namespace ladder::rung_08 {

// sum += part · the scale of its row, or 1. A thread has two rows, 8 apart.
template <bool scaled, int columns>
__device__ __forceinline__ void promote(float (&sum)[columns][4], const float (&part)[columns][4],
                                        const float (&scales)[2]) {
#pragma unroll
  for (int j = 0; j < columns; ++j)
#pragma unroll
    for (int q = 0; q < 4; ++q)
      sum[j][q] = scaled ? fmaf(part[j][q], scales[q / 2], sum[j][q]) : sum[j][q] + part[j][q];
}

// Shared -> sums, by a warpgroup: 64 rows of a tile, from row `first` on. One part: while threads add it,
// this warpgroup multiplies nothing.
//
// `part` is the tensor core's while multiply() runs, which waits for the last of its products, and the
// threads' until the next wgmma_fence(), which is multiply()'s first.
template <class C>
__device__ void multiply_promoted(float (&sum)[1][C::block_n / 8][4], typename C::Shared& shared,
                                  const Releases<C>& slots, Track<C>& track, int tiles_k, int first,
                                  Slot<C>& slot) {
#pragma unroll
  for (int j = 0; j < C::block_n / 2; ++j) (&sum[0][0][0])[j] = 0;
  for (int t = 0; t < tiles_k; t += C::promote) {
    float part[1][C::block_n / 8][4];
    multiply<C>(part, shared, slots, track, min(C::promote, tiles_k - t), first, slot);
    promote<false>(sum[0], part[0], {1, 1});
  }
}

// The same with two parts in turn, each of one k-tile: while threads add one, the tensor core adds up the
// other. The tile begins at column tile_col, for B's scales.
//
// A part is the tensor core's from its issue() until wait_group says that at most the other's group is left;
// what releases its slot comes after that, too. The scales that came with the k-tile are in registers by
// then: all lanes have read them before issue() ends.
template <class C>
__device__ void multiply_in_turn(float (&sum)[1][C::block_n / 8][4], typename C::Shared& shared,
                                 const Operands& p, const Releases<C>& slots, int tiles_k, int first,
                                 int tile_col, Slot<C>& slot) {
  struct Part {
    float sum[C::block_n / 8][4], scales[2];
    int stage;
  };
  const int row_of_thread =
      first + threadIdx.x % warpgroup_size / warp_size * 16 + threadIdx.x % warp_size / 4;
  const BlockScales of_b = BlockScales::of_b(p.n, p.k);
  const int block_b = min(tile_col, p.n - 1) / BlockScales::block;  // a cluster may reach past the last tile
  auto issue = [&](Part& part, int t) {
    ptx::mbarrier_wait(ptx::shared_address(&shared.full[slot.stage]), slot.parity);
    if constexpr (C::scaled) {
      const float scale_b = __ldg(p.scales_b + of_b.at(block_b, t));
#pragma unroll
      for (int i = 0; i < 2; ++i) part.scales[i] = shared.scales[slot.stage][row_of_thread + 8 * i] * scale_b;
      __syncwarp();  // all lanes have read
    }
    const SharedAddress from_a = ptx::shared_address(shared.ring[slot.stage]);
    const MatrixDescriptor a(from_a + first * row, 0, 8 * row, Swizzle::bytes128);
    const MatrixDescriptor b(from_a + C::tile_a, 0, 8 * row, Swizzle::bytes128);
    ptx::wgmma_fence();
#pragma unroll
    for (int step = 0; step < row / mma_bytes; ++step) multiply_step<C>(part.sum, a, b, step, step > 0);
    ptx::wgmma_commit_group();
    part.stage = slot.stage;
    slot.advance();
  };
  auto add = [&](Part& part) {
    ptx::keep_sums(part.sum);
    slots.release(part.stage);
    promote<C::scaled>(sum[0], part.sum, part.scales);
  };
#pragma unroll
  for (int j = 0; j < C::block_n / 2; ++j) (&sum[0][0][0])[j] = 0;
  Part even, odd;
  issue(even, 0);
  int t = 1;
  for (; t + 1 < tiles_k; t += 2) {
    issue(odd, t);
    ptx::wgmma_wait_group<1>();
    add(even);
    issue(even, t + 1);
    ptx::wgmma_wait_group<1>();
    add(odd);
  }
  if (t < tiles_k) {
    issue(odd, t);
    ptx::wgmma_wait_group<1>();
    add(even);
    ptx::wgmma_wait_group<0>();
    add(odd);
  } else {
    ptx::wgmma_wait_group<0>();
    add(even);
  }
}

}  // namespace ladder::rung_08
