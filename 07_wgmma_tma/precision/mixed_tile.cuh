// The tiles of the kernel with mixed operands, and what its threads do with them themselves: convert the
// weights of a k-tile, and store a tile of C.
#pragma once

#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/tma.cuh"

namespace ladder::rung_07 {
namespace {

using ptx::SharedAddress;

constexpr int mma_n = 64, mma_k = 16;  // of C's columns, which are the MMA's rows, and of k
constexpr int element = sizeof(__nv_bfloat16), box_row = 128, box_cols = box_row / element;
constexpr int group_m = 8;  // rows of CTA tiles that neighbouring CTAs share

// block_k weights are a row of 64 or 128 bytes, and swizzled over as many.
template <int block_m_, int warpgroups, int block_k_, int stages_, int ctas_>
struct Tile {
  static constexpr int block_m = block_m_, block_n = warpgroups * mma_n, block_k = block_k_, stages = stages_;
  static constexpr int ctas = ctas_, threads = warpgroups * 128, steps = block_k / mma_k;  // CTAs per SM
  static constexpr int tile_b = block_n * block_k, box_a = block_m * box_row;
  static constexpr int boxes_a = block_k / box_cols, stage_bytes = tile_b + boxes_a * box_a;
  static constexpr int tile_c = block_m * box_row;                  // a warpgroup's 64 columns
  static constexpr int shared_bytes = stages * stage_bytes + 1024;  // 1024 to align it
  static_assert(stages * stage_bytes >= warpgroups * tile_c, "the epilogue reuses the buffer for C");
};
// With few rows, reading the weights takes the time. So the tiles are narrow, for as many CTAs as possible,
// and two share an SM: one has loads in flight while the other converts.
using Narrow = Tile<64, 1, 128, 4, 2>;
// With many rows, the MMAs do. A converted fragment is multiplied by 256 rows of A.
using Wide = Tile<256, 2, 64, 5, 1>;
constexpr int most_rows_of_narrow = 128;

// Shared -> registers: the lane's fragments of a k-tile, 16 rows of a warp. An ldmatrix.x4 brings 32 of k.
// The row's address is swizzled as TMA has written it.
template <class Weight, int steps>
__device__ void load_fragments(unsigned (&a)[steps][4], SharedAddress from, int row, int lane) {
  constexpr int row_bytes = steps * mma_k;
  const int swizzle = row * row_bytes / 128 % (row_bytes / 16);
#pragma unroll
  for (int step = 0; step < steps; step += 2) {
    unsigned four[4];  // rows g and g + 8 of the first 16 of k, then of the next
    ptx::ldmatrix_x4(four, from + row * row_bytes + ((step + lane / 16) ^ swizzle) * 16);
#pragma unroll
    for (int i = 0; i < 8; ++i)
      a[step + i / 4][i % 4] = Weight::to_bf16x2(four[i / 4 * 2 + i % 2], i % 4 / 2);
  }
}

// The epilogue of a warpgroup: its 64 columns of C. A lane has two neighbours down a column, which stmatrix
// transposes on their way to shared memory, in rows of 128 bytes, swizzled.
template <class T>
__device__ void store(const float (&accumulator)[T::block_m / 8][4], const float (&scale)[2],
                      SharedAddress to, const CUtensorMap& map, int row0, int col0) {
  const int lane = threadIdx.x % 32, chunk = threadIdx.x / 32 % 4 * 2 + lane / 8 % 2;
#pragma unroll
  for (int j = 0; j < T::block_m / 8; ++j) {
    unsigned packed[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const __nv_bfloat162 pair =
          __floats2bfloat162_rn(accumulator[j][2 * i] * scale[i], accumulator[j][2 * i + 1] * scale[i]);
      packed[i] = reinterpret_cast<const unsigned&>(pair);
    }
    ptx::stmatrix_x2_trans(to + (8 * j + lane % 8) * box_row + (chunk ^ lane % 8) * 16, packed);
  }
  // TMA reads through the async proxy: every thread fences what it wrote, then one issues the copy.
  ptx::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x % 128 != 0) return;
  ptx::tma_store(map, col0, row0, to);
  ptx::bulk_commit_group();
  ptx::bulk_wait_group_read<0>();  // the CTA's shared memory must outlive the copy's reads
}

}  // namespace
}  // namespace ladder::rung_07
