// Which tiles of C a CTA computes, and which part of k.
#pragma once

#include <algorithm>
#include <cmath>

#include "common/every_shape/hopper/transposed/design.cuh"

namespace ladder::every_shape::transposed {

constexpr int most_gpcs = 8;  // of an H100 or an H200

// What a CTA computes: tiles, of which it may have a part of k. The first `streamed` tiles of clusters are
// shared out by k-tiles; the others come whole. See order() for which comes when.
template <class C>
class Tiles {
 public:
  __device__ explicit Tiles(const Operands& p) : p_(p) {
    if constexpr (C::design.split) {
      row_ = int(blockIdx.y) * C::block_m;
      col_ = int(blockIdx.x) * C::block_n;
      first_ = begin_of(int(blockIdx.z));
      end_ = begin_of(int(blockIdx.z) + 1);
      valid_ = true;
    } else {
      cluster_ = int(blockIdx.z);
      if (p.gpcs > 1) {
        const int gpc = cluster_ % most_gpcs;
        cluster_ = gpc * p.per_gpc + min(gpc, p.larger_gpcs) + cluster_ / most_gpcs;
      }
      whole_ = cluster_;
      if constexpr (C::design.in_memory) {
        part_ = p.per_part.quotient(cluster_);
        whole_ = p.per_part.remainder(cluster_, part_);
      }
      if constexpr (C::design.streamed) {
        next_ = begin_of(cluster_);
        share_end_ = begin_of(cluster_ + 1);
        whole_ += p.streamed;
      }
      advance();
    }
  }
  __device__ bool valid() const { return valid_; }
  __device__ void advance() {
    if constexpr (C::design.split) {
      valid_ = false;
      return;
    }
    if (C::design.streamed && next_ < share_end_) {
      index_ = next_ / p_.tiles_k;
      first_ = next_ % p_.tiles_k;
      end_ = min(p_.tiles_k, first_ + share_end_ - next_);
      next_ += end_ - first_;
      find();
    } else {
      index_ = whole_;
      whole_ += int(gridDim.z);
      if constexpr (C::design.in_memory) {
        first_ = begin_of(part_);
        end_ = begin_of(part_ + 1);
      } else {
        first_ = 0;
        end_ = p_.tiles_k;
      }
      find();
    }
  }
  __device__ int row() const { return row_; }  // of C, of the tile's first element
  __device__ int col() const { return col_; }
  __device__ int first() const { return first_; }  // k-tile
  __device__ int end() const { return end_; }
  __device__ bool begins() const { return first_ == 0; }
  __device__ bool ends() const { return end_ == p_.tiles_k; }
  // Of a design whose CTAs have parts of tiles: where this one's is in the workspace, counted in clusters.
  __device__ int part() const {
    if constexpr (C::design.in_memory) {
      return index_ * p_.parts + part_;
    } else {
      return cluster_;
    }
  }
  // How many that follow it have the tile's later parts.
  __device__ int later_parts() const {
    if constexpr (C::design.in_memory) {
      return p_.parts - 1;
    } else {
      int later = 0;
      for (int cluster = cluster_ + 1; cluster < int(gridDim.z); ++cluster, ++later)
        if (begin_of(cluster) >= (index_ + 1) * p_.tiles_k) break;
      return later;
    }
  }

 private:
  // The first k-tile of a cluster, of the streamed ones, or of a part.
  __device__ int begin_of(int cluster) const { return cluster * p_.share + min(cluster, p_.longer); }
  __device__ void find() {
    valid_ = index_ < p_.clusters_m * p_.clusters_n;
    int m = 0, n = index_;  // of tiles of clusters
    if (p_.clusters_m > 1) {
      const int group = p_.per_group.quotient(index_), above = group * p_.group;
      const int in_group = p_.per_group.remainder(index_, group);
      const FastDivisor& per_column = above + p_.group > p_.clusters_m ? p_.per_last_column : p_.per_column;
      n = per_column.quotient(in_group);
      m = above + per_column.remainder(in_group, n);
    }
    row_ = (m * p_.cluster.m + int(blockIdx.y)) * C::block_m;
    col_ = (n * p_.cluster.n + int(blockIdx.x)) * C::block_n;
  }

  const Operands& p_;
  bool valid_ = false;
  int cluster_ = 0, part_ = 0, whole_ = 0, next_ = 0, share_end_ = 0;
  int index_ = 0, row_ = 0, col_ = 0, first_ = 0, end_ = 0;
};

// The order of the tiles, where at most `at_once` clusters run at once, and `clusters` are launched: they
// follow each other down B's columns, in groups of rows.
//
// It is made for L2, which reads a line once for several SMs that request it at about the same time: the SMs
// of a GPC, unless the load is multicast, and SMs of any GPCs that start one after the other. The hardware
// deals clusters out to the GPCs like cards. So where `gpcs` is more than 1, cluster c is taken for
// one of GPC c % gpcs, and each GPC has consecutive tiles, or tiles of the same part of k. What is best in
// which case was found by trying.
template <class C>
void order(Operands& p, int at_once, int clusters) {
  const Cluster cluster = p.cluster;
  const double rows = C::block_m * cluster.m, cols = C::block_n * cluster.n;
  const auto square_of = [&](double tiles) {  // of C, about
    return std::clamp(int(std::sqrt(tiles * cols / rows) + 0.5), 1, p.clusters_m);
  };
  const bool one_wave = clusters == p.clusters_m * p.clusters_n;
  const bool larger_a = 2ll * p.m > 3ll * p.n, larger_b = 2ll * p.n > 3ll * p.m;
  p.gpcs = 1;
  if (C::design.in_memory && p.parts > 1) {
    p.gpcs = (cluster.n > 1) != (cluster.m > 1) ? most_gpcs : 1;
    p.group = cluster.size() == 1 ? (p.m > p.n ? 1 : p.clusters_m)
              : cluster.m == 1    ? p.clusters_m
              : cluster.n == 1    ? 1
                                  : square_of(1.0 * clusters / most_gpcs);
  } else if (one_wave && larger_a) {
    p.group = 1;  // those that start one after the other share A
  } else if (one_wave && larger_b && cluster.size() == 1) {
    p.group = p.clusters_m;  // or B
  } else if (cluster.n > 1 && cluster.m == 1) {
    p.gpcs = p.clusters_m > 1 ? most_gpcs : 1;  // A is multicast, and a GPC shares B
    p.group = square_of(at_once);
  } else if (one_wave && cluster.n == 1 && cluster.m > 1) {
    p.gpcs = p.clusters_m > 1 ? most_gpcs : 1;  // the other way round
    p.group = 1;
  } else {
    p.group = square_of(1.0 * clusters / most_gpcs);
  }
  p.per_group = FastDivisor(p.group * p.clusters_n);
  p.per_column = FastDivisor(p.group);
  if (p.clusters_m % p.group != 0) p.per_last_column = FastDivisor(p.clusters_m % p.group);
  p.per_gpc = clusters / most_gpcs;
  p.larger_gpcs = clusters % most_gpcs;
}

// The CTAs of the cluster that get what this one loads: A all that lie beside it, B all below and above.
struct Peers {
  Cluster cluster;
  int rank;
  __device__ int col() const { return rank & (cluster.n - 1); }
  __device__ int row() const { return rank >> (__ffs(cluster.n) - 1); }
  __device__ int beside(int i) const { return row() * cluster.n + i; }
  __device__ int below(int i) const { return col() + i * cluster.n; }
  // CTAs that load into this one's stages, and as many load what it loads: those beside and below it.
  __device__ int fillers() const { return cluster.m + cluster.n - 1; }
  // The i-th of them: each once, this one among them.
  __device__ int filler(int i) const {
    const int other = i - cluster.m;
    return other < 0 ? below(i) : beside(other + (other >= col()));
  }
};

// body<n, m>(), for the cluster's n and m: what it must know when it is compiled.
template <class Body>
__device__ void in_cluster(Cluster cluster, const Body& body) {
  switch (cluster.n * 8 + cluster.m) {
    case 1 * 8 + 1:
      return body.template operator()<1, 1>();
    case 1 * 8 + 2:
      return body.template operator()<1, 2>();
    case 1 * 8 + 4:
      return body.template operator()<1, 4>();
    case 2 * 8 + 1:
      return body.template operator()<2, 1>();
    case 2 * 8 + 2:
      return body.template operator()<2, 2>();
    case 2 * 8 + 4:
      return body.template operator()<2, 4>();
    case 4 * 8 + 1:
      return body.template operator()<4, 1>();
    case 4 * 8 + 2:
      return body.template operator()<4, 2>();
  }
}
inline constexpr Cluster all_clusters[] = {{1, 1}, {1, 2}, {1, 4}, {2, 1}, {2, 2}, {2, 4}, {4, 1}, {4, 2}};

}  // namespace ladder::every_shape::transposed
