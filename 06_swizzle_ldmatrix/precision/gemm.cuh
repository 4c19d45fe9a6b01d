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

// The operands as the kernel reads them. k includes what is not stored of A.
template <class Type>
struct Product {
  int m, n, k;
  const typename Type::A::Element* a;
  const typename Type::B::Element* b;
  typename Type::C* c;
  const unsigned* metadata = nullptr;  // of A, where it is sparse
  RowSquares squares = {};             // where C's rows are scaled
};

// The next stage of the ring buffer. A stage is named by its offset there, in bytes.
template <class C>
__device__ SharedAddress stage_after(SharedAddress stage) {
  return stage + C::stage_bytes == C::shared_bytes ? 0 : stage + C::stage_bytes;
}

// Global -> shared. A thread copies the same chunk of every row of its own, from pointers that move on by a
// k-tile at a time. It copies zeros past the edges of A and B, past the end of k and when the CTA has no next
// tile of C, so the mainloop has no special cases.
template <class C>
struct TypedCopies {
  using Type = typename C::Type;
  static constexpr std::size_t size = sizeof(typename C::Element);
  const Product<Type>& p;
  const SharedAddress shared;
  const int row = threadIdx.x / span, chunk = threadIdx.x % span;
  const SharedAddress to_a = shared + chunk_offset(C::row_a, row, chunk);
  const SharedAddress to_b = shared + C::tile_a + chunk_offset<C::interleaved>(C::row_b, row, chunk);
  const std::size_t row_bytes_a = (Type::sparse ? p.k / 2 : p.k) * size;
  const std::size_t row_bytes_b = (Type::k_major_b ? p.k : p.n) * size;
  SharedAddress stage = 0;  // the one that the next copies fill
  const unsigned char *from_a, *from_b;
  const unsigned* from_metadata = nullptr;
  int rows_left, cols_left, k_left;  // of A, of B and of k, from where the next copies read

  // The next k-tile is the first of this tile of C.
  __device__ void begin_tile(const TileOrder<8>& order, int index) {
    k_left = 0;
    if (index >= order.tiles) return;
    const int2 tile = order.tile(index);
    const int first_row = tile.x * C::block_m + row, first_col = tile.y * C::block_n;
    from_a = reinterpret_cast<const unsigned char*>(p.a) + first_row * row_bytes_a + chunk * chunk_bytes;
    from_b = reinterpret_cast<const unsigned char*>(p.b) + chunk * chunk_bytes +
             (Type::k_major_b ? (first_col + row) * row_bytes_b : row * row_bytes_b + first_col * size);
    if (Type::sparse)
      from_metadata = p.metadata + metadata_at(p.k, tile.x * (C::block_m / 16) + threadIdx.x / 16, 0) +
                      threadIdx.x % 16 * 4;
    rows_left = p.m - first_row;
    cols_left = p.n - first_col - (Type::k_major_b ? row : chunk * C::vector);
    k_left = p.k;
  }

  // The copies of a k-tile, a third in each of the first three steps of the one that is multiplied meanwhile.
  // They are a group, also where they copy nothing but zeros: wait_for_k_tile() counts groups.
  __device__ void issue(int step) const {
    constexpr int share = ceil_div(C::copies, C::steps - 1);
#pragma unroll
    for (int c = step * share; c < min(step * share + share, C::copies); ++c) {
      const int b = c - C::passes_a;
      if (b < 0)
        copy_a(c * C::pass_rows);
      else
        copy_b(b / C::across_b * C::pass_rows, b % C::across_b);
    }
    if (step != C::steps - 2) return;
    if (Type::sparse)  // one chunk per thread: 16 rows have 16 of them in a k-tile
      ptx::cp_async_16(shared + stage + C::tile_a + C::tile_b + threadIdx.x * chunk_bytes, from_metadata,
                       k_left > 0 ? 16 : 0);
    ptx::cp_async_commit_group();
  }
  // A pass of rows, `down` rows from the tile's top; of a B that lies along n, their `across`-th 128 bytes.
  __device__ void copy_a(int down) const {
    const bool inside = down < rows_left && chunk * C::vector * (Type::sparse ? 2 : 1) < k_left;
    ptx::cp_async_16(to_a + stage + down * C::row_a, from_a + down * row_bytes_a, inside ? 16 : 0);
  }
  __device__ void copy_b(int down, int across) const {
    const bool inside = Type::k_major_b ? down < cols_left && chunk * C::vector < k_left
                                        : row + down < k_left && across * 64 < cols_left;
    ptx::cp_async_16(to_b + stage + down * C::row_b + across * 128,
                     from_b + down * row_bytes_b + across * 128, inside ? 16 : 0);
  }

  __device__ void next_k_tile() {
    stage = stage_after<C>(stage);
    k_left -= C::block_k;
    if (Type::sparse) from_metadata += C::block_k / 64 * warp_size;
    from_a += 128;
    from_b += Type::k_major_b ? 128 : C::block_k * row_bytes_b;
  }
};

template <class C>
__device__ void wait_for_k_tile() {
  ptx::cp_async_wait_group<C::stages - 2>();  // newer groups, of later k-tiles, may still be under way
  __syncthreads();  // the k-tile is complete, and every warp has left the one before
}

// Keeps the compiler from computing the offset again wherever it is used.
__device__ void keep(SharedAddress& offset) {
  asm volatile("" : "+r"(offset));
}

// Shared -> registers -> tensor cores: a warp's fragments for one step along k, in two sets: ldmatrix fills
// one while the MMAs read the other. With a sparse A there are registers for one set only: the next fragments
// take the registers of each as soon as it has been multiplied for the last time.
template <class C>
struct TypedFragments {
  using Type = typename C::Type;
  static constexpr int sets = Type::sparse ? 1 : 2, lane_bs = Type::k_major_b ? C::steps : C::loads_b;
  SharedAddress lane_a[C::steps], lane_b[lane_bs];
  const unsigned char* const lane_metadata;  // of the first stage
  unsigned a[sets][C::mmas_m][4], b[sets][C::loads_b][4], metadata[2][C::mmas_m];

  // Lane l gives the row address of ldmatrix's matrix l / 8: for A (16 rows x 32 bytes) row l % 16 of chunk
  // l / 16; for B (k16 x n16, transposed) k = l % 16 and chunk l / 16, for a sparse A's (k32 x n8) k = l, and
  // where B's rows run along k already (16 rows x 32 bytes), the row for column l % 8 of the first fragment
  // or, from lane 16 on, of the second. The matrices come out in the order in which mma takes a[0..3], and
  // b[0..1] of two MMAs or b[0..3] of one: neighbouring registers, as the instruction wants them.
  __device__ TypedFragments(const unsigned char* shared, int warp_row, int warp_col, int lane)
      : lane_metadata(shared + C::tile_a + C::tile_b + warp_row / 16 * 256 + lane * 4) {
    const SharedAddress tile_a = ptx::shared_address(shared), tile_b = tile_a + C::tile_a;
#pragma unroll
    for (int step = 0; step < C::steps; ++step) {
      lane_a[step] = tile_a + chunk_offset(C::row_a, warp_row + lane % 16, step * 2 + lane / 16);
      keep(lane_a[step]);
    }
#pragma unroll
    for (int j = 0; j < lane_bs; ++j) {
      if constexpr (Type::k_major_b) {
        const int row = warp_col + column_of<C>(lane / 16, lane % 8);
        lane_b[j] = tile_b + chunk_offset<C::interleaved>(C::row_b, row, j * 2 + lane / 8 % 2);
      } else {
        const int chunk = warp_col / C::vector + j * C::mmas_of_b;
        lane_b[j] = tile_b + chunk_offset(C::row_b, lane % C::step_k, chunk + lane / C::step_k);
      }
      keep(lane_b[j]);
    }
  }

  __device__ void load_a(int set, SharedAddress stage, int step, int i) {
    if (Type::sparse && step % 2 == 0)  // a word a lane is for two steps
      metadata[step / 2][i] =
          *reinterpret_cast<const unsigned*>(lane_metadata + stage + (i * 2 + step / 2) * 128);
    ptx::ldmatrix_x4(a[set][i], lane_a[step] + stage + i * mma_m * C::row_a);
  }
  __device__ void load_b(int set, SharedAddress stage, int step, int i) {
    if constexpr (Type::k_major_b)
      ptx::ldmatrix_x4(b[set][i], lane_b[step] + stage + column_of<C>(i * 2, 0) * C::row_b);
    else
      ptx::ldmatrix_x4_trans(b[set][i], lane_b[i] + stage + step * C::step_k * C::row_b);
  }
  // Fragment i of A, and the same share of B's fragments.
  __device__ void load(int set, SharedAddress stage, int step, int i) {
    load_a(set, stage, step, i);
#pragma unroll
    for (int of_b = i * C::loads_each; of_b < (i + 1) * C::loads_each; ++of_b) load_b(set, stage, step, of_b);
  }

  // Row i of the warp's MMAs. Odd rows run backwards: their first fragment of B is the one just used. Not
  // with a sparse A: its last row runs the same way as the next step's first one, so that what is loaded
  // meanwhile has a row's time to arrive. Calls `done` with each ldmatrix of B that the row has used up.
  template <class Accumulators, class Done>
  __device__ void multiply(Accumulators& accumulator, int set, int step, int i, Done done) const {
#pragma unroll
    for (int x = 0; x < C::mmas_n; ++x) {
      const int j = !Type::sparse && i % 2 == 1 ? C::mmas_n - 1 - x : x;
      const auto& loaded = b[set][j / C::mmas_of_b];
      if constexpr (Type::sparse) {
        Type::multiply(accumulator[i][j], a[set][i], loaded, metadata[step / 2][i], step % 2);
      } else {
        const unsigned one[2] = {loaded[j % 2 * 2], loaded[j % 2 * 2 + 1]};
        Type::multiply(accumulator[i][j], a[set][i], one);
      }
      if (x % C::mmas_of_b == C::mmas_of_b - 1) done(j / C::mmas_of_b);
    }
  }
};

// Registers -> shared -> global. All CTAs end a tile at about the same time, and L2 takes longer to accept
// what they store then than they do to multiply a k-tile. So the first 128 bytes of a row of a warp's tile
// are kept in shared memory, behind the ring buffer, and are stored while the next tile is multiplied: 8 rows
// per k-tile. Each thread reads back only what it wrote itself, so that takes no barrier.
template <class C>
struct DeferredStores {
  uint4* const kept;
  const int n;
  const uint4* next = kept;
  typename C::Type::C* c = nullptr;
  int waiting = 0;            // rows that are kept, in units of 8
  int rows_left[2] = {0, 0};  // of this lane's x-th 16 bytes of a row: rows from c to the last one kept
  uint4 bits[2];              // stored two steps after they were loaded from shared memory

  __device__ void load() {
#pragma unroll
    for (int x = 0; x < 2; ++x) bits[x] = next[x * C::threads];
    next += 2 * C::threads;
  }
  __device__ void store() {
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      ptx::store_16_bytes_if(rows_left[x] > 0, c + x * C::store_cols, bits[x]);
      rows_left[x] -= 8;
    }
    c += std::size_t(8) * n;
  }
};

// The MMAs of a k-tile; between them ldmatrix for the step after, the copies of a later k-tile into the stage
// that every warp left at the last barrier and, if there are any, 8 rows of deferred stores.
template <class C, bool stores, class Accumulators>
__device__ void multiply_k_tile(Accumulators& accumulator, TypedFragments<C>& fragments,
                                TypedCopies<C>& copies, DeferredStores<C>& deferred, SharedAddress& stage) {
#pragma unroll
  for (int step = 0; step < C::steps; ++step) {
    const int next = (step + 1) % C::steps;
    auto issue = [&] {
      copies.issue(step);
      if (stores && step == 0) deferred.load();
      if (stores && step == C::steps - 2) deferred.store();
    };
    // When the last step begins, its fragments are in registers, or on their way there: no warp that has
    // passed the barrier reads this stage again.
    if (step == C::steps - 1) {
      wait_for_k_tile<C>();
      stage = stage_after<C>(stage);
      copies.next_k_tile();
    }
#pragma unroll
    for (int i = 0; i < C::mmas_m; ++i) {
      if constexpr (C::Type::sparse) {
        fragments.multiply(accumulator, 0, step, i, [&](int of_b) {
          if (i == C::mmas_m - 1) fragments.load_b(0, stage, next, of_b);
        });
        fragments.load_a(0, stage, next, i);
        if (i == 1) issue();
      } else {
        fragments.load((step + 1) % 2, stage, next, i);
        if (i == 1) issue();
        fragments.multiply(accumulator, step % 2, step, i, [](int) {});
      }
    }
  }
}

// `most_deferred`: rows of a warp's tile, in units of 8, that fit into shared memory behind the ring buffer.
template <class C>
__global__ void __launch_bounds__(C::threads, 1)
    gemm_kernel(Product<typename C::Type> p, TileOrder<8> order, int most_deferred) {
  using Type = typename C::Type;
  extern __shared__ __align__(128) unsigned char shared[];
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  const int warp_row = warp / C::warps_n * C::warp_m, warp_col = warp % C::warps_n * C::warp_n;
  TypedCopies<C> copies{p, ptx::shared_address(shared)};
  TypedFragments<C> fragments(shared, warp_row, warp_col, lane);
  DeferredStores<C> deferred{reinterpret_cast<uint4*>(shared + C::shared_bytes) + threadIdx.x, p.n};
  SharedAddress stage = 0;  // whose k-tile is multiplied

  // Copies run `ahead` k-tiles ahead: during the last ones of a tile they are the next tile's. A k with fewer
  // k-tiles is padded with zeros.
  constexpr int ahead = C::stages - 1;
  const int tiles_k = max(ceil_div(p.k, C::block_k), ahead);
  copies.begin_tile(order, blockIdx.x);
#pragma unroll
  for (int s = 0; s < ahead; ++s) {
#pragma unroll
    for (int step = 0; step < C::steps; ++step) copies.issue(step);
    copies.next_k_tile();
  }
  wait_for_k_tile<C>();
#pragma unroll
  for (int i = 0; i < C::mmas_m; ++i) fragments.load(0, stage, 0, i);
  for (int index = blockIdx.x; index < order.tiles; index += gridDim.x) {
    typename Type::Accumulator accumulator[C::mmas_m][C::mmas_n][Type::registers] = {};
    // multiply_k_tile() is compiled twice: with deferred stores, as long as there are any, and without, since
    // a store under a false predicate takes an issue slot, too.
    int k = 0;
    const int storing = min(deferred.waiting, tiles_k - ahead);
    if constexpr (C::epilogue.stores_later) {
#pragma unroll 1
      for (; k < storing; ++k) multiply_k_tile<C, true>(accumulator, fragments, copies, deferred, stage);
    }
#pragma unroll 1
    for (int part = 0; part < 2; ++part) {
      const int end = part == 0 ? tiles_k - ahead : tiles_k;
      if (part == 1) copies.begin_tile(order, index + gridDim.x);
#pragma unroll 1
      for (; k < end; ++k) multiply_k_tile<C, false>(accumulator, fragments, copies, deferred, stage);
    }

    const int2 tile = order.tile(index);
    const int row = tile.x * C::block_m + warp_row + lane / 4;
    const int col = tile.y * C::block_n + warp_col + lane % 4 * (C::store_cols / 4);
    if constexpr (C::epilogue.scale_rows) scale_rows(accumulator, p.squares, row, p.m, p.k);
#pragma unroll 1
    for (int r = storing; r < deferred.waiting; ++r) {  // of the tile before, where this one had few k-tiles
      deferred.load();
      deferred.store();
    }
    typename Type::C* const c = deferred.c = p.c + std::size_t(row) * p.n + col;
    deferred.next = deferred.kept;
    deferred.waiting = C::epilogue.stores_later && index + int(gridDim.x) < order.tiles ? most_deferred : 0;
#pragma unroll
    for (int x = 0; x < 2; ++x)
      deferred.rows_left[x] = col + x * C::store_cols < p.n ? min(p.m - row, deferred.waiting * 8) : 0;
    for_each_16_bytes<Type>(accumulator, lane, [&](int r, int x, const uint4& bits) {
      const bool waits = x < 2 && r < deferred.waiting;
      if (waits) deferred.kept[(r * 2 + x) * C::threads] = bits;
      if (!waits && row + r * 8 < p.m && col + x * C::store_cols < p.n)
        *reinterpret_cast<uint4*>(c + std::size_t(r * 8) * p.n + x * C::store_cols) = bits;
    });
  }
  ptx::cp_async_wait_group<0>();  // no copy may land in shared memory after the CTA has left
}

}  // namespace
}  // namespace ladder::rung_06
