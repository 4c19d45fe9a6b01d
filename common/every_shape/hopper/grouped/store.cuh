// Accumulators -> C, as far as a tile is its group's.
#pragma once

#include "common/every_shape/hopper/transposed/store.cuh"

namespace ladder::every_shape::grouped {

using transposed::Operands;

// By a warpgroup: its 64 columns and all rows above `bottom`, through two boxes of shared memory in turn. TMA
// stores a box that lies within the group. Of one that does not, threads store the rows that do: TMA would
// write the next group's rows, too, which are another CTA's.
template <class C>
__device__ void store(const float (&accumulator)[C::groups][4], unsigned char (&boxes)[C::box_c],
                      int& next_box, const Operands& p, int row, int col, int bottom, int warpgroup) {
  constexpr int box_groups = C::box_rows / 8, chunks = C::row / 16;
  const int thread = threadIdx.x % warpgroup_size, lane = threadIdx.x % warp_size;
  const int row_of_lane = lane % 8, chunk = thread / warp_size * 2 + lane / 8 % 2;  // of 16 bytes
#pragma unroll
  for (int i = 0; i < ceil_div(C::groups, box_groups); ++i) {
    // The last box lies within the tile, too: what it has in common with the one before is stored twice.
    const int g0 = min(i * box_groups, C::groups - box_groups);
    const int top = row + g0 * 8, rows = min(bottom - top, C::box_rows);
    if (rows <= 0) return;
    unsigned char* const box = &boxes[next_box * C::box_rows * C::row];
    const SharedAddress to = ptx::shared_address(box);
    if (thread == 0) ptx::bulk_wait_group_read<1>();  // all copies but the newest, which is the other box's
    ptx::barrier_sync(1 + warpgroup, warpgroup_size);
#pragma unroll
    for (int g = 0; g < box_groups; ++g)
      transposed::store_group(accumulator[g0 + g],
                              to + (g * 8 + row_of_lane) * C::row + (chunk ^ row_of_lane) * 16);
    ptx::fence_proxy_async();
    ptx::barrier_sync(1 + warpgroup, warpgroup_size);
    if (rows == C::box_rows) {
      if (thread == 0) ptx::tma_store(p.c, col, top, to);
    } else {
      for (int j = thread; j < rows * chunks; j += warpgroup_size) {
        const int r = j / chunks, c = j % chunks;
        if (col + c * 8 < p.n)
          *reinterpret_cast<uint4*>(p.to + std::size_t(top + r) * p.n + col + c * 8) =
              *reinterpret_cast<const uint4*>(&box[r * C::row + (c ^ r % 8) * 16]);
      }
    }
    // Where threads stored, the bulk group is empty, and counts all the same: "all but the newest" above is
    // about the box before, whichever way that was stored.
    if (thread == 0) ptx::bulk_commit_group();
    next_box ^= 1;
  }
}

}  // namespace ladder::every_shape::grouped
