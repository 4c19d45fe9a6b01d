// Which tiles a CTA computes of a product in groups.
#pragma once

#include "common/every_shape/hopper/transposed/design.cuh"
#include "common/extension.h"

namespace ladder::every_shape::grouped {

// The groups' tiles are numbered through, one group after the other, and the CTAs (or clusters) deal them out
// as those of one matrix. Only the device knows how many rows a group has, so each warp finds the group of a
// tile for itself: its lanes hold 32 groups, a scan counts their tiles, and a ballot finds the first group
// that ends after the tile. All warps of a CTA find the same; a warp walks as a whole, since it shuffles.
template <class C>
class Tiles {
 public:
  __device__ Tiles(const GroupedGemm& p, const transposed::Operands& operands, int rank)
      : offsets_(p.offsets),
        groups_(p.groups),
        clusters_n_(ceil_div(p.n, C::block_n * operands.cluster.n)),
        tiles_k_(ceil_div(p.k, C::block_k)),
        rows_together_(operands.group),
        cluster_(operands.cluster.n),
        rank_(rank),
        index_(int(blockIdx.x) / cluster_) {
    read_groups();
    find();
  }
  __device__ bool valid() const { return lanes_first_ < groups_; }
  __device__ void advance() {
    index_ += int(gridDim.x) / cluster_;
    find();
  }
  __device__ int row() const { return row_; }  // of A and C, of the tile's first element
  __device__ int col() const { return col_; }
  __device__ int first() const { return 0; }  // k-tile
  __device__ int end() const { return tiles_k_; }
  __device__ int matrix_of_b() const { return group_; }
  __device__ int bottom() const { return bottom_; }  // the row at which the next group begins

 private:
  // A lane's group: its rows, and the tiles of all groups up to its end.
  __device__ void read_groups() {
    const int lane = threadIdx.x % warp_size, group = min(lanes_first_ + lane, groups_);
    lane_top_ = offsets_[group];
    lane_bottom_ = offsets_[min(group + 1, groups_)];
    lane_tiles_ = ceil_div(lane_bottom_ - lane_top_, C::block_m) * clusters_n_;
    for (int distance = 1; distance < warp_size; distance *= 2) {
      const int others = __shfl_up_sync(~0u, lane_tiles_, distance);
      if (lane >= distance) lane_tiles_ += others;
    }
    lane_tiles_ += tiles_before_;
  }

  // The tile at index_, which is in these 32 groups or in later ones.
  __device__ void find() {
    unsigned after;  // lanes whose groups end after the tile
    for (;;) {
      after = __ballot_sync(~0u, index_ < lane_tiles_);
      if (after != 0) break;
      tiles_before_ = __shfl_sync(~0u, lane_tiles_, warp_size - 1);
      lanes_first_ += warp_size;
      if (!valid()) return;
      read_groups();
    }
    const int lane = __ffs(int(after)) - 1;
    group_ = lanes_first_ + lane;
    const int top = __shfl_sync(~0u, lane_top_, lane);
    const int before = __shfl_sync(~0u, lane_tiles_, max(lane - 1, 0));
    bottom_ = __shfl_sync(~0u, lane_bottom_, lane);
    // Within a group first down a few rows of tiles, so that those that run at once share B, then to the
    // right.
    const int i = index_ - (lane > 0 ? before : tiles_before_);
    const int tiles_m = ceil_div(bottom_ - top, C::block_m), per_band = rows_together_ * clusters_n_;
    const int above = i / per_band * rows_together_, in_band = i % per_band;
    const int rows = min(tiles_m - above, rows_together_);
    row_ = top + (above + in_band % rows) * C::block_m;
    col_ = (in_band / rows * cluster_ + rank_) * C::block_n;
  }

  const int* const offsets_;
  const int groups_, clusters_n_, tiles_k_, rows_together_, cluster_, rank_;
  int index_;
  int lanes_first_ = 0, tiles_before_ = 0;               // of the lanes' groups the first; tiles before it
  int lane_top_ = 0, lane_bottom_ = 0, lane_tiles_ = 0;  // differ from lane to lane
  int group_ = 0, bottom_ = 0, row_ = 0, col_ = 0;
};

}  // namespace ladder::every_shape::grouped
