// The general kernel's tile shapes: what there is to choose, what follows from it, and the estimate that
// chooses for a problem's size.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "08_warp_specialized/pipeline.cuh"
#include "08_warp_specialized/shapes/tiles.cuh"

namespace ladder::rung_08::general {

constexpr int warps_per_group = 4;
constexpr int mma_bytes = 32;  // of k, that a wgmma multiplies

// As it stands it is the rung at large sizes.
struct Design {
  int consumers = 2;  // warpgroups that issue MMAs
  int rows_each = 1;  // of 64 rows, that a consumer computes of a tile
  int block_n = 256;  // columns of a CTA's tile
  int stages = 4;     // of the ring buffer
  int cluster_m = 2;  // CTAs of a cluster that lie below each other and share B
  int cluster_n = 1;  // and beside each other, and share A
  int cluster_k = 1;  // or that have the same tile, each with a part of k
  Order order = Order::supertile;
  int group = 8;           // clusters
  bool ping_pong = false;  // a tile for each consumer, in turn, instead of one for all
  bool persistent = true;  // as many CTAs as run at once, instead of one for each tile
};

struct Bf16;  // the kernel's policy, see bf16.cuh

template <Design d, class P = Bf16>
struct Config {
  static constexpr Design design = d;
  using Policy = P;
  static constexpr int consumers = d.consumers, rows_each = d.rows_each, stages = d.stages, group = d.group;
  static constexpr int block_m = (d.ping_pong ? 1 : consumers) * rows_each * mma_m, block_n = d.block_n;
  static constexpr int operand = sizeof(typename P::Element);  // bytes
  static constexpr int row = 128;                              // bytes of a box's row, and of the swizzle
  static constexpr int block_k = row / operand;
  static constexpr int cluster_m = d.cluster_m, cluster_n = d.cluster_n, cluster_k = d.cluster_k;
  static constexpr int sharers = cluster_m * cluster_n, cluster = sharers * cluster_k;
  static constexpr Order order = d.order;
  static constexpr int threads = (1 + consumers) * warpgroup_size;
  static constexpr int tile_a = block_m * row, tile_b = block_n * row, stage_bytes = tile_a + tile_b;
  static constexpr int scale_bytes = P::scale_bytes(block_m);
  // B's boxes: the k-tile's rows by as many columns as a row of shared memory holds; k-major, an equal part
  // of the tile's columns for each CTA that loads them.
  static constexpr int box_n = P::b_k_major ? block_n / cluster_m : row / operand;
  static constexpr int boxes_b = block_n / box_n, box_b = tile_b / boxes_b;
  static constexpr int box_c = 16 * row;  // what a warp stores at once: 16 rows of 64 columns
  // CTAs share evenly: rows of A's box, and B's boxes.
  static constexpr int share_a = block_m / cluster_n, share_b = boxes_b / cluster_m;
  // CTAs that load into a stage, and wait until it is empty: in a cluster a CTA's row and column.
  static constexpr int fillers = cluster_m + cluster_n - 1;
  static constexpr int readers = d.ping_pong ? 1 : consumers;  // warpgroups that read a stage
  // With two consumers each of 384 threads has 168 registers at the launch.
  static constexpr bool move_registers = consumers == 2;

  // Split-K: each CTA of the cluster adds up the parts of `own` of the tile's columns of 8, and stores them.
  static constexpr int own = block_n / 8 / cluster_k;
  static constexpr int partial_bytes =
      (cluster_k - 1) * own * consumers * warpgroup_size * int(sizeof(float4));

  // The kernel's parameters.
  struct Operands {
    CUtensorMap map_a, map_b, map_c;
    __nv_bfloat16* c;  // for stores by threads
    int m, n, k;
    typename P::Parameters extra;
  };
  struct Boxes {
    unsigned char of_warp[consumers * warps_per_group][2][box_c];
  };
  struct Partials {
    float4 of_part[cluster_k][own][consumers * warpgroup_size];
  };
  struct Shared {
    alignas(1024) unsigned char buffer[stages][stage_bytes];  // where the pattern of the swizzle repeats
    alignas(1024) std::conditional_t<cluster_k == 1, Boxes, Partials> out;
    alignas(128) typename P::template Shared<stages, block_m> extra;
    ptx::Mbarrier full[stages], empty[stages];
    ptx::Mbarrier turn[2];   // to issue MMAs, of two consumers in ping-pong
    ptx::Mbarrier combined;  // all partial results are here
  };
  static constexpr int shared_bytes = sizeof(Shared) + 1024;  // to align it
  static_assert(shared_bytes <= 227 * 1024, "what a CTA may have");
  static_assert(share_a % 8 == 0, "the swizzle's pattern has 8 rows");
  static_assert(boxes_b % cluster_m == 0 && box_b % 1024 == 0,
                "whole boxes, and whole patterns of the swizzle");
  static_assert(!d.ping_pong || consumers == 2, "ping and pong");
  static_assert(cluster_k == 1 || sharers == 1, "a cluster shares operands or a tile");
  static_assert(cluster_k == 1 || (!d.persistent && !d.ping_pong && rows_each == 1),
                "one tile, and one part");
  static_assert(block_n / 8 % cluster_k == 0, "all own equally many");
  static_assert(P::producer_registers + 2 * P::consumer_registers <= 3 * 168,
                "the consumers take what the producer gives back");
};

// The designs among which the rung chooses. Pairs share one operand, and follow each other along the other
// one: what neighbours load through L2 at the same time is partly read only once.
constexpr Design tile_128x256{};  // in bf16 it is the kernel of gemm.cu
constexpr Design tile_128x192{.block_n = 192, .cluster_m = 1, .cluster_n = 2, .group = 32};
constexpr Design tile_128x128{.block_n = 128, .stages = 6, .cluster_m = 1, .cluster_n = 2, .group = 32};
constexpr Design tile_64x128_share_a{
    .consumers = 1, .block_n = 128, .stages = 8, .cluster_m = 1, .cluster_n = 2, .group = 32};
constexpr Design tile_64x128_share_b{.consumers = 1, .block_n = 128, .stages = 8, .order = Order::rows};
constexpr Design tile_64x64{.consumers = 1, .block_n = 64, .stages = 8, .cluster_m = 1};
constexpr Design split(int parts) {
  Design design = tile_64x64;
  design.cluster_k = parts;
  design.persistent = false;
  return design;
}
constexpr Design split_2 = split(2), split_4 = split(4), split_8 = split(8);

// Roughly how many cycles a design takes: whole waves of tiles; in each, k-tiles at the pace of the slowest
// of tensor cores, of what an SM takes in and of L2; and constants for what lies around them. See
// docs/deeper/08_shapes.md.
template <Design d, class P>
double estimate(const Gemm& p, int sms) {
  using C = Config<d, P>;
  constexpr double mma_per_cycle = 4096 / C::operand;  // multiplications and additions of an SM
  constexpr double sm_per_cycle = 64;                  // bytes that an SM takes in
  constexpr double l2_per_cycle = 5300;                // bytes that L2 delivers to all SMs
  constexpr double wave_cycles = 2500, cluster_cycles = 300, split_cycles = 800;
  // A cluster lies within a GPC, whose SMs need not be a multiple of four.
  if (C::cluster > 2) sms = sms * 10 / 11;
  const int clusters_m = ceil_div(p.m, C::block_m * C::cluster_m);
  const int clusters_n = ceil_div(p.n, C::block_n * C::cluster_n);
  const double ctas = 1.0 * clusters_m * clusters_n * C::cluster, at_once = std::min<double>(ctas, sms);
  // Half of what a line of neighbours reads alike is read once for all of them.
  const auto merged = [](int neighbours) { return (1 + 1.0 / neighbours) / 2; };
  const bool along_rows = C::order == Order::rows;
  const double load_a = C::tile_a / C::cluster_n * (along_rows ? merged(clusters_n) : 1);
  const double load_b = C::tile_b / C::cluster_m * (along_rows ? 1 : merged(clusters_m));
  const double k_tile = std::max({1.0 * C::block_m * C::block_n * C::block_k / mma_per_cycle,
                                  C::stage_bytes / sm_per_cycle, at_once * (load_a + load_b) / l2_per_cycle});
  const double waves = std::ceil(ctas / sms);
  return waves * ceil_div(ceil_div(p.k, C::block_k), C::cluster_k) * k_tile +
         (d.ping_pong ? 1 : waves) * wave_cycles +  // in ping-pong other tiles hide all but the last
         (C::cluster > 1 ? cluster_cycles : 0) + (C::cluster_k > 1 ? split_cycles : 0);
}

}  // namespace ladder::rung_08::general
