// What there is to choose in this rung's gemm, and what follows from it: tiles, bytes, columns of tensor
// memory.
#pragma once

#include "09_tcgen05/tiles.cuh"
#include "09_tcgen05/variants.h"
#include "common/ptx/tcgen05.cuh"

namespace ladder::rung_09 {

using ptx::Major;
using ptx::MmaKind;
using ptx::SharedAddress;
using ptx::SharedMatrix;
using ptx::Swizzle;
using ptx::TensorAddress;

constexpr int row = 128;  // bytes of a box's row, and of the swizzle

// What there is to choose. As it stands it is the rung; every ablation changes one line more.
struct Design {
  Precision precision = Precision::bf16;
  int ctas = 2;             // that multiply together
  int stages = 6;           // of the ring
  bool specialized = true;  // a warp loads, another multiplies; else one thread does both
  bool scale_rows = false;  // of C, by a norm's scales
  Schedule schedule = Schedule::cancel;
};

// How many sets of scales, each of so many columns of tensor memory, find room in 128: one for each stage, or
// as many as fit.
constexpr int sets_of_scales(int columns, int stages) {
  return columns * stages <= 128 ? stages : 128 / columns;
}

template <Design d>
struct Config {
  static constexpr Design design = d;
  static constexpr Precision precision = d.precision;
  static constexpr int ctas = d.ctas, stages = d.stages, group = 8;
  static constexpr Schedule schedule = d.schedule;
  static constexpr QuantisedLayout layout{precision, 1, 64};  // for bits and block
  static constexpr MmaKind kind = precision == Precision::bf16    ? MmaKind::f16
                                  : precision == Precision::fp8   ? MmaKind::f8f6f4
                                  : precision == Precision::mxfp8 ? MmaKind::mxf8f6f4
                                                                  : MmaKind::mxf4nvf4;
  // bf16 lies as the contract has it: B's rows run along n. The workspace's B is transposed.
  static constexpr Major major_b = precision == Precision::bf16 ? Major::mn : Major::k;

  // A cluster's tile; of it a CTA has 128 rows, and in the ring their part of A and block_n columns of B.
  static constexpr int cta_m = 128, tile_m = cta_m * ctas, tile_n = 256, block_n = tile_n / ctas;
  static constexpr int block_k = row * 8 / layout.bits, mma_k = 32 * 8 / layout.bits;  // elements
  using Mma = ptx::MmaDescriptor<ctas, kind, tile_m, tile_n, Major::k, major_b>;

  // Bytes of a stage. B along n: boxes of 64 columns, each with all of block_k; along k: one box.
  static constexpr int tile_a = cta_m * row, tile_b = block_n * row;
  static constexpr int box_n = major_b == Major::mn ? row / 2 : block_n, box_b = tile_b / (block_n / box_n);
  static_assert(tile_b == block_n / box_n * box_b && box_n <= 256 && block_k <= 256);
  // From an MMA's B to the next one's: along n mma_k rows of the box, along k 32 bytes of each row.
  static constexpr int step_b = major_b == Major::mn ? mma_k * row : 32;

  // Scales: tiles of 512 bytes, of 128 rows and 4 blocks of k. A CTA has those of its rows of A, and those of
  // all columns of B: each of the two tensor cores needs them.
  static constexpr bool scaled = layout.block != 0;
  static constexpr int scale_tile = 512, scale_columns = 4;  // bytes, columns of tensor memory
  static constexpr int tiles_k = scaled ? block_k / layout.block / 4 : 0;
  static constexpr int scales_a = tiles_k * scale_tile, scales_b = tile_n / 128 * tiles_k * scale_tile;
  static constexpr int loaded_bytes = tile_a + tile_b + scales_a + scales_b;
  static constexpr int stage_bytes = (loaded_bytes + 1023) / 1024 * 1024;

  // Tensor memory: 512 columns. Sums take 256, so two tiles' fill it. With scales there is less room, and the
  // two overlap by half: the next tile begins when that half of the last one has been read.
  static constexpr int accumulators = schedule == Schedule::one_tile ? 1 : 2;
  static constexpr int columns = accumulators == 1 && !scaled ? 256 : 512;
  static constexpr int sums_step = scaled ? 128 : 256;
  static constexpr int boxes_c = tile_n * 2 / row;  // of 64 columns, in which a tile is stored
  static constexpr int boxes_before_release = scaled ? boxes_c / 2 : boxes_c;
  static constexpr int releases = scaled ? 1 : accumulators;  // barriers sums_empty
  // The scales of a stage, and how many stages' there is room for.
  static constexpr int first_scale = 384;
  static constexpr int stage_scale_columns = (scales_a + scales_b) / scale_tile * scale_columns;
  static constexpr int scale_sets = sets_of_scales(stage_scale_columns, stages);
  static_assert(scale_sets * stage_scale_columns <= 128 && scale_sets > 0);

  static constexpr int epilogue_warps = 4, epilogue_first = 4;
  static constexpr int threads = (epilogue_first + epilogue_warps) * warp_size;
  static constexpr int box_c = warp_size * row;  // what a warp stores at once: 32 rows of 64 columns

  struct Shared {
    alignas(1024) unsigned char ring[stages][stage_bytes];  // 1024: where the swizzle's pattern repeats
    alignas(1024) unsigned char c[epilogue_warps][2][box_c];
    ptx::Mbarrier full[stages], empty[stages];
    ptx::Mbarrier sums_full[accumulators], sums_empty[releases];
    Responses responses;
    TensorAddress tensor_memory;
  };
  static constexpr int shared_bytes = sizeof(Shared) + 1024;  // to align it
  static_assert(shared_bytes <= 227 * 1024, "what a CTA may have");
  static_assert(d.specialized || (ctas == 1 && schedule == Schedule::one_tile), "one thread, one tile");
};

// The sums of h² of the rows of A, of which each has `cols`, and what is added to their mean.
struct RowSquares {
  const float* of_rows = nullptr;
  int cols = 0;
  float eps = 0;
};

// Where everything is. k is in tiles.
struct Operands {
  CUtensorMap a, b, c, scales_a, scales_b;
  int m, n, k;
  RowSquares squares;  // where C's rows are scaled
};

// What a row of C is multiplied by.
__device__ inline float row_scale(const Operands& p, int at) {
  return at < p.m ? rsqrtf(p.squares.of_rows[at] / float(p.squares.cols) + p.squares.eps) : 0;
}

// Which of the cluster's CTAs this is. The first, the leader, issues the MMAs of both.
template <class C>
struct Pair {
  int rank;
  __device__ bool leader() const { return rank == 0; }
  static constexpr unsigned short both = 3;
};

}  // namespace ladder::rung_09
