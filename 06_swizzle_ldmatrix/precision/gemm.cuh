// The rung's kernel for every type of operand: a step along k is 32 bytes of a row of A, whatever their
// number of elements, and types.cuh says what else a type changes. Beside that it may store a part of a tile
// of C while it multiplies the next one, and scale C's rows.
#pragma once

#include "06_swizzle_ldmatrix/precision/config.cuh"
#include "06_swizzle_ldmatrix/precision/epilogue.cuh"
#include "06_swizzle_ldmatrix/tiles.cuh"
#include "common/ptx/cp_async.cuh"
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/predicated_store.cuh"

namespace ladder::rung_06 {
namespace {

using ptx::SharedAddress;

// Keeps the compiler from computing the offset again wherever it is used.
__device__ void keep(SharedAddress& offset) {
  asm volatile("" : "+r"(offset));
}

// The rows of CTA tiles that neighbouring CTAs share.
using TileOrder = Order<8>;

// The operands as the kernel reads them. k counts what is not stored of A, too.
template <class Type>
struct Product {
  int m, n, k;
  const typename Type::A::Element* a;
  const typename Type::B::Element* b;
  typename Type::C* c;
  const unsigned* metadata = nullptr;  // of A, where it is sparse
  RowSquares squares = {};             // where C's rows are scaled
};

// `deferred`: so many times 8 rows of a warp's tile are stored while the next is multiplied.
template <class C>
__global__ void __launch_bounds__(C::threads, 1)
    gemm_kernel(Product<typename C::Type> p, TileOrder order, int deferred) {
  using Type = typename C::Type;
  extern __shared__ __align__(128) unsigned char shared[];
  const SharedAddress ring_a = ptx::shared_address(shared), ring_b = ring_a + C::tile_a;
  // A stage is named by its offset in the ring buffer, in bytes.
  auto after = [](SharedAddress stage) {
    return stage + C::stage_bytes == C::shared_bytes ? 0 : stage + C::stage_bytes;
  };

  // Global -> shared. A thread copies the same chunk of every row of its own, from a pointer that moves on by
  // a k-tile at a time. It copies zeros past the edges of A and B, past the end of k and when the CTA has no
  // next tile of C, so the mainloop has no special cases.
  const int copy_row = threadIdx.x / span, copy_chunk = threadIdx.x % span;
  const SharedAddress to_a = ring_a + chunk_offset(C::row_a, copy_row, copy_chunk);
  const SharedAddress to_b = ring_b + chunk_offset<C::interleaved>(C::row_b, copy_row, copy_chunk);
  const int stored_k = Type::sparse ? p.k / 2 : p.k;
  const unsigned char *from_a, *from_b;
  const unsigned* from_metadata = nullptr;
  constexpr std::size_t size = sizeof(typename C::Element);
  const std::size_t row_bytes_a = stored_k * size, row_bytes_b = (Type::k_major_b ? p.k : p.n) * size;
  int rows_left, cols_left, k_left;  // of A, of B, and of k, from where the next copies are from
  SharedAddress fill = 0;            // the stage they fill
  auto copy_for = [&](int index) {   // this tile of C
    k_left = 0;
    if (index >= order.tiles) return;
    const int2 tile = order.tile(index);
    const int row = tile.x * C::block_m + copy_row, first_col = tile.y * C::block_n;
    from_a = reinterpret_cast<const unsigned char*>(p.a) + row * row_bytes_a + copy_chunk * chunk_bytes;
    from_b =
        reinterpret_cast<const unsigned char*>(p.b) + copy_chunk * chunk_bytes +
        (Type::k_major_b ? (first_col + copy_row) * row_bytes_b : copy_row * row_bytes_b + first_col * size);
    if constexpr (Type::sparse)
      from_metadata = p.metadata + metadata_at(p.k, tile.x * (C::block_m / 16) + threadIdx.x / 16, 0) +
                      threadIdx.x % 16 * 4;
    rows_left = p.m - row;
    cols_left = p.n - first_col - (Type::k_major_b ? copy_row : copy_chunk * C::vector);
    k_left = p.k;
  };
  auto copy = [&](int first, int last) {
#pragma unroll
    for (int c = first; c < last; ++c) {
      if (c < C::passes_a) {
        const bool inside =
            c * C::pass_rows < rows_left && copy_chunk * C::vector * (Type::sparse ? 2 : 1) < k_left;
        ptx::cp_async_16(to_a + fill + c * C::pass_rows * C::row_a, from_a + c * C::pass_rows * row_bytes_a,
                         inside ? 16 : 0);
      } else {
        const int v = (c - C::passes_a) / C::across_b, x = (c - C::passes_a) % C::across_b;
        const bool inside = Type::k_major_b ? v * C::pass_rows < cols_left && copy_chunk * C::vector < k_left
                                            : copy_row + v * C::pass_rows < k_left && x * 64 < cols_left;
        ptx::cp_async_16(to_b + fill + v * C::pass_rows * C::row_b + x * 128,
                         from_b + v * C::pass_rows * row_bytes_b + x * 128, inside ? 16 : 0);
      }
    }
    if constexpr (Type::sparse) {  // a chunk a thread: of 16 rows there are 16 for the k-tile
      if (last == C::copies)
        ptx::cp_async_16(ring_a + fill + C::tile_a + C::tile_b + threadIdx.x * chunk_bytes, from_metadata,
                         k_left > 0 ? 16 : 0);
    }
  };
  auto next_copy = [&] {
    fill = after(fill);
    k_left -= C::block_k;
    if constexpr (Type::sparse) from_metadata += C::block_k / 64 * warp_size;
    from_a += 128;
    from_b += Type::k_major_b ? 128 : C::block_k * row_bytes_b;
  };
  // Every k-tile's copies are a group, also past the end of k: the newest stages - 2 groups may still be
  // under way.
  auto wait_for_tile = [&] {
    ptx::cp_async_wait_group<C::stages - 2>();
    __syncthreads();  // the k-tile is complete, and every warp has left the one before
  };

  // Shared -> registers. Lane l gives the row address of ldmatrix's matrix l / 8: for A (16 rows x 32 bytes)
  // row l % 16 of chunk l / 16; for B (k16 x n16, transposed) k = l % 16 and chunk l / 16, for a sparse A's
  // (k32 x n8) k = l, and where B's rows run along k already (16 rows x 32 bytes), the row for column l % 8
  // of the first fragment or, from lane 16 on, of the second. The matrices come out in the order in which mma
  // takes a[0..3], and b[0..1] of two mmas or b[0..3] of one: neighbouring registers, as the instruction
  // wants them.
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  const int warp_row = warp / C::warps_n * C::warp_m, warp_col = warp % C::warps_n * C::warp_n;
  constexpr int lane_bs = Type::k_major_b ? C::steps : C::loads_b;
  SharedAddress lane_a[C::steps], lane_b[lane_bs];
#pragma unroll
  for (int step = 0; step < C::steps; ++step) {
    lane_a[step] = ring_a + chunk_offset(C::row_a, warp_row + lane % 16, step * 2 + lane / 16);
    keep(lane_a[step]);
  }
#pragma unroll
  for (int j = 0; j < lane_bs; ++j) {
    if constexpr (Type::k_major_b) {
      const int row = warp_col + column_of<C>(lane / 16, lane % 8);
      lane_b[j] = ring_b + chunk_offset<C::interleaved>(C::row_b, row, j * 2 + lane / 8 % 2);
    } else {
      const int chunk = warp_col / C::vector + j * C::mmas_of_b;
      lane_b[j] = ring_b + chunk_offset(C::row_b, lane % C::step_k, chunk + lane / C::step_k);
    }
    keep(lane_b[j]);
  }
  // Two sets of fragments: ldmatrix fills one while the MMAs read the other. With a sparse A there are
  // registers for one set only: the next fragments take the registers of each as soon as it has been
  // multiplied for the last time.
  constexpr int buffers = Type::sparse ? 1 : 2;
  unsigned a[buffers][C::mmas_m][4], b[buffers][C::loads_b][4], metadata[2][C::mmas_m];
  auto load_a = [&](int buffer, SharedAddress stage, int step, int i) {
    if constexpr (Type::sparse) {  // a word a lane is for two steps
      if (step % 2 == 0)
        metadata[step / 2][i] = *reinterpret_cast<const unsigned*>(
            shared + stage + C::tile_a + C::tile_b + ((warp_row / 16 + i) * 2 + step / 2) * 128 + lane * 4);
    }
    ptx::ldmatrix_x4(a[buffer][i], lane_a[step] + stage + i * mma_m * C::row_a);
  };
  auto load_b = [&](int buffer, SharedAddress stage, int step, int i) {
    if constexpr (Type::k_major_b) {
      ptx::ldmatrix_x4(b[buffer][i], lane_b[step] + stage + column_of<C>(i * 2, 0) * C::row_b);
    } else {
      ptx::ldmatrix_x4_trans(b[buffer][i], lane_b[i] + stage + step * C::step_k * C::row_b);
    }
  };

  auto load = [&](int buffer, SharedAddress stage, int step, int i) {
    load_a(buffer, stage, step, i);
#pragma unroll
    for (int of_b = i * C::loads_each; of_b < (i + 1) * C::loads_each; ++of_b)
      load_b(buffer, stage, step, of_b);
  };

  // Registers -> C. All CTAs end a tile at about the same time, and L2 takes longer to accept what they store
  // then than they do to multiply a k-tile. So the first 128 bytes of a row of a warp's tile are kept in
  // shared memory, behind the ring buffer, and are stored while the next tile is multiplied: 8 rows per
  // k-tile, `deferred` times. Each thread reads back only what it wrote itself, so that takes no barrier.
  uint4* const later = reinterpret_cast<uint4*>(shared + C::shared_bytes) + threadIdx.x;
  const uint4* next_later = later;
  typename Type::C* c = nullptr;
  int waiting = 0;  // so many times 8 rows are kept
  int rows_later[2] = {
      0, 0};            // of each of this lane's two 16 bytes of a row: rows from here to the last one kept
  uint4 bits_later[2];  // stored two steps after they were loaded from shared memory
  auto load_later = [&] {
#pragma unroll
    for (int x = 0; x < 2; ++x) bits_later[x] = next_later[x * C::threads];
    next_later += 2 * C::threads;
  };
  auto store_later = [&] {
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      ptx::store_16_bytes_if(rows_later[x] > 0, c + x * C::store_cols, bits_later[x]);
      rows_later[x] -= 8;
    }
    c += std::size_t(8) * p.n;
  };

  copy_for(blockIdx.x);
  for (int s = 0; s < C::stages - 1; ++s) {
    copy(0, C::copies);
    ptx::cp_async_commit_group();
    next_copy();
  }
  wait_for_tile();
  SharedAddress stage = 0;
#pragma unroll
  for (int i = 0; i < C::mmas_m; ++i) load(0, stage, 0, i);
  // The copies are so many k-tiles ahead: during the last ones of a tile they are the next tile's. Less of k
  // than that is filled up with zeros.
  constexpr int ahead = C::stages - 1;
  const int tiles_k = max(ceil_div(p.k, C::block_k), ahead);
  for (int index = blockIdx.x; index < order.tiles; index += gridDim.x) {
    typename Type::Accumulator accumulator[C::mmas_m][C::mmas_n][Type::registers] = {};
    // Registers -> tensor cores: row i of the warp's MMAs. Odd rows run backwards, their first B is the one
    // just used; not with a sparse A: there the last row runs as the next step's first one does, so that what
    // is loaded in its course has a row's time to arrive. `done` with what an ldmatrix brought of B.
    auto multiply = [&](int buffer, int step, int i, auto done) {
#pragma unroll
      for (int x = 0; x < C::mmas_n; ++x) {
        const int j = !Type::sparse && i % 2 == 1 ? C::mmas_n - 1 - x : x;
        const auto& loaded = b[buffer][j / C::mmas_of_b];
        if constexpr (Type::sparse) {
          Type::multiply(accumulator[i][j], a[buffer][i], loaded, metadata[step / 2][i], step % 2);
        } else {
          const unsigned one[2] = {loaded[j % 2 * 2], loaded[j % 2 * 2 + 1]};
          Type::multiply(accumulator[i][j], a[buffer][i], one);
        }
        if (x % C::mmas_of_b == C::mmas_of_b - 1) done(j / C::mmas_of_b);
      }
    };

    auto k_tile = [&](auto stores) {
      constexpr bool stores_later = decltype(stores)::value;
#pragma unroll
      for (int step = 0; step < C::steps; ++step) {
        constexpr int share = ceil_div(C::copies, C::steps - 1);  // the last step waits, the others copy
        const bool last = step == C::steps - 1;
        auto refill = [&] {  // the stage that every warp left at the last barrier
          if (!last) copy(step * share, min(step * share + share, C::copies));
          if (step == C::steps - 2) ptx::cp_async_commit_group();
          if constexpr (stores_later) {
            if (step == 0) load_later();
            if (step == C::steps - 2) store_later();
          }
        };
        auto turn = [&] {
          wait_for_tile();
          stage = after(stage);
          next_copy();
        };
        const int next = (step + 1) % C::steps;
        // All fragments of the last step are in registers, or on their way there, when it begins: no warp
        // reads the stage behind the barrier.
        if (last) turn();
#pragma unroll
        for (int i = 0; i < C::mmas_m; ++i) {
          if constexpr (Type::sparse) {
            multiply(0, step, i, [&](int of_b) {
              if (i == C::mmas_m - 1) load_b(0, stage, next, of_b);
            });
            load_a(0, stage, next, i);
            if (i == 1) refill();
          } else {
            load((step + 1) % 2, stage, next, i);
            if (i == 1) refill();
            multiply(step % 2, step, i, [](int) {});
          }
        }
      }
    };
    // k_tile() is compiled twice: with what is stored later, as long as there is something, and without,
    // since a store under a false predicate takes an issue slot, too.
    int k = 0;
    const int storing = min(waiting, tiles_k - ahead);
    if constexpr (C::epilogue.stores_later) {
#pragma unroll 1
      for (; k < storing; ++k) k_tile(std::true_type{});
    }
#pragma unroll 1
    for (int part = 0; part < 2; ++part) {
      const int end = part == 0 ? tiles_k - ahead : tiles_k;
      if (part == 1) copy_for(index + gridDim.x);
#pragma unroll 1
      for (; k < end; ++k) k_tile(std::false_type{});
    }

    const int2 tile = order.tile(index);
    const int row = tile.x * C::block_m + warp_row + lane / 4;
    const int col = tile.y * C::block_n + warp_col + lane % 4 * (C::store_cols / 4);
    if constexpr (C::epilogue.scale_rows) scale_rows(accumulator, p.squares, row, p.m, p.k);
#pragma unroll 1
    for (int r = storing; r < waiting; ++r) {  // of the tile before, where this one had few k-tiles
      load_later();
      store_later();
    }
    c = p.c + std::size_t(row) * p.n + col;
    next_later = later;
    waiting = C::epilogue.stores_later && index + int(gridDim.x) < order.tiles ? deferred : 0;
#pragma unroll
    for (int x = 0; x < 2; ++x)
      rows_later[x] = col + x * C::store_cols < p.n ? min(p.m - row, waiting * 8) : 0;
    for_each_16_bytes<Type>(accumulator, lane, [&](int r, int x, const uint4& bits) {
      const bool waits = x < 2 && r < waiting;
      if (waits) later[(r * 2 + x) * C::threads] = bits;
      if (!waits && row + r * 8 < p.m && col + x * C::store_cols < p.n)
        *reinterpret_cast<uint4*>(c + std::size_t(r * 8) * p.n + x * C::store_cols) = bits;
    });
  }
  ptx::cp_async_wait_group<0>();  // no copy may land in shared memory after the CTA has left
}

}  // namespace
}  // namespace ladder::rung_06
