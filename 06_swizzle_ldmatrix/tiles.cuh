// Between global memory and an SM: how k-tiles arrive in shared memory, and how a tile of C is stored.
#pragma once

#include "common/ptx/cp_async.cuh"
#include "common/rung.h"
#include "common/tile_order.cuh"

namespace ladder::rung_06 {

// Global -> shared. Eight threads copy 128 bytes of a row, all threads of 32 rows at a time, from pointers
// that move on by a k-tile at a time. They copy zeros past the edges of A and B, past the end of k and when
// the CTA has no next tile of C, so the mainloop has no special cases.
template <class C>
struct Copies {
  static constexpr int rows = C::threads / C::span;
  static_assert(rows % 8 == 0, "a thread's chunk and its row's swizzle are the same in each of its copies");
  static constexpr int copies_a = C::block_m / rows, across_b = C::block_n / (C::span * C::vector);
  static constexpr int copies = copies_a + C::block_k / rows * across_b;  // of a thread, for a k-tile

  const Gemm& p;
  const ptx::SharedAddress shared;
  const int row = threadIdx.x / C::span, chunk = threadIdx.x % C::span;
  const ptx::SharedAddress to_a = shared + C::chunk_offset(C::row_a, row, chunk);
  const ptx::SharedAddress to_b = shared + C::tile_a + C::chunk_offset(C::row_b, row, chunk);
  ptx::SharedAddress stage = 0;  // that the next copies fill
  const std::size_t row_bytes_a = std::size_t(p.k) * 2, row_bytes_b = std::size_t(p.n) * 2;
  const unsigned char *from_a, *from_b;
  int rows_left, cols_left, k_left;  // of A, of B and of k, from where the next copies read

  // The next k-tile is the first of this tile of C.
  __device__ void begin_tile(const auto& order, int index) {
    k_left = 0;
    if (index >= order.tiles) return;
    const int2 tile = order.tile(index);
    const int first_row = tile.x * C::block_m + row, first_col = tile.y * C::block_n + chunk * C::vector;
    from_a = reinterpret_cast<const unsigned char*>(p.a) + first_row * row_bytes_a + chunk * C::chunk_bytes;
    from_b = reinterpret_cast<const unsigned char*>(p.b) + row * row_bytes_b + first_col * 2;
    rows_left = p.m - first_row, cols_left = p.n - first_col, k_left = p.k;
  }

  // The copies of a k-tile, a third in each of the first three steps of the one that is multiplied meanwhile:
  // of A, then of 32 rows of B, then of the other 32. They are a group, also where they copy nothing but
  // zeros: wait_for_k_tile() counts groups.
  __device__ void issue(int step) const {
    constexpr int share = ceil_div(copies, C::steps - 1);
#pragma unroll
    for (int c = step * share; c < min(step * share + share, copies); ++c) {
      if (c < copies_a) {
        const int down = c * rows;
        const bool inside = down < rows_left && chunk * C::vector < k_left;
        ptx::cp_async_16(to_a + stage + down * C::row_a, from_a + down * row_bytes_a, inside ? 16 : 0);
      } else {
        const int down = (c - copies_a) / across_b * rows, right = (c - copies_a) % across_b * 128;
        const bool inside = row + down < k_left && right / 2 < cols_left;
        ptx::cp_async_16(to_b + stage + down * C::row_b + right, from_b + down * row_bytes_b + right,
                         inside ? 16 : 0);
      }
    }
    if (step == C::steps - 2) ptx::cp_async_commit_group();
  }

  __device__ void next_k_tile() {
    stage = C::stage_after(stage);
    k_left -= C::block_k;
    from_a += C::block_k * 2;
    from_b += C::block_k * row_bytes_b;
  }
};

// Lanes 4g + t hold row g of a fragment of C between them, a pair of neighbours each: they would store 4
// bytes at a time. So they exchange, four fragments at a time: lane t ends with the 16 bytes of fragment t.
__device__ inline uint4 gather(unsigned (&pairs)[4], int t) {
  auto swap = [&](int distance, unsigned& low, unsigned& high) {
    const bool upper = t & distance;
    const unsigned received = __shfl_xor_sync(0xffffffff, upper ? low : high, distance);
    (upper ? low : high) = received;
  };
  swap(1, pairs[0], pairs[1]);
  swap(1, pairs[2], pairs[3]);
  swap(2, pairs[0], pairs[2]);
  swap(2, pairs[1], pairs[3]);
  return make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

// Registers -> global: a warp's tile of C, fragments of 16 x 8, from `row` and `col` on. Neither shared
// memory nor a barrier takes part: the ring buffer holds the first k-tiles of the next tile already, and a
// warp that has stored its tile goes on to that one.
template <int mmas_m, int mmas_n>
__device__ void store_tile(const float (&accumulator)[mmas_m][mmas_n][4], const Gemm& p, int row, int col) {
  const int lane = threadIdx.x % 32;
  row += lane / 4, col += lane % 4 * 8;
  __nv_bfloat16* const c = p.c + std::size_t(row) * p.n + col;
#pragma unroll
  for (int down = 0; down < mmas_m * 16; down += 8)
#pragma unroll
    for (int j = 0; j < mmas_n; j += 4) {
      unsigned pairs[4];
#pragma unroll
      for (int f = 0; f < 4; ++f) {
        const float* const of_row = &accumulator[down / 16][j + f][down % 16 / 8 * 2];
        const __nv_bfloat162 pair = __floats2bfloat162_rn(of_row[0], of_row[1]);
        pairs[f] = reinterpret_cast<const unsigned&>(pair);
      }
      const uint4 bits = gather(pairs, lane % 4);
      if (row + down < p.m && col + j * 8 < p.n)
        *reinterpret_cast<uint4*>(c + std::size_t(down) * p.n + j * 8) = bits;
    }
}

}  // namespace ladder::rung_06
