// Which tiles of C a CTA computes, and which part of k.
#pragma once

#include "08_warp_specialized/shapes/swapped/design.cuh"

namespace ladder::rung_08::swapped {

// What a CTA computes: tiles, of which it may have a part of k. The first `streamed` tiles of clusters are
// shared out by k-tiles; the others come whole.
template <class C>
class Tiles {
 public:
  __device__ Tiles(const Operands& p, int rank)
      : clusters_m_(ceil_div(p.m, C::block_m * C::cluster_m)),
        clusters_n_(ceil_div(p.n, C::block_n * C::cluster_n)),
        tiles_k_(ceil_div(p.k, C::block_k)),
        group_(p.group),
        share_(p.share),
        longer_(p.longer) {
    if constexpr (C::design.split) {
      index_ = int(blockIdx.x) / p.parts;
      first_ = tiles_k_ * rank / p.parts;
      end_ = tiles_k_ * (rank + 1) / p.parts;
      find();
    } else {
      row_in_cluster_ = rank % C::cluster_m;
      col_in_cluster_ = rank / C::cluster_m;
      cluster_ = int(blockIdx.x) / C::sharers;
      clusters_ = int(gridDim.x) / C::sharers;
      next_ = begin_of(cluster_);
      share_end_ = begin_of(cluster_ + 1);
      whole_ = p.streamed + cluster_;
      advance();
    }
  }
  __device__ bool valid() const { return index_ < clusters_m_ * clusters_n_; }
  __device__ void advance() {
    if constexpr (C::design.split) {
      index_ = clusters_m_ * clusters_n_;
    } else if (next_ < share_end_) {
      index_ = next_ / tiles_k_;
      first_ = next_ % tiles_k_;
      end_ = min(tiles_k_, first_ + share_end_ - next_);
      next_ += end_ - first_;
      find();
    } else {
      index_ = whole_;
      whole_ += clusters_;
      first_ = 0;
      end_ = tiles_k_;
      find();
    }
  }
  __device__ int row() const { return row_; }  // of C, of the tile's first element
  __device__ int col() const { return col_; }
  __device__ int first() const { return first_; }  // k-tile
  __device__ int end() const { return end_; }
  __device__ bool begins() const { return first_ == 0; }
  __device__ bool ends() const { return end_ == tiles_k_; }
  __device__ int cluster() const { return cluster_; }
  // Whether this cluster has a later part of the tile.
  __device__ bool goes_on_in(int cluster) const {
    return cluster < clusters_ && begin_of(cluster) < (index_ + 1) * tiles_k_;
  }

 private:
  // Of the streamed k-tiles, the first that is a cluster's.
  __device__ int begin_of(int cluster) const { return cluster * share_ + min(cluster, longer_); }
  __device__ void find() {
    if (!valid()) return;
    const int per_group = group_ * clusters_n_, above = index_ / per_group * group_;
    const int rows = min(clusters_m_ - above, group_), i = index_ % per_group;
    row_ = ((above + i % rows) * C::cluster_m + row_in_cluster_) * C::block_m;
    col_ = (i / rows * C::cluster_n + col_in_cluster_) * C::block_n;
  }

  const int clusters_m_, clusters_n_, tiles_k_, group_, share_, longer_;
  int row_in_cluster_ = 0, col_in_cluster_ = 0, cluster_ = 0, clusters_ = 1, whole_ = 0;
  int next_ = 0, share_end_ = 0;
  int index_ = 0, row_ = 0, col_ = 0, first_ = 0, end_ = 0;
};

// The CTAs of the cluster that get what this one loads: A all that lie beside it, B all below and above.
template <class C>
struct Peers {
  int rank;
  __device__ int beside(int i) const { return rank % C::cluster_m + i * C::cluster_m; }
  __device__ int below(int i) const { return rank / C::cluster_m * C::cluster_m + i; }
  __device__ unsigned short all_beside() const {
    unsigned short ctas = 0;
    for (int i = 0; i < C::cluster_n; ++i) ctas |= 1 << beside(i);
    return ctas;
  }
  __device__ unsigned short all_below() const {
    unsigned short ctas = 0;
    for (int i = 0; i < C::cluster_m; ++i) ctas |= 1 << below(i);
    return ctas;
  }
  // The i-th CTA that loads into this one's stages, for i < C::fillers: each once, this one among them.
  __device__ int filler(int i) const {
    const int other = i - C::cluster_m;
    return other < 0 ? below(i) : beside(other + (other >= rank / C::cluster_m));
  }
};

}  // namespace ladder::rung_08::swapped
