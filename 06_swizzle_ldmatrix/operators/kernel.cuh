// The rung's kernel with an epilogue: copies, fragments and mainloop are as ../gemm.cu explains them. With
// two weight matrices a row of B's tile in shared memory is half B's and half Gate's: of each 128 bytes, the
// columns of one warp, the first 64 are B's and the others Gate's for the same columns of C. The mainloop
// does not notice, and a thread ends with both products of its elements of C.
#pragma once

#include "06_swizzle_ldmatrix/tiles.cuh"
#include "common/extension.h"
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/mma.cuh"

namespace ladder::rung_06 {
namespace {

using ptx::SharedAddress;

template <bool gated_, int stages_>
struct Config {
  static constexpr bool gated = gated_;
  static constexpr int stages = stages_, ahead = stages - 1;  // k-tiles that copies are ahead of the MMAs
  static constexpr int block_m = 128, block_n = 256, block_k = 64, threads = 256;
  static constexpr int tile_n = gated ? block_n / 2 : block_n;  // columns of C, of a CTA's tile
  static constexpr int warp_m = 64, warp_n = 64, warps_n = block_n / warp_n;
  static constexpr int mmas_m = warp_m / 16, mmas_n = warp_n / 8, steps = block_k / 16;  // of m16n8k16
  static constexpr int vector = 8, chunk_bytes = 16, span = 8;  // elements, bytes; chunks of 128 bytes
  static constexpr int row_a = block_k * 2, row_b = block_n * 2, tile_a = block_m * row_a;
  static constexpr int stage_bytes = tile_a + block_k * row_b, shared_bytes = stages * stage_bytes;
  static constexpr int pass_rows = threads / span, passes_a = block_m / pass_rows;
  static constexpr int across_b = block_n / (span * vector);
  static constexpr int copies = passes_a + block_k / pass_rows * across_b;

  static __device__ int chunk_offset(int row_bytes, int row, int chunk) {
    return row * row_bytes + (chunk ^ row % 8) * chunk_bytes;
  }
  static __device__ SharedAddress stage_after(SharedAddress stage) {
    return stage + stage_bytes == shared_bytes ? 0 : stage + stage_bytes;
  }
};

// Global -> shared, as tiles.cuh has it for one B.
template <class C>
struct CopiesOfWeights {
  static constexpr int span_cols = C::gated ? 32 : 64;  // of C, in 128 bytes of a row of B's tile
  const Linear& p;
  const SharedAddress shared;
  const int row = threadIdx.x / C::span, chunk = threadIdx.x % C::span;
  const SharedAddress to_a = shared + C::chunk_offset(C::row_a, row, chunk);
  const SharedAddress to_b = shared + C::tile_a + C::chunk_offset(C::row_b, row, chunk);
  SharedAddress stage = 0;
  const std::size_t row_bytes_a = std::size_t(p.k) * 2, row_bytes_b = std::size_t(p.n) * 2;
  const unsigned char *from_a, *from_b;
  int rows_left, cols_left, k_left;

  __device__ void begin_tile(const TileOrder<8>& order, int index) {
    k_left = 0;
    if (index >= order.tiles) return;
    const int2 tile = order.tile(index);
    const int first_row = tile.x * C::block_m + row;
    const int first_col = tile.y * C::tile_n + chunk * C::vector % span_cols;
    const bool of_gate = chunk * C::vector >= span_cols;
    from_a = reinterpret_cast<const unsigned char*>(p.a) + first_row * row_bytes_a + chunk * C::chunk_bytes;
    from_b = reinterpret_cast<const unsigned char*>(of_gate ? p.gate : p.b) + row * row_bytes_b +
             std::size_t(first_col) * 2;
    rows_left = p.m - first_row, cols_left = p.n - first_col, k_left = p.k;
  }

  // The copies of a k-tile, a third in each of the first three steps, in one group.
  __device__ void issue(int step) const {
    constexpr int share = ceil_div(C::copies, C::steps - 1);
#pragma unroll
    for (int c = step * share; c < min(step * share + share, C::copies); ++c) {
      if (c < C::passes_a) {
        const int down = c * C::pass_rows;
        const bool inside = down < rows_left && chunk * C::vector < k_left;
        ptx::cp_async_16(to_a + stage + down * C::row_a, from_a + down * row_bytes_a, inside ? 16 : 0);
      } else {
        const int down = (c - C::passes_a) / C::across_b * C::pass_rows,
                  right = (c - C::passes_a) % C::across_b;
        const bool inside = row + down < k_left && right * span_cols < cols_left;
        ptx::cp_async_16(to_b + stage + down * C::row_b + right * 128,
                         from_b + down * row_bytes_b + right * span_cols * 2, inside ? 16 : 0);
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

template <class C>
__device__ void wait_for_k_tile() {
  ptx::cp_async_wait_group<C::stages - 2>();  // newer groups, of later k-tiles, may still be under way
  __syncthreads();  // the k-tile is complete, and every warp has left the one before
}

__device__ void keep(SharedAddress& offset) {
  asm volatile("" : "+r"(offset));
}

// Shared -> registers -> tensor cores.
template <class C>
struct Fragments {
  SharedAddress lane_a[C::steps], lane_b[C::mmas_n / 2];
  unsigned a[2][C::mmas_m][4], b[2][C::mmas_n / 2][4];

  __device__ Fragments(SharedAddress shared, int warp_row, int warp_col) {
    const int row = threadIdx.x % 16, chunk = threadIdx.x % 32 / 16;
#pragma unroll
    for (int step = 0; step < C::steps; ++step) {
      lane_a[step] = shared + C::chunk_offset(C::row_a, warp_row + row, step * 2 + chunk);
      keep(lane_a[step]);
    }
#pragma unroll
    for (int j = 0; j < C::mmas_n / 2; ++j) {
      lane_b[j] = shared + C::tile_a + C::chunk_offset(C::row_b, row, warp_col / C::vector + j * 2 + chunk);
      keep(lane_b[j]);
    }
  }
  __device__ void load(int set, SharedAddress stage, int step, int i) {
    ptx::ldmatrix_x4(a[set][i], lane_a[step] + stage + i * 16 * C::row_a);
    ptx::ldmatrix_x4_trans(b[set][i], lane_b[i] + stage + step * 16 * C::row_b);
  }
  __device__ void multiply(float (&accumulator)[C::mmas_n][4], int set, int i) const {
#pragma unroll
    for (int x = 0; x < C::mmas_n; ++x) {
      const int j = i % 2 == 1 ? C::mmas_n - 1 - x : x;
      const unsigned(&two)[4] = b[set][j / 2];
      ptx::mma_m16n8k16(accumulator[j], a[set][i], {two[j % 2 * 2], two[j % 2 * 2 + 1]});
    }
  }
};

// Accumulators -> C, by a warp: f(product + bias), or f(gate's product) times B's. In a fragment a lane has
// two neighbouring columns of two rows, and n is a multiple of 8: both are inside or neither.
template <class C, class Function>
__device__ void epilogue(float (&accumulator)[C::mmas_m][C::mmas_n][4], const Linear& p, int row, int col) {
  constexpr int columns = C::gated ? C::mmas_n / 2 : C::mmas_n;  // fragments of C, side by side
  const Gemm to{p.m, p.n, p.k, p.a, p.b, p.c};
  const Function function;
#pragma unroll
  for (int i = 0; i < C::mmas_m; ++i) {
    float c[1][columns][4];
#pragma unroll
    for (int j = 0; j < columns; ++j) {
      const int at = col + j * 8 + threadIdx.x % 4 * 2;
      float2 bias = make_float2(0, 0);
      if (!C::gated && at < p.n)
        bias = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(p.bias + at));
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        const float product = accumulator[i][j][x];
        if constexpr (C::gated) {
          c[0][j][x] = function(accumulator[i][columns + j][x]) * product;
        } else {
          c[0][j][x] = function(product + (x % 2 ? bias.y : bias.x));
        }
      }
    }
    store_tile(c, to, row + i * 16, col);
  }
}

template <class C, class Function>
__global__ void __launch_bounds__(C::threads, 1) linear_kernel(Linear p, TileOrder<8> order) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / C::warps_n * C::warp_m, warp_col = warp % C::warps_n;
  CopiesOfWeights<C> copies{p, ptx::shared_address(shared)};
  Fragments<C> fragments(ptx::shared_address(shared), warp_row, warp_col * C::warp_n);
  SharedAddress stage = 0;  // whose k-tile is multiplied

  copies.begin_tile(order, blockIdx.x);
#pragma unroll
  for (int ahead = 0; ahead < C::ahead; ++ahead) {
#pragma unroll
    for (int step = 0; step < C::steps; ++step) copies.issue(step);
    copies.next_k_tile();
  }
  wait_for_k_tile<C>();
#pragma unroll
  for (int i = 0; i < C::mmas_m; ++i) fragments.load(0, stage, 0, i);
  const int tiles_k = max(ceil_div(p.k, C::block_k), C::ahead);  // what is past the end of k is zeros
  for (int index = blockIdx.x; index < order.tiles; index += gridDim.x) {
    float accumulator[C::mmas_m][C::mmas_n][4] = {};
    // During the last `ahead` k-tiles the copies are the next tile's.
    int k = 0;
#pragma unroll 1
    for (int part = 0; part < 2; ++part) {
      const int end = part == 0 ? tiles_k - C::ahead : tiles_k;
      if (part == 1) copies.begin_tile(order, index + gridDim.x);
#pragma unroll 1
      for (; k < end; ++k) {
#pragma unroll
        for (int step = 0; step < C::steps; ++step) {
          if (step == C::steps - 1) {  // its fragments are in registers, or on their way there
            wait_for_k_tile<C>();
            stage = C::stage_after(stage);
            copies.next_k_tile();
          }
#pragma unroll
          for (int i = 0; i < C::mmas_m; ++i) {
            fragments.load((step + 1) % 2, stage, (step + 1) % C::steps, i);
            if (i == 1) copies.issue(step);
            fragments.multiply(accumulator[i], step % 2, i);
          }
        }
      }
    }
    const int2 tile = order.tile(index);
    epilogue<C, Function>(accumulator, p, tile.x * C::block_m + warp_row,
                          tile.y * C::tile_n + warp_col * CopiesOfWeights<C>::span_cols);
  }
  ptx::cp_async_wait_group<0>();  // no copy may land in shared memory after the CTA has left
}

}  // namespace
}  // namespace ladder::rung_06
