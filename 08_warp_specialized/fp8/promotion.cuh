// Mainloops for 8-bit operands that do not accumulate for long in the tensor core, whose accumulators have 14
// bits: every few k-tiles they are added to others, in fp32 registers, which only threads can do. It is also
// where scales of blocks come in: a k-tile is as long as a block.
#pragma once

#include "08_warp_specialized/fp8/fp8.cuh"

namespace ladder::rung_08 {

// accumulator += part · the scale of its row, or 1. A thread has two rows, 8 apart.
template <bool scaled, int columns>
__device__ __forceinline__ void promote(float (&accumulator)[columns][4], const float (&part)[columns][4],
                                        const float (&scales)[2]) {
#pragma unroll
  for (int j = 0; j < columns; ++j)
#pragma unroll
    for (int q = 0; q < 4; ++q)
      accumulator[j][q] =
          scaled ? fmaf(part[j][q], scales[q / 2], accumulator[j][q]) : accumulator[j][q] + part[j][q];
}

// One part, of `k_tiles` k-tiles: while the threads add it, this warpgroup has no MMAs in flight.
//
// `part` belongs to the tensor core while multiply() runs, which waits for the last of its MMAs, and to the
// threads until the next wgmma_fence(), which is multiply()'s first.
template <class Base, int k_tiles>
struct Promoted : Base {
  template <class C, class Meanwhile>
  __device__ static void mainloop(Accumulator<C>& accumulator, typename C::Shared& shared,
                                  const typename C::Operands&, const Releases<C>& releases, int tiles_k,
                                  int first, int, Stage<C>& stage, const Meanwhile&) {
    static_assert(C::rows_each == 1 && C::cluster_k == 1, "not written for others");
    static_assert(C::block_n <= 128, "registers for an accumulator and a part");
    general::clear<C>(accumulator);
    for (int t = 0; t < tiles_k; t += k_tiles) {
      Accumulator<C> part;
      general::multiply<C>(part, shared, releases, min(k_tiles, tiles_k - t), first, stage);
      promote<false>(accumulator[0], part[0], {1, 1});
    }
  }
};

// Two parts in turn, each of one k-tile: while threads add one, the tensor core accumulates the other.
//
// A part belongs to the tensor core from its issue() until wait_group says that at most the other's group is
// left; its stage is released after that, too. The scales that came with the k-tile are in registers by then:
// all lanes have read them before issue() ends.
template <class Base>
struct InTurn : Base {
  template <class C>
  struct Part {
    float accumulator[C::block_n / 8][4], scales[2];
    int stage;
  };

  template <class C, class Meanwhile>
  __device__ static void mainloop(Accumulator<C>& accumulator, typename C::Shared& shared,
                                  const typename C::Operands& p, const Releases<C>& releases, int tiles_k,
                                  int first, int col0, Stage<C>& stage, const Meanwhile&) {
    static_assert(C::rows_each == 1 && C::cluster_k == 1, "not written for others");
    static_assert(C::block_n <= 128, "registers for an accumulator and two parts");
    const int row_of_thread =
        first + threadIdx.x % warpgroup_size / warp_size * 16 + threadIdx.x % warp_size / 4;
    const BlockScales of_b = BlockScales::of_b(p.n, p.k);
    const int block_b = min(col0, p.n - 1) / BlockScales::block;  // a cluster may reach past the last tile
    auto issue = [&](Part<C>& part, int t) {
      ptx::mbarrier_wait(ptx::shared_address(&shared.full[stage.index]), stage.parity);
      if constexpr (Base::block_scales) {
        const float scale_b = __ldg(p.extra.scales_b + of_b.at(block_b, t));
        const float* const scales_a = &shared.extra.scales[stage.index][row_of_thread];
#pragma unroll
        for (int i = 0; i < 2; ++i) part.scales[i] = scales_a[8 * i] * scale_b;
        __syncwarp();  // all lanes have read
      }
      const SharedAddress from_a = ptx::shared_address(shared.buffer[stage.index]);
      const MatrixDescriptor a(from_a + first * C::row, 0, 8 * C::row, Swizzle::bytes128);
      const MatrixDescriptor b(from_a + C::tile_a, 0, 8 * C::row, Swizzle::bytes128);
      ptx::wgmma_fence();
#pragma unroll
      for (int step = 0; step < C::row / general::mma_bytes; ++step)
        Base::multiply_step(part.accumulator, a, b, step, step > 0);
      ptx::wgmma_commit_group();
      part.stage = stage.index;
      stage.advance();
    };
    auto add = [&](Part<C>& part) {
      ptx::keep_accumulators(part.accumulator);
      releases.release(part.stage);
      promote<Base::block_scales>(accumulator[0], part.accumulator, part.scales);
    };
    general::clear<C>(accumulator);
    Part<C> even, odd;
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
};

constexpr Design promoted{.block_n = 128, .stages = 6, .group = 16};

// A stage less: scales take its place.
constexpr Design with_scales(Design design) {
  --design.stages;
  return design;
}

}  // namespace ladder::rung_08
