// Accumulators -> C.
#pragma once

#include "common/every_shape/hopper/transposed/mainloop.cuh"
#include "common/ptx/barrier.cuh"
#include "common/ptx/ldmatrix.cuh"

namespace ladder::every_shape::transposed {

// Accumulators -> shared, in bf16: an 8x8 block of C for each half of a warp's 16 columns. An accumulator's
// row is a column of C, so stmatrix transposes.
__device__ inline void store_group(const float (&from)[4], SharedAddress to) {
  const __nv_bfloat162 left = __floats2bfloat162_rn(from[0], from[1]);
  const __nv_bfloat162 right = __floats2bfloat162_rn(from[2], from[3]);
  const unsigned both[2] = {reinterpret_cast<const unsigned&>(left),
                            reinterpret_cast<const unsigned&>(right)};
  ptx::stmatrix_x2_trans(to, both);
}

// Accumulators -> C, by a warpgroup: its 64 columns and all rows, through two boxes of shared memory in turn.
// TMA does not store what lies past the edges of C.
template <class C>
__device__ void store(const float (&accumulator)[C::groups][4], unsigned char (&boxes)[C::box_c],
                      int& next_box, const CUtensorMap& c, int row, int col, int warpgroup) {
  constexpr int box_groups = C::box_rows / 8;
  const int thread = threadIdx.x % warpgroup_size, lane = threadIdx.x % warp_size;
  const int row_of_lane = lane % 8, chunk = thread / warp_size * 2 + lane / 8 % 2;  // of 16 bytes
#pragma unroll
  for (int i = 0; i < ceil_div(C::groups, box_groups); ++i) {
    // The last box lies within the tile, too: what it has in common with the one before is stored twice.
    const int g0 = min(i * box_groups, C::groups - box_groups);
    const SharedAddress box = ptx::shared_address(&boxes[next_box * C::box_rows * C::row]);
    if (thread == 0) ptx::bulk_wait_group_read<1>();  // all copies but the newest, which is the other box's
    ptx::barrier_sync(1 + warpgroup, warpgroup_size);
#pragma unroll
    for (int g = 0; g < box_groups; ++g)
      store_group(accumulator[g0 + g], box + (g * 8 + row_of_lane) * C::row + (chunk ^ row_of_lane) * 16);
    ptx::fence_proxy_async();
    ptx::barrier_sync(1 + warpgroup, warpgroup_size);
    if (thread == 0) {
      ptx::tma_store(c, col, row + g0 * 8, box);
      ptx::bulk_commit_group();
    }
    next_box ^= 1;
  }
}

// The only tile of a CTA, by a warpgroup with stores of its own, through the ring buffer: each block through
// what the warpgroup alone has read, its columns of B, or where consumers divide the rows, its rows of A. A
// TMA store of a box takes longer than the threads' stores, and there is no next tile to hide it.
template <class C>
__device__ void store_only(const float (&accumulator)[C::design.blocks][C::groups][4],
                           typename C::Shared& shared, const Operands& p, int row, int col, int block,
                           int top_in_tile, int warpgroup) {
  const int thread = threadIdx.x % warpgroup_size, lane = threadIdx.x % warp_size;
  const int row_of_lane = lane % 8, chunk = thread / warp_size * 2 + lane / 8 % 2;  // of 16 bytes
  auto place = [&](int j, int row, int chunk) {
    const int in_row = (chunk ^ row % 8) * 16;
    if constexpr (C::design.by_rows) return &shared.buffer[j][(top_in_tile + row) * C::row + in_row];
    // A box of B has 64 rows.
    return &shared.buffer[row / 64][C::tile_a + (block + j) * C::box_b + row % 64 * C::row + in_row];
  };
#pragma unroll
  for (int j = 0; j < C::design.blocks; ++j) {
#pragma unroll
    for (int g = 0; g < C::groups; ++g)
      store_group(accumulator[j][g], ptx::shared_address(place(j, g * 8 + row_of_lane, chunk)));
  }
  ptx::barrier_sync(1 + warpgroup, warpgroup_size);
  const int top = thread / 8, left = col + thread % 8 * 8, rows = min(p.m - row, C::rows_each) - top;
  const std::size_t down = std::size_t(p.n) * 16;  // elements
#pragma unroll
  for (int j = 0; j < C::design.blocks; ++j) {
    uint4 chunks[ceil_div(C::rows_each, 16)];
#pragma unroll
    for (int i = 0; i < ceil_div(C::rows_each, 16); ++i)
      chunks[i] = *reinterpret_cast<const uint4*>(place(j, min(i * 16 + top, C::rows_each - 1), thread % 8));
    if (left + j * mma_m >= p.n) return;
    __nv_bfloat16* to = p.to + std::size_t(row + top) * p.n + left + j * mma_m;
#pragma unroll
    for (int i = 0; i < ceil_div(C::rows_each, 16); ++i, to += down)
      if (i * 16 < rows) *reinterpret_cast<uint4*>(to) = chunks[i];
  }
}

// The same by a warp with stores of its own: its 16 columns, and the rows of groups `first` up to `end`.
template <class C>
__device__ void store_by_threads(const float (&accumulator)[C::groups][4], unsigned char (&boxes)[C::box_c],
                                 const Operands& p, int row, int col, int first, int end) {
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size % 4;
  unsigned char* const box = &boxes[warp * C::block_m * 32];  // swizzled over 32 bytes
  auto place = [](int row, int half) { return row * 32 + (half ^ row / 4 % 2) * 16; };
#pragma unroll
  for (int g = 0; g < C::groups; ++g)
    if (g >= first && g < end)
      store_group(accumulator[g], ptx::shared_address(&box[place(g * 8 + lane % 8, lane / 8 % 2)]));
  __syncwarp();
  const int half = lane % 2;
  const int rows = col + half * 8 < p.n ? min(end * 8, p.m - row) : 0;
  for (int r = first * 8 + lane / 2; r < rows; r += warp_size / 2)
    *reinterpret_cast<uint4*>(p.to + std::size_t(row + r) * p.n + col + half * 8) =
        *reinterpret_cast<const uint4*>(&box[place(r, half)]);
  __syncwarp();  // the box may be written again
}

}  // namespace ladder::every_shape::transposed
