// What there is to choose, what follows from it, and which choice suits a shape.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "08_warp_specialized/tiles.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/tma.cuh"
#include "common/ptx/wgmma_fp8.cuh"

namespace ladder::rung_08 {

constexpr int warpgroup_size = 128, warps_per_group = 4;
constexpr int mma_m = 64, mma_bytes = 32;       // of a wgmma: rows, and bytes of k. Its n is the CTA tile's
constexpr int element = sizeof(__nv_bfloat16);  // of C
constexpr int row = 128;                        // bytes of a box's row, and of the swizzle

// What there is to choose. As it stands it is the rung at large sizes; every ablation changes one line.
struct Design {
  Precision precision = Precision::bf16;
  int consumers = 2;       // warpgroups that multiply
  int rows_each = 1;       // of 64 rows that a consumer multiplies at once
  int block_n = 256;       // columns of a CTA's tile
  int stages = 4;          // of the ring
  int promote = 0;         // k-tiles whose products the tensor core adds up before fp32 registers do; 0: all
  bool two_parts = false;  // one is added while the other is multiplied
  int cluster_m = 2;       // CTAs of a cluster that lie below each other and share B
  int cluster_n = 1;       // and beside each other, and share A
  int cluster_k = 1;       // or that have the same tile, each with a part of k
  Order order = Order::supertile;
  int group = 8;                // clusters
  bool ping_pong = false;       // a tile for each consumer, in turn, instead of one for all
  bool persistent = true;       // as many CTAs as run at once, instead of one for each tile
  bool move_registers = true;   // from the producer's warps to the consumers'
  bool first_mma_sets = true;   // instead of adding to zeros
  bool tma_store = true;        // instead of 16 bytes by each thread
  bool scale_rows = false;      // C's rows, by the norm's scales
  bool add_rows = false;        // A's, while the product runs
  bool early_start = true;      // while the grid before still runs
  bool relaxed_cluster = true;  // no more order between a cluster's CTAs than the ring needs
  bool traced = false;          // what warps do is noted on a timeline
};

constexpr ptx::Fp8 fp8_of(Number number) {
  return number == Number::e5m2 ? ptx::Fp8::e5m2 : ptx::Fp8::e4m3;
}

template <Design d>
struct Config {
  static constexpr Design design = d;
  static constexpr int consumers = d.consumers, rows_each = d.rows_each, stages = d.stages, group = d.group;
  static constexpr int block_m = (d.ping_pong ? 1 : consumers) * rows_each * mma_m, block_n = d.block_n;
  // 8-bit operands are k-major, both: wgmma transposes none but those of 16 bits. B lies as [n, k] then.
  static constexpr bool eight_bits = d.precision != Precision::bf16;
  static constexpr int operand = eight_bits ? 1 : 2;  // bytes of an element
  static constexpr ptx::Fp8 type_a = fp8_of(format_of(d.precision).a);
  static constexpr ptx::Fp8 type_b = fp8_of(format_of(d.precision).b);
  // A scale for each row of A and each k-tile, which come with the k-tile, and for each k-tile of 128 columns
  // of B.
  static constexpr bool scaled = d.precision == Precision::fp8_block;
  static constexpr bool tensor_scaled = d.precision == Precision::fp8_tensor;  // one for A and one for B
  static constexpr int block_k = row / operand;
  static constexpr int cluster_m = d.cluster_m, cluster_n = d.cluster_n, cluster_k = d.cluster_k;
  static constexpr int sharers = cluster_m * cluster_n, cluster = sharers * cluster_k;
  static constexpr Order order = d.order;
  static constexpr int threads = (1 + consumers) * warpgroup_size;
  static constexpr int tile_a = block_m * row, tile_b = block_n * row, stage_bytes = tile_a + tile_b;
  static constexpr int scale_bytes = scaled ? block_m * int(sizeof(float)) : 0;
  // B's boxes: the k-tile's rows by as many columns as a row of shared memory holds; k-major, an equal part
  // of the tile's columns for each CTA that loads them.
  static constexpr int box_n = eight_bits ? block_n / cluster_m : row / operand;
  static constexpr int boxes_b = block_n / box_n, box_b = tile_b / boxes_b;
  static constexpr int box_c = 16 * row;  // what a warp stores at once: 16 rows of 64 columns
  static constexpr int promote = d.promote;
  // CTAs share evenly: rows of A's box, and B's boxes.
  static constexpr int share_a = block_m / cluster_n, share_b = boxes_b / cluster_m;
  // Those who have to know that a slot is free: all that fill it. In a cluster a CTA's row and column.
  static constexpr int fillers = cluster_m + cluster_n - 1;
  static constexpr int readers = d.ping_pong ? 1 : consumers;  // warpgroups that use a slot
  // Registers of a thread: 168 for each of 384 threads, or 40 and 232, or 56 and 224: adding takes more.
  static constexpr bool move_registers = d.move_registers && consumers == 2;
  static constexpr int producer_registers = d.add_rows ? 56 : 40;
  static constexpr int consumer_registers = d.add_rows ? 224 : 232;

  // Split-K: each CTA of the cluster adds up and stores `own` of the tile's columns of 8.
  static constexpr int own = block_n / 8 / cluster_k;
  static constexpr int partial_bytes =
      (cluster_k - 1) * own * consumers * warpgroup_size * int(sizeof(float4));

  struct Boxes {
    unsigned char of_warp[consumers * warps_per_group][2][box_c];
  };
  struct Partials {
    float4 of_part[cluster_k][own][consumers * warpgroup_size];
  };
  struct Shared {
    alignas(1024) unsigned char ring[stages][stage_bytes];  // 1024: where the swizzle's pattern repeats
    alignas(1024) std::conditional_t<cluster_k == 1, Boxes, Partials> out;
    alignas(128) float scales[scaled ? stages : 1][scaled ? block_m : 1];
    ptx::Mbarrier full[stages], empty[stages];
    ptx::Mbarrier turn[2];   // to multiply, of two consumers in ping-pong
    ptx::Mbarrier combined;  // all partial sums are here
  };
  static constexpr int shared_bytes = sizeof(Shared) + 1024;  // to align it
  static_assert(shared_bytes <= 227 * 1024, "what a CTA may have");
  static_assert(share_a % 8 == 0, "the swizzle's pattern has 8 rows");
  static_assert(boxes_b % cluster_m == 0 && box_b % 1024 == 0,
                "whole boxes, and whole patterns of the swizzle");
  static_assert(!d.ping_pong || consumers == 2, "ping and pong");
  static_assert(promote == 0 || (eight_bits && rows_each == 1 && cluster_k == 1), "not written for others");
  static_assert(promote == 0 || block_n <= 128, "registers for a sum and two parts");
  static_assert(!d.two_parts || promote == 1, "a part is one k-tile's");
  static_assert(!scaled || d.two_parts, "a k-tile has its own scales");
  static_assert(cluster_k == 1 || sharers == 1, "a cluster shares operands or a tile");
  static_assert(cluster_k == 1 || (!d.persistent && !d.ping_pong && rows_each == 1),
                "one tile, and one part");
  static_assert(block_n / 8 % cluster_k == 0, "all own equally many");
  static_assert(!d.add_rows || (d.scale_rows && cluster_n == 1 && cluster_k == 1),
                "each CTA loads its own rows of A");
  static_assert(producer_registers + 2 * consumer_registers <= 3 * 168, "no more than there are");
};

// The designs among which the rung chooses. Pairs share one operand, and follow each other along the other
// one: what neighbours ask L2 for at the same time is partly read only once.
constexpr Design tile_128x256{};
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
constexpr Design of(Precision precision, Design design) {
  design.precision = precision;
  return design;
}
constexpr Design split_2 = split(2), split_4 = split(4), split_8 = split(8);

// Roughly how many cycles a design takes: whole waves of tiles; in each, k-tiles at the pace of the slowest
// of tensor cores, of what an SM takes in and of L2; and constants for what lies around them. The chapter
// derives it.
template <Design d>
double estimate(const Gemm& p, int sms) {
  using C = Config<d>;
  constexpr double mma_per_cycle = 4096 / C::operand;  // multiplications and additions of an SM
  constexpr double sm_per_cycle = 64;                  // bytes that an SM takes in
  constexpr double l2_per_cycle = 5300;                // bytes that all SMs ask for
  constexpr double wave_cycles = 2500, cluster_cycles = 300, split_cycles = 800;
  // A cluster lies within a GPC, whose SMs need not be a multiple of four.
  if (C::cluster > 2) sms = sms * 10 / 11;
  const int clusters_m = ceil_div(p.m, C::block_m * C::cluster_m);
  const int clusters_n = ceil_div(p.n, C::block_n * C::cluster_n);
  const double ctas = 1.0 * clusters_m * clusters_n * C::cluster, at_once = std::min<double>(ctas, sms);
  // Half of what a line of neighbours reads alike is read once for all of them.
  const auto merged = [](int neighbours) { return (1 + 1.0 / neighbours) / 2; };
  const bool along_rows = C::order == Order::rows;
  const double ask_a = C::tile_a / C::cluster_n * (along_rows ? merged(clusters_n) : 1);
  const double ask_b = C::tile_b / C::cluster_m * (along_rows ? 1 : merged(clusters_m));
  const double k_tile = std::max({1.0 * C::block_m * C::block_n * C::block_k / mma_per_cycle,
                                  C::stage_bytes / sm_per_cycle, at_once * (ask_a + ask_b) / l2_per_cycle});
  const double waves = std::ceil(ctas / sms);
  return waves * ceil_div(ceil_div(p.k, C::block_k), C::cluster_k) * k_tile +
         (d.ping_pong ? 1 : waves) * wave_cycles +  // in ping-pong other tiles hide all but the last
         (C::cluster > 1 ? cluster_cycles : 0) + (C::cluster_k > 1 ? split_cycles : 0);
}

}  // namespace ladder::rung_08
