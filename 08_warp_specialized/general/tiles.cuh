// The scheduler: which tiles of C a CTA computes, and in which order. Producer and consumers each go through
// the same list.
#pragma once

#include "common/rung.h"

namespace ladder::rung_08::general {

// How the clusters that run at the same time lie on C. What they share comes from L2 once it is there, so a
// wave should be as nearly a square as can be.
enum class Order {
  rows,       // row by row: a wave is a strip
  supertile,  // down `group` rows, then on to the next column
  hilbert     // squares of `group` by `group`, each along a Hilbert curve
};

// Where on the curve through a square of side 2^levels step `i` is.
__device__ inline void hilbert_curve(int i, int levels, int& row, int& col) {
  row = col = 0;
  for (int side = 1; side < 1 << levels; side *= 2, i /= 4) {
    const int right = i / 2 & 1, down = (i ^ right) & 1;
    if (!down) {  // the quadrants at both ends are transposed
      if (right) {
        row = side - 1 - row;
        col = side - 1 - col;
      }
      const int old_row = row;
      row = col;
      col = old_row;
    }
    row += side * down;
    col += side * right;
  }
}

// C in tiles of block_m x block_n, and those in blocks of cluster_m x cluster_n, one for each cluster.
template <class C>
class Tiles {
 public:
  // `rank`: which of its cluster's CTAs this is, rows first.
  __device__ Tiles(int m, int n, int rank)
      : clusters_m_(ceil_div(m, C::block_m * C::cluster_m)),
        clusters_n_(ceil_div(n, C::block_n * C::cluster_n)),
        row_in_cluster_(rank % C::cluster_m),
        col_in_cluster_(rank / C::cluster_m),
        next_(int(blockIdx.x) / C::cluster) {
    advance();
  }

  __device__ bool valid() const { return valid_; }
  __device__ int row() const { return row_; }  // of C, of the tile's first element
  __device__ int col() const { return col_; }

  __device__ void advance() {
    valid_ = next_ < clusters_m_ * clusters_n_;
    if (!valid_) return;
    const int group = C::order == Order::rows ? 1 : C::group;
    const int strip = next_ / (group * clusters_n_), first = strip * group;
    int i = next_ - first * clusters_n_, height = min(group, clusters_m_ - first);
    int row = i % height, col = i / height;
    if constexpr (C::order == Order::hilbert) {
      constexpr int levels = 3;
      static_assert(C::group == 1 << levels, "the side of a square");
      const int square = col / group * group;
      if (height == group && square + group <= clusters_n_) {
        hilbert_curve(i - square * group, levels, row, col);
        col += square;
      }
    }
    row_ = ((first + row) * C::cluster_m + row_in_cluster_) * C::block_m;
    col_ = (col * C::cluster_n + col_in_cluster_) * C::block_n;
    next_ += int(gridDim.x) / C::cluster;
  }

 private:
  int clusters_m_, clusters_n_, row_in_cluster_, col_in_cluster_;
  int next_;
  bool valid_ = false;
  int row_ = 0, col_ = 0;
};

}  // namespace ladder::rung_08::general
