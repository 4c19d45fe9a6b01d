// Which tiles of C a CTA computes, and which part of k.
#pragma once

#include <algorithm>
#include <cmath>

#include "08_warp_specialized/shapes/swapped/design.cuh"

namespace ladder::rung_08::swapped {

constexpr int most_gpcs = 8;  // of an H100 or an H200

// What a CTA computes: tiles, of which it may have a part of k. The first `streamed` tiles of clusters are
// shared out by k-tiles; the others come whole.
//
// The order is made for L2: a line that several SMs of a GPC ask for at about the same time is read once for
// all of them. The hardware deals clusters out to the GPCs like cards. So cluster c is taken for one of the
// GPC c % gpcs, and each GPC has consecutive tiles. They follow each other down B's columns, in groups of
// rows such that what all GPCs compute at a time is about a square.
template <class C>
class Tiles {
 public:
  __device__ Tiles(const Operands& p, int rank)
      : clusters_m_(p.clusters_m),
        clusters_n_(p.clusters_n),
        group_(p.group),
        tiles_k_(p.tiles_k),
        share_(p.share),
        longer_(p.longer),
        parts_(p.parts),
        cluster_(ptx::cluster_id()) {
    if (p.gpcs > 1) {
      const int gpc = cluster_ % most_gpcs;
      cluster_ = gpc * p.per_gpc + min(gpc, p.larger_gpcs) + cluster_ / most_gpcs;
    }
    if constexpr (!C::design.split) {
      row_in_cluster_ = rank % C::cluster_m;
      col_in_cluster_ = rank / C::cluster_m;
    }
    if constexpr (one_part) {
      index_ = C::design.split ? cluster_ : cluster_ / p.parts;
      const int part = C::design.split ? rank : cluster_ % p.parts;
      first_ = begin_of(part);
      end_ = begin_of(part + 1);
      find();
    } else {
      clusters_ = int(gridDim.x) / C::sharers;
      next_ = begin_of(cluster_);
      share_end_ = begin_of(cluster_ + 1);
      whole_ = p.streamed + cluster_;
      advance();
    }
  }
  __device__ bool valid() const { return unsigned(index_) < clusters_m_ * clusters_n_; }
  __device__ void advance() {
    if constexpr (one_part) {
      index_ = int(clusters_m_ * clusters_n_);
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
  // Whether a later cluster has a later part of the tile.
  __device__ bool goes_on_in(int cluster) const {
    if constexpr (C::design.in_memory) {
      return cluster < (index_ + 1) * parts_;
    } else {
      return cluster < clusters_ && begin_of(cluster) < (index_ + 1) * tiles_k_;
    }
  }

 private:
  static constexpr bool one_part = C::design.split || C::design.in_memory;  // of one tile

  // The first k-tile of a cluster, of the streamed ones, or of a part.
  __device__ int begin_of(int cluster) const { return cluster * share_ + min(cluster, longer_); }
  __device__ void find() {
    if (!valid()) return;
    unsigned m = 0, n = index_;  // of tiles of clusters
    if (clusters_m_ > 1) {
      unsigned above = 0, rows = clusters_m_;
      if (group_ < clusters_m_) {
        const unsigned per_group = group_ * clusters_n_;
        above = index_ / per_group * group_;
        rows = min(clusters_m_ - above, group_);
        n = index_ % per_group;
      }
      m = above + n % rows;
      n = n / rows;
    }
    row_ = (int(m) * C::cluster_m + row_in_cluster_) * C::block_m;
    col_ = (int(n) * C::cluster_n + col_in_cluster_) * C::block_n;
  }

  const unsigned clusters_m_, clusters_n_, group_;
  const int tiles_k_, share_, longer_, parts_;
  int cluster_, clusters_ = 1, row_in_cluster_ = 0, col_in_cluster_ = 0, whole_ = 0;
  int next_ = 0, share_end_ = 0;
  int index_ = 0, row_ = 0, col_ = 0, first_ = 0, end_ = 0;
};

// The order of the tiles, see Tiles, where so many clusters run at once, of so many in all.
template <class C>
void order(Operands& p, int at_once, int clusters) {
  constexpr int rows = C::block_m * C::cluster_m, cols = C::block_n * C::cluster_n;
  // What runs at once is about a square of C.
  p.group = std::clamp(int(std::sqrt(double(at_once) * cols / rows) + 0.5), 1, p.clusters_m);
  p.gpcs = p.clusters_m > 1 ? most_gpcs : 1;
  p.per_gpc = clusters / most_gpcs;
  p.larger_gpcs = clusters % most_gpcs;
}

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
