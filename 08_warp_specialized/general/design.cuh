// The kernel of gemm.cu with everything open that fp8/, norm_gemm/, operators/ and ablations change: what
// there is to choose, and what follows from it. In the order of the data: tiles.cuh, which tiles a CTA
// computes; mainloop.cuh, global -> shared -> accumulator; epilogue.cuh, accumulator -> C; kernel.cuh.
#pragma once

#include <type_traits>

#include "08_warp_specialized/general/tiles.cuh"
#include "08_warp_specialized/pipeline.cuh"

namespace ladder::rung_08::general {

constexpr int warps_per_group = 4;
constexpr int mma_bytes = 32;  // of k, that a wgmma multiplies

// The defaults are gemm.cu's. Several parts of k, one consumer and tiles row by row are for
// common/every_shape alone.
struct Design {
  int consumers = 2;  // warpgroups that issue MMAs
  int rows_each = 1;  // of 64 rows, that a consumer computes of a tile
  int block_n = 256;  // columns of a CTA's tile
  int stages = 4;     // of the ring buffer
  int cluster_m = 2;  // CTAs of a cluster that lie below each other and share B
  int cluster_n = 1;  // and beside each other, and share A
  int cluster_k = 1;  // or that have the same tile, each with a part of k
  Order order = Order::supertile;
  int group = 8;           // in clusters, see Order
  bool ping_pong = false;  // a tile for each consumer, in turn, instead of one for all (CUTLASS: cooperative)
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

  // Split-K: each CTA of the cluster reduces the parts of `own` of the tile's columns of 8, and stores them.
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

// The tile of gemm.cu.
constexpr Design tile_128x256{};

}  // namespace ladder::rung_08::general
