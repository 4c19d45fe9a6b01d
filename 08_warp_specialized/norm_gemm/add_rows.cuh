// A as it streams by: the three other warps of the producer's warpgroup make h = x + residual, part by part,
// just ahead of the tiles that need it.
//
// What waits for what: the warp that loads A waits until all rows of its box have the columns that it loads
// next; the warps that add wait for nothing. They take pieces in the order in which the tiles need them, and
// do not stop before all are taken: a warp that waits, waits for one that runs. So the kernel cannot
// deadlock, whichever CTAs run at the same time.
#pragma once

#include "08_warp_specialized/norm_gemm/row_scales.cuh"
#include "common/ptx/barrier.cuh"
#include "common/ptx/global_order.cuh"
#include "common/rows/norm.cuh"

namespace ladder::rung_08 {

// A piece is some rows of a part. It is read in batches, each with eight loads of 16 bytes in flight in every
// lane.
constexpr int piece_rows = 4, batch_rows = 2, part_vectors = part_columns / vector / warp_size;

// By all lanes of the warp that loads A: until the block of rows from `row` on has the columns from k on.
template <class C>
__device__ void wait_for_rows(const typename C::Operands& p, int row, int k) {
  if (row >= p.m) return;
  const unsigned* there = p.extra.rows_there + row / C::block_m * p.extra.parts + k / part_columns;
  const unsigned all = min(C::block_m, p.m - row);
  while (ptx::load_acquire(there) < all) {
  }
  ptx::fence_proxy_async_global();  // threads wrote h, TMA reads it
}

// By a warp: pieces of h and their sums of squares, until there are no more. Strips of rows as high as those
// that tiles go through, part by part along a strip.
template <class C>
__device__ void add_rows(const typename C::Operands& p) {
  constexpr int strip_rows = C::group * C::cluster_m * C::block_m;
  static_assert(C::order == general::Order::supertile && C::block_m % piece_rows == 0,
                "pieces come in the order of tiles");
  const NormOperands& norm = p.extra;
  const int lane = threadIdx.x % warp_size, row_vectors = p.k / vector;
  const unsigned strip_pieces = strip_rows / piece_rows * norm.parts;
  const unsigned pieces = ceil_div(p.m, piece_rows) * unsigned(norm.parts);
  auto take = [&] { return lane == 0 ? atomicAdd(&norm.progress->next_piece, 1u) : 0; };
  unsigned next = take();
  while (true) {
    const unsigned piece = __shfl_sync(~0u, next, 0);
    if (piece >= pieces) return;
    next = take();  // arrives while this piece is added
    const int strip = piece / strip_pieces * strip_rows, in_strip = piece % strip_pieces;
    const int down = ceil_div(min(strip_rows, p.m - strip), piece_rows);  // pieces of a part
    const int part = in_strip / down, first = strip + in_strip % down * piece_rows;
    const int rows = min(piece_rows, p.m - first);
    for (int r = 0; r < rows; r += batch_rows) {
      uint4 x[batch_rows][part_vectors], residual[batch_rows][part_vectors];
      auto at = [&](int b, int v) {  // in vectors; past the end of the row or of the piece: none
        const int col = (part * part_vectors + v) * warp_size + lane;
        return r + b < rows && col < row_vectors ? (first + r + b) * (long long)row_vectors + col : -1;
      };
#pragma unroll
      for (int b = 0; b < batch_rows; ++b)
#pragma unroll
        for (int v = 0; v < part_vectors; ++v) {
          x[b][v] = residual[b][v] = make_uint4(0, 0, 0, 0);
          if (at(b, v) < 0) continue;
          x[b][v] = load(norm.x + at(b, v) * vector);
          residual[b][v] = load(norm.residual + at(b, v) * vector);
        }
#pragma unroll
      for (int b = 0; b < batch_rows; ++b) {
        float squares = 0;
#pragma unroll
        for (int v = 0; v < part_vectors; ++v) {
          const uint4 h = add_vector(x[b][v], residual[b][v], squares);
          if (at(b, v) >= 0) store(norm.h + at(b, v) * vector, h);
        }
        squares = warp_sum(squares);
        if (lane == 0 && r + b < rows) norm.squares[std::size_t(part) * p.m + first + r + b] = squares;
      }
    }
    __syncwarp();  // all lanes have written
    if (lane == 0) ptx::signal_release(norm.rows_there + first / C::block_m * norm.parts + part, rows);
  }
}

// By the producer's warpgroup, at the end: the last CTA leaves the progress as it was found.
template <class C>
__device__ void forget_progress(const typename C::Operands& p, int warp) {
  ptx::barrier_sync(1, warpgroup_size);  // no warp of this CTA reads it any more
  if (warp != 0) return;
  Progress& progress = *p.extra.progress;
  const int lane = threadIdx.x % warp_size;
  unsigned before = 0;
  if (lane == 0) {
    __threadfence();  // what this CTA read and wrote of it comes before what the last one writes
    before = atomicAdd(&progress.ctas_done, 1u);
    __threadfence();
  }
  if (__shfl_sync(~0u, before, 0) + 1 < gridDim.x) return;
  const int counters = ceil_div(p.m, C::block_m) * p.extra.parts;
  for (int i = lane; i < counters; i += warp_size) p.extra.rows_there[i] = 0;
  if (lane == 0) progress.next_piece = progress.ctas_done = 0;
}

// The policy: rows are scaled, too.
struct AddRows : ScaleRows {
  static constexpr int producer_registers = 56, consumer_registers = 224;  // adding takes more

  template <class C>
  __device__ static void wait_for_a(const typename C::Operands& p, int row, int k) {
    static_assert(C::cluster_n == 1 && C::cluster_k == 1, "each CTA loads its own rows of A");
    if (k % part_columns == 0) wait_for_rows<C>(p, row, k);
  }
  template <class C>
  __device__ static void after_loads(const typename C::Operands& p, int warp) {
    if (warp != 0) add_rows<C>(p);
    forget_progress<C>(p, warp);
  }
};

// A strip of tiles, which is also one of pieces, is `group` clusters high. It should be what the GPU
// multiplies at a time. Lower, and the pieces of the second strip come after all of the first one's, though
// its tiles have begun; higher, and pieces are made that no tile needs yet.
constexpr general::Design low_strips{.group = 4}, high_strips{.group = 8};
inline bool wants_high_strips(int n, int sms) {
  using C = general::Config<high_strips, AddRows>;
  return C::group * ceil_div(n, C::block_n * C::cluster_n) <= sms / C::cluster;
}

}  // namespace ladder::rung_08
