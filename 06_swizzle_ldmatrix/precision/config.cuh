// The kernel's tiles, by the type of its operands, and what its epilogue does: what is decided at compile
// time.
#pragma once

#include "06_swizzle_ldmatrix/precision/types.cuh"

namespace ladder::rung_06 {
namespace {

constexpr int warp_size = 32;
constexpr int chunk_bytes = 16;                       // what a lane copies, and a row of an 8x8 matrix
constexpr int span = 8;                               // chunks in 128 bytes: as many as cover all 32 banks
constexpr int mma_m = 16, mma_n = 8, mma_bytes = 32;  // of a row of A, along k

struct Epilogue {
  bool stores_later = false;  // a tile of C, or half of it, is stored while the next is multiplied
  bool scale_rows = false;    // of C, by the norm's scales
};

template <class Type_, Epilogue epilogue_, int stages_>
struct Config {
  using Type = Type_;
  using Element = typename Type::A::Element;  // B's have the same size
  static constexpr Epilogue epilogue = epilogue_;
  static constexpr int stages = stages_;
  static constexpr int vector = chunk_bytes / sizeof(Element);  // elements of a chunk
  // The CTA's tile of C, and the k-tile: 128 bytes of a row of A. Where half of A's elements are not stored,
  // that is twice as many of k.
  static constexpr int stored_k = 128 / sizeof(Element), block_k = Type::sparse ? 2 * stored_k : stored_k;
  static constexpr int block_m = Type::block_m, block_n = Type::block_n;
  static constexpr int warps_m = block_m / Type::warp_m, warps_n = block_n / 64,
                       threads = warp_size * warps_m * warps_n;
  static constexpr int warp_m = block_m / warps_m,
                       warp_n = block_n / warps_n;  // 64 x 64 (fp8: 32 x 64): 128 accumulator registers
  static constexpr int mmas_m = warp_m / mma_m, mmas_n = warp_n / mma_n, steps = 128 / mma_bytes;
  static constexpr int step_k = block_k / steps;  // of k, in an MMA
  // Bytes of a row in shared memory. B's rows run along n, as in memory, or along k.
  static constexpr int row_a = 128, row_b = Type::k_major_b ? 128 : block_n * int(sizeof(Element));
  static constexpr int rows_b = Type::k_major_b ? block_n : block_k;
  static constexpr int tile_a = block_m * row_a, tile_b = rows_b * row_b;
  static constexpr int tile_metadata = Type::sparse ? block_m * block_k / 8 : 0;
  static constexpr int stage_bytes = tile_a + tile_b + tile_metadata, shared_bytes = stages * stage_bytes;
  // Eight threads copy 128 bytes of a row; a pass is what all threads copy with one instruction.
  static constexpr int pass_rows = threads / span, passes_a = block_m / pass_rows,
                       passes_b = rows_b / pass_rows;
  static constexpr int across_b = row_b / 128, copies = passes_a + passes_b * across_b;
  // Fragments that share out their columns, so that a lane's accumulators of a row are 16 bytes of C:
  // column_of().
  static constexpr int interleaved = Type::k_major_b ? chunk_bytes / int(sizeof(typename Type::Pair)) : 1;
  static_assert(pass_rows % (8 * interleaved) == 0,
                "a thread's chunk and its row's swizzle are the same in every pass");
  static constexpr int store_cols = 64 / int(sizeof(typename Type::C));  // of C, that a warp stores at a time
  static constexpr int mmas_of_b = Type::sparse ? 1 : 2;                 // whose B one ldmatrix.x4 loads
  static constexpr int loads_b = mmas_n / mmas_of_b, loads_each = loads_b / mmas_m;
  static_assert(loads_b % mmas_m == 0, "every row of MMAs loads equally many fragments of B");
  static_assert(tile_metadata == 0 || tile_metadata == threads * chunk_bytes, "a chunk of metadata a thread");
};

// The column of C, in a warp's tile, that is column c of fragment j. Of a fragment's row a lane has two
// neighbours. Where B's rows lie along k, ldmatrix takes any eight of them for a matrix: so of `interleaved`
// fragments the j-th gets columns 2j and 2j + 1 of every 2 * interleaved, and a lane's pairs are neighbours
// too.
template <class C>
__device__ constexpr int column_of(int j, int c) {
  constexpr int i = C::interleaved;
  return j / i * i * mma_n + c / 2 * (2 * i) + j % i * 2 + c % 2;
}

// Bytes from the start of a tile to a chunk of one of its rows. The rows of a matrix are 0 and 1, and those
// `interleaved` pairs on: they differ in the bits that swizzle.
template <int interleaved = 1>
__device__ int chunk_offset(int row_bytes, int row, int chunk) {
  chunk ^= row / (2 * interleaved) % 4 * 2 + row % 2;
  return row * row_bytes + chunk * chunk_bytes;
}

}  // namespace
}  // namespace ladder::rung_06
