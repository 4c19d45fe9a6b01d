// Straight tiles of any width: A's rows fill the 64 rows of an MMA, and B's columns its n. A problem of many
// rows and few columns has tiles as wide as itself, and reads A once.
//
// What there is to choose of a tile, and what follows from it.
#pragma once

#include <algorithm>
#include <bit>

#include "common/every_shape/hopper/transposed/tiles.cuh"

namespace ladder::every_shape::narrow {

struct Design {
  int width;          // columns of B, and of a tile of C: a multiple of 32
  int consumers = 1;  // warpgroups, of 64 rows of A each
  int per_sm = 1;     // CTAs
  static constexpr bool split = false, in_memory = false, streamed = false;  // see transposed::Tiles
};

template <Design d>
struct Config {
  static constexpr Design design = d;
  static constexpr int consumers = d.consumers, consumer_warps = consumers * 4;
  // The accumulators of a wide tile need the registers that a producer's warpgroup gives back. Otherwise a
  // single warp loads.
  static constexpr bool move_registers = consumers == 2 && d.per_sm == 1 && d.width > 192;
  static constexpr int threads = (consumer_warps + (move_registers ? 4 : 1)) * warp_size;
  static constexpr int block_m = consumers * mma_m, block_n = d.width, block_k = 64;
  static constexpr int row_a = block_k * element, tile_a = block_m * row_a;  // bytes
  // B has its columns in boxes, each swizzled over the bytes of its row. In a cluster each CTA loads some
  // rows of every box for all.
  static constexpr int box_cols = d.width % 64 == 0 ? 64 : 32;
  static constexpr int boxes = block_n / box_cols, row_b = box_cols * element;
  static constexpr int box_b = block_k * row_b, tile_b = boxes * box_b;
  static constexpr int stage_bytes = tile_a + tile_b;
  // A wgmma has at most 256 columns. A wider tile has two, of whole boxes.
  static constexpr int first_mma = block_n <= 256 ? block_n : block_n / 2 / box_cols * box_cols;
  // A warp stores its 16 rows of C through a box of shared memory, some columns at a time. 16 bytes between
  // the box's rows put 8 of them into different banks.
  static constexpr int columns_of(int most) { return ceil_div(block_n / 16, ceil_div(block_n, most)) * 16; }
  static constexpr int bytes_of_box(int cols) { return 16 * (cols * element + 16); }
  // An SM has 228 KiB, of which each CTA takes one for itself and another to align the swizzle's pattern.
  static constexpr int stages_beside(int cols) {
    const int taken = 2048 + consumer_warps * bytes_of_box(cols) + 512;
    return std::min((228 * 1024 / d.per_sm - taken) / stage_bytes, 16);
  }
  static constexpr bool small_box = stages_beside(columns_of(128)) < 5 &&
                                    stages_beside(columns_of(64)) > stages_beside(columns_of(128));
  static constexpr int store_cols = columns_of(small_box ? 64 : 128), pitch_c = store_cols * element + 16;
  static constexpr int row_lanes =
      std::bit_ceil(unsigned(store_cols / 8));  // that store a row, 16 bytes each
  static constexpr int box_c = bytes_of_box(store_cols), stages = stages_beside(store_cols);
  struct Shared {
    alignas(1024) unsigned char buffer[stages][stage_bytes];
    alignas(16) unsigned char boxes[consumer_warps][box_c];
    ptx::Mbarrier full[stages], empty[stages];
  };
  static constexpr int shared_bytes = sizeof(Shared) + 1024;  // to align it
  static_assert(block_n % 32 == 0, "boxes are 32 columns wide, or 64");
  static_assert(stage_bytes % 1024 == 0, "the swizzle's pattern repeats after as many bytes");
  static_assert(stages >= 2, "one stage is multiplied, one loaded");
  static_assert((shared_bytes + 1024) * d.per_sm <= 228 * 1024, "what an SM has");
};

}  // namespace ladder::every_shape::narrow
