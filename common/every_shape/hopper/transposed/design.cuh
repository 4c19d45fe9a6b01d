// The transposed product, Cᵀ = Bᵀ·Aᵀ. B's columns fill the 64 rows of an MMA, and A's rows its n, which may
// be any multiple of 8: a tile is as high as the problem, down to 8 rows, and a few rows do not cost the MMAs
// of 64. The tensor core transposes both as it reads them.
//
// What there is to choose of a tile, and what follows from it.
#pragma once

#include <algorithm>

#include "08_warp_specialized/pipeline.cuh"
#include "common/every_shape/estimate/cluster.h"

namespace ladder::every_shape {

using ptx::MatrixDescriptor, ptx::SharedAddress, ptx::Swizzle;
using rung_08::element, rung_08::mma_k, rung_08::mma_m, rung_08::Stage;
using rung_08::warp_size, rung_08::warpgroup_size;

}  // namespace ladder::every_shape

namespace ladder::every_shape::transposed {

struct Design {
  int rows = 0;            // of A, and of a tile of C: a multiple of 8, at most 256 for each consumer
  int consumers = 2;       // warpgroups
  int blocks = 1;          // of 64 columns of B, for each of them
  bool by_rows = false;    // the consumers of a tile divide its rows, and not its columns
  bool ping_pong = false;  // a tile for each consumer, in turn, instead of one for all (cooperative)
  int per_sm = 1;          // CTAs
  bool split = false;      // k within a cluster, instead of among all of them
  bool in_memory = false;  // k among clusters, whose parts are reduced in global memory
  bool streamed = false;   // the same number of k-tiles for each cluster, wherever a tile begins or ends
};

template <Design d>
struct Config {
  static constexpr Design design = d;
  static constexpr int consumers = d.consumers, readers = d.ping_pong ? 1 : d.consumers;  // of a stage
  static constexpr int blocks = d.by_rows ? d.blocks : readers * d.blocks;
  static constexpr int block_m = d.rows, block_n = blocks * mma_m, block_k = 64;
  // A warpgroup gives back and takes registers as a whole. With several CTAs on an SM a single warp loads.
  static constexpr bool move_registers = consumers == 2 && d.per_sm == 1;
  static constexpr int consumer_warps = consumers * 4, producer_warps = move_registers ? 4 : 1;
  static constexpr int threads = (consumer_warps + producer_warps) * warp_size;
  static constexpr int row = 128;  // bytes of a box's row
  static constexpr int box_b = block_k * row, tile_b = blocks * box_b, tile_a = block_m * row;
  static constexpr int stage_bytes = tile_a + tile_b;
  static constexpr int groups_a = block_m / 8;  // of eight rows,
  static constexpr int rows_each = d.by_rows ? block_m / readers : block_m;
  static constexpr int groups = rows_each / 8;  // a thread has 4 accumulators of each in a block
  // What each CTA of a cluster loads: rows of A's box, and rows of B's boxes, whole ones or a part of one.
  __host__ __device__ static constexpr int share_a(Cluster c) { return ceil_div(groups_a, c.n) * 8; }
  __host__ __device__ static constexpr int load_b(Cluster c) {
    const int rows = blocks * block_k / c.m, power_of_two = rows & -rows;
    return power_of_two < block_k ? power_of_two : block_k;
  }
  static constexpr int tile_threads = readers * warpgroup_size;
  static constexpr int partial = d.blocks * groups * tile_threads;  // float4s of a tile's accumulators
  static constexpr int most_parts = 8;
  static constexpr int room = [] {  // for what a CTA receives from its peers, where k is split
    int most = 0;
    for (int parts = 2; d.split && parts <= most_parts; ++parts)
      most = std::max(most, (parts - 1) * ceil_div(groups, parts) * tile_threads * int(sizeof(float4)));
    return most;
  }();
  // A warpgroup stores 64 columns of some rows at once, by TMA, through two boxes in turn. The CTA of a small
  // tile has nothing else to do meanwhile: there each warp stores 16 columns of all rows itself, which is
  // faster.
  static constexpr bool threads_store = consumers == 1 || d.split;
  static constexpr int bytes_of_boxes(int box_rows) { return box_rows * row * (threads_store ? 1 : 2); }
  // An SM has 228 KiB, of which each CTA takes one for itself and another to align the swizzle's pattern.
  static constexpr int stages_beside(int box_rows) {
    const int taken = 2048 + consumers * bytes_of_boxes(box_rows) + ceil_div(512 + room, 1024) * 1024;
    return std::min((228 * 1024 / d.per_sm - taken) / stage_bytes, 16);
  }
  static constexpr bool low_boxes = stages_beside(32) < 5 && stages_beside(16) > stages_beside(32);
  static constexpr int box_rows = threads_store ? block_m : std::min(rows_each, low_boxes ? 16 : 32);
  static constexpr int box_c = bytes_of_boxes(box_rows), stages = stages_beside(box_rows);
  struct Shared {
    alignas(1024) unsigned char buffer[stages][stage_bytes];
    alignas(1024) unsigned char boxes[consumers][box_c];
    alignas(16) unsigned char received[std::max(room, 16)];  // the peers' parts
    ptx::Mbarrier full[stages], empty[stages];
    ptx::Mbarrier turn[2];   // to issue MMAs, of two consumers in ping-pong
    ptx::Mbarrier combined;  // the peers' parts have arrived
  };
  static_assert(room <= 32 * 1024, "the ring buffer needs the rest");
  static_assert(stages >= 2, "one stage is multiplied, one loaded");
  static_assert(!d.ping_pong || consumers == 2, "ping and pong");
  static_assert(rows_each % 8 == 0 && rows_each <= 256, "the n of an MMA");
  static_assert(d.by_rows ? d.blocks <= stages : block_m <= stages * block_k,
                "the ring buffer has room for a tile of C");
  static_assert(!d.split || (d.blocks == 1 && !d.ping_pong), "a cluster shares operands or a tile");
  static constexpr bool adds_up = d.in_memory || d.streamed;  // through global memory
  static_assert(!adds_up || (!d.split && !d.ping_pong), "all consumers have the same part of a tile");
  static_assert(!d.by_rows || !(threads_store || adds_up || d.ping_pong), "none of the others divides rows");
};

// Division by a number that the host knows, of numbers below 2^31: the hardware has no integer division, and
// a CTA's first load would wait for a hundred instructions. (Granlund and Montgomery, "Division by invariant
// integers using multiplication", 1994)
class FastDivisor {
 public:
  FastDivisor() = default;
  explicit FastDivisor(int by) : by_(by) {
    while (1ll << shift_ < by) ++shift_;
    factor_ = unsigned(((1ull << (31 + shift_)) + unsigned(by) - 1) / unsigned(by));
  }
  __device__ int quotient(int of) const { return by_ == 1 ? of : int(__umulhi(of, factor_) >> (shift_ - 1)); }
  __device__ int remainder(int of, int quotient) const { return of - quotient * by_; }

 private:
  int by_ = 1, shift_ = 0;
  unsigned factor_ = 0;
};

struct Operands {
  CUtensorMap a, less_of_a, b, c;  // less: for CTAs that load 8 rows fewer than others
  __nv_bfloat16* to;               // C
  int m, n;
  Cluster cluster;  // 1x1 where its CTAs have parts of k
  bool by_threads;  // store_only(): no CTA has a second tile, and the rows of C begin with a line of L2
  // Worked out by the host: a CTA's first load would have to wait for its divisions.
  int clusters_m, clusters_n, tiles_k;  // tiles of clusters, and k-tiles
  int group;                            // rows of tiles that follow each other, see Tiles,
  FastDivisor per_group, per_column,
      per_last_column;             // tiles of a group, of a column of one, and of the last
  FastDivisor per_part;            // tiles of clusters
  int gpcs, per_gpc, larger_gpcs;  // and of the clusters: the first `larger_gpcs` have one more
  int parts;                       // CTAs of a cluster, or clusters, that have the same tile
  int streamed;                    // tiles of clusters that are cut where a cluster's share ends
  int share;   // of their k-tiles, in each cluster, or of a tile's, in each part; the first `longer` clusters
  int longer;  // or parts have one more
  float4* partials;  // [CTA][block][group][thread], of tiles that another CTA began
  unsigned* ready;   // [CTA][warp]: 1 from when they are written until they are read
};

}  // namespace ladder::every_shape::transposed
