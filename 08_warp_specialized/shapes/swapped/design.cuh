// The transposed product, Cᵀ = Bᵀ·Aᵀ. B's columns fill the 64 rows of an MMA, and A's rows its n, which may
// be any multiple of 8: a tile is as high as the problem, down to 8 rows, and a few rows do not cost the MMAs
// of 64. The tensor core transposes both as it reads them.
//
// What there is to choose of a tile, and what follows from it.
#pragma once

#include <algorithm>
#include <numeric>

#include "08_warp_specialized/pipeline.cuh"

namespace ladder::rung_08::swapped {

struct Design {
  int rows;                // of A, and of a tile of C: a multiple of 8, at most 256
  int consumers = 2;       // warpgroups
  int blocks = 1;          // of 64 columns of B, for each of them
  bool ping_pong = false;  // a tile for each consumer, in turn, instead of one for all
  int cluster_n = 1;       // CTAs of a cluster beside each other, which share A
  int cluster_m = 1;       // and below each other, which share B
  int per_sm = 1;          // CTAs
  bool split = false;      // k within a cluster, instead of among all of them
  bool in_memory = false;  // k among clusters, whose parts are added up in global memory
};

template <Design d>
struct Config {
  static constexpr Design design = d;
  static constexpr int consumers = d.consumers, readers = d.ping_pong ? 1 : d.consumers;  // of a stage
  static constexpr int blocks = readers * d.blocks;
  static constexpr int block_m = d.rows, block_n = blocks * mma_m, block_k = 64;
  static constexpr int cluster_m = d.cluster_m, cluster_n = d.cluster_n, sharers = cluster_m * cluster_n;
  // A warpgroup gives back and takes registers as a whole. Where there are several CTAs a warp loads.
  static constexpr bool move_registers = consumers == 2 && d.per_sm == 1;
  static constexpr int consumer_warps = consumers * 4, producer_warps = move_registers ? 4 : 1;
  static constexpr int threads = (consumer_warps + producer_warps) * warp_size;
  static constexpr int row = 128;  // bytes of a box's row
  static constexpr int box_b = block_k * row, tile_b = blocks * box_b, tile_a = block_m * row;
  static constexpr int stage_bytes = tile_a + tile_b;
  static constexpr int groups = block_m / 8;  // of rows of A: a thread has 4 accumulators of each in a block
  // What each CTA of a cluster loads: rows of A's box, and rows of B's boxes, whole ones or a part of one.
  static constexpr int share_a = ceil_div(block_m / 8, cluster_n) * 8, share_b = blocks * block_k / cluster_m;
  static constexpr int load_b = std::gcd(share_b, block_k);
  static constexpr int fillers = cluster_m + cluster_n - 1;  // CTAs that load into a stage
  // Arrivals at a stage's barrier until it is empty: the consumers' in all the CTAs that this one loads for.
  static constexpr int releases = fillers * readers;
  static constexpr int tile_threads = readers * warpgroup_size;
  static constexpr int partial = d.blocks * groups * tile_threads;  // float4s of a tile's accumulators
  static constexpr int most_parts = 8;
  static constexpr int room = [] {  // for what a CTA receives from its peers, where k is split
    int most = 0;
    for (int parts = 2; d.split && parts <= most_parts; ++parts)
      most = std::max(most, (parts - 1) * ceil_div(groups, parts) * tile_threads * int(sizeof(float4)));
    return most;
  }();
  // A warpgroup stores 64 columns of some rows at once, by TMA, through two boxes in turn; of a small tile,
  // whose CTA has nothing else to do meanwhile, each warp stores 16 columns of all rows itself, which takes
  // less long.
  static constexpr bool threads_store = consumers == 1 || d.split;
  static constexpr int bytes_of_boxes(int box_rows) { return box_rows * row * (threads_store ? 1 : 2); }
  // An SM has 228 KiB, of which each CTA takes one for itself and another to align the swizzle's pattern.
  static constexpr int stages_beside(int box_rows) {
    const int taken = 2048 + consumers * bytes_of_boxes(box_rows) + 512 + room;
    return std::min((228 * 1024 / d.per_sm - taken) / stage_bytes, 16);
  }
  static constexpr bool low_boxes = stages_beside(32) < 5 && stages_beside(16) > stages_beside(32);
  static constexpr int box_rows = threads_store ? block_m : std::min(block_m, low_boxes ? 16 : 32);
  static constexpr int box_c = bytes_of_boxes(box_rows), stages = stages_beside(box_rows);
  struct Shared {
    alignas(1024) unsigned char buffer[stages][stage_bytes];
    alignas(16) unsigned char received[std::max(room, 16)];  // the peers' parts
    alignas(1024) unsigned char boxes[consumers][box_c];
    ptx::Mbarrier full[stages], empty[stages];
    ptx::Mbarrier turn[2];   // to issue MMAs, of two consumers in ping-pong
    ptx::Mbarrier combined;  // the peers' parts have arrived
  };
  static_assert(share_b % 8 == 0 && block_m / 8 >= cluster_n, "the swizzle's pattern has 8 rows");
  static_assert(room <= 32 * 1024, "the ring buffer needs the rest");
  static_assert(stages >= 2, "one stage is multiplied, one loaded");
  static_assert(!d.ping_pong || consumers == 2, "ping and pong");
  static_assert(!d.split || (sharers == 1 && d.blocks == 1 && !d.ping_pong),
                "a cluster shares operands or a tile");
  static_assert(!d.in_memory || (!d.split && !d.ping_pong), "all consumers have the same part of a tile");
};

struct Operands {
  CUtensorMap a, less_of_a, b, c;  // less: of CTAs that load 8 rows less than others
  __nv_bfloat16* to;               // C
  int m, n;
  // Worked out by the host, for a CTA's first load waits for all that is divided before it.
  int clusters_m, clusters_n, tiles_k;  // tiles of clusters, and k-tiles
  int group;                            // the order of the tiles, see Tiles,
  int gpcs, per_gpc, larger_gpcs;       // and of the clusters: the first `larger_gpcs` have one more
  int parts;                            // CTAs of a cluster, or clusters, that have the same tile
  int streamed;                         // tiles of clusters that are cut where a cluster's share ends
  int share;   // of their k-tiles, in each cluster, or of a tile's, in each part; the first `longer` clusters
  int longer;  // or parts have one more
  float4* partials;  // [CTA][block][group][thread], of tiles that another CTA began
  unsigned* ready;   // [CTA][warp]: 1 from when they are written until they are read
};

}  // namespace ladder::rung_08::swapped
