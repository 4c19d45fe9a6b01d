// Accumulator -> C. `scales` multiplies an element of the accumulator by what the policy says, if anything.
#pragma once

#include "08_warp_specialized/general/mainloop.cuh"
#include "common/ptx/ldmatrix.cuh"

namespace ladder::rung_08::general {

// 16 rows of an accumulator's 64, and of its columns the box-th 64 -> shared, by a warp, as a swizzled box.
template <class C, class Scales>
__device__ void store_box(const float (&accumulator)[C::block_n / 8][4], int i, int box, const Scales& scales,
                          SharedAddress to) {
  const int lane = threadIdx.x % warp_size, row = lane % 16;
#pragma unroll
  for (int j = 0; j < 8; j += 2) {
    unsigned both[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const float(&from)[4] = accumulator[box * 8 + j + q / 2];
      const __nv_bfloat162 pair = __floats2bfloat162_rn(scales.scaled(from[q % 2 * 2], i, q % 2),
                                                        scales.scaled(from[q % 2 * 2 + 1], i, q % 2));
      both[q] = reinterpret_cast<const unsigned&>(pair);
    }
    ptx::stmatrix_x4(to + row * C::row + (j + lane / 16 ^ row % 8) * 16, both);
  }
}

// Accumulator -> shared -> C. Each warp stores its own 16 rows, 64 columns at a time, through two boxes in
// turn: it fills one while TMA reads the other, and does not wait for the last two before its next tile.
template <class C, class Scales>
__device__ void store(const Accumulator<C>& accumulator, const Scales& scales,
                      unsigned char (&boxes)[2][C::box_c], const typename C::Operands& p, int row0, int col0,
                      int& next_box) {
  const int lane = threadIdx.x % warp_size;
#pragma unroll
  for (int i = 0; i < C::rows_each; ++i) {
#pragma unroll
    for (int box = 0; box < C::block_n / 64; ++box) {
      const SharedAddress to = ptx::shared_address(boxes[next_box]);
      // All copies of this lane but the newest, which is the other box's, have read their box.
      if (lane == 0) ptx::bulk_wait_group_read<1>();
      __syncwarp();
      store_box<C>(accumulator[i], i, box, scales, to);
      ptx::fence_proxy_async();
      __syncwarp();  // the box is complete
      if (lane == 0) {
        ptx::tma_store(p.map_c, col0 + box * 64, row0 + i * mma_m, to);
        ptx::bulk_commit_group();
      }
      next_box ^= 1;
    }
  }
}

// Split-K: all CTAs of the cluster have accumulators of the whole tile, each over its part of k. Each sends
// every peer the columns that the peer owns, straight from its registers, and stores its own when all have
// arrived. They are added in the order of parts: the result does not depend on which arrives first.
//
// A CTA waits for what is sent to it, so its shared memory exists as long as a peer sends; and it need not
// wait until its own have landed.
template <class C, class Scales>
__device__ void combine(const Accumulator<C>& accumulator, const Scales& scales, typename C::Shared& shared,
                        const typename C::Operands& p, int part, int row0, int col0, int thread) {
  const SharedAddress combined = ptx::shared_address(&shared.combined);
#pragma unroll
  for (int to = 0; to < C::cluster_k; ++to) {
#pragma unroll
    for (int j = 0; j < C::own; ++j) {
      const float(&mine)[4] = accumulator[0][to * C::own + j];
      float4& partial = shared.out.of_part[part][j][thread];
      if (to != part) {
        ptx::store_async(ptx::shared_address(&partial), mine, combined, to);
      } else {
        partial = make_float4(mine[0], mine[1], mine[2], mine[3]);
      }
    }
  }
  ptx::mbarrier_wait(combined, 0);
  const int row = row0 + thread % warp_size / 4;
#pragma unroll
  for (int j = 0; j < C::own; ++j) {
    float4 all{};
#pragma unroll
    for (int from = 0; from < C::cluster_k; ++from) {
      const float4 one = shared.out.of_part[from][j][thread];
      all = {all.x + one.x, all.y + one.y, all.z + one.z, all.w + one.w};
    }
    all = {scales.scaled(all.x, 0, 0), scales.scaled(all.y, 0, 0), scales.scaled(all.z, 0, 1),
           scales.scaled(all.w, 0, 1)};
    const int col = col0 + (part * C::own + j) * 8 + thread % 4 * 2;
    auto* const to = reinterpret_cast<__nv_bfloat162*>(p.c + std::size_t(row) * p.n + col);
    if (row < p.m && col < p.n) to[0] = __floats2bfloat162_rn(all.x, all.y);
    if (row + 8 < p.m && col < p.n) to[4 * std::size_t(p.n)] = __floats2bfloat162_rn(all.z, all.w);
  }
}

}  // namespace ladder::rung_08::general
