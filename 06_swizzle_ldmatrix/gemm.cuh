// The tensor cores of 05_mma_sync, fed without bank conflicts: rows of the tiles are swizzled on their way
// into shared memory, and ldmatrix reads them back as whole fragments, B transposed on the fly. While one set
// of fragments is multiplied, the next is on its way into a second set of registers.
//
// The kernel is the same for every type of factor: a step along k is 32 bytes of a row of A, whatever their
// number of elements, and types.cuh says what else a type changes.
#pragma once

#include "06_swizzle_ldmatrix/row_scales.cuh"
#include "06_swizzle_ldmatrix/types.cuh"
#include "06_swizzle_ldmatrix/variants.h"
#include "common/ptx/cp_async.cuh"
#include "common/ptx/ldmatrix.cuh"

namespace ladder::rung_06 {
namespace {

using ptx::SharedAddress;

constexpr int chunk_bytes = 16;                       // what a lane copies, and a row of an 8x8 matrix
constexpr int span = 8;                               // chunks in 128 bytes: as many as meet all 32 banks
constexpr int mma_m = 16, mma_n = 8, mma_bytes = 32;  // of a row of A, along k

enum class Rows {
  plain,     // one after the other: the same chunk of 8 rows lies in the same banks
  padded,    // 16 bytes apart, so that it does not
  swizzled,  // chunk c of row r lies where chunk c ^ r % 8 would
};

// A warp's fragments for a step along k.
enum class Fragments {
  one_set,   // are loaded, then multiplied
  two_sets,  // the next are loaded while these are multiplied
  in_place,  // the next take the registers of each as soon as it has been multiplied for the last time: less
             // time to arrive in, for half the registers
};

// What an ablation leaves out.
struct Tricks {
  Rows rows = Rows::swizzled;
  Fragments fragments = Fragments::two_sets;
  bool serpentine = true;       // every other row of mmas runs backwards: its first B is the one just used
  bool hoisted_offsets = true;  // a lane's offsets are worked out once, before the loop
  int group = 8;                // rows of CTA tiles that neighbouring CTAs share; 1: row by row
  bool scale_rows = false;      // of C, by the norm's scales
};

template <class Type_, Tricks tricks_, int stages_>
struct Config {
  using Type = Type_;
  using Element = typename Type::A::Element;  // B's are as long
  static constexpr Tricks tricks = tricks_;
  static constexpr int stages = stages_;
  static constexpr int vector = chunk_bytes / sizeof(Element);  // elements of a chunk
  // The CTA's tile of C, and its step along k: 128 bytes of a row of A. Where half of A's elements are not
  // stored, that is twice as far.
  static constexpr int stored_k = 128 / sizeof(Element), block_k = Type::sparse ? 2 * stored_k : stored_k;
  static constexpr int block_m = Type::block_m, block_n = Type::block_n;
  static constexpr int warps_m = block_m / Type::warp_m, warps_n = block_n / 64,
                       threads = warp_size * warps_m * warps_n;
  static constexpr int warp_m = block_m / warps_m,
                       warp_n = block_n / warps_n;  // 64 x 64 (fp8: 32 x 64): 128 registers of sums
  static constexpr int mmas_m = warp_m / mma_m, mmas_n = warp_n / mma_n, steps = 128 / mma_bytes;
  static constexpr int pad = tricks.rows == Rows::padded ? chunk_bytes : 0;
  // An mma along k takes one matrix of 16 rows of B, or two.
  static constexpr int k16s = Type::sparse ? 2 : 1;
  // Bytes of a row in shared memory. B's rows run along n, as in memory, or along k.
  static constexpr int row_a = 128 + pad,
                       row_b = (Type::k_major_b ? 128 : block_n * int(sizeof(Element))) + pad;
  static constexpr int rows_b = Type::k_major_b ? block_n : block_k;
  static constexpr int tile_a = block_m * row_a, tile_b = rows_b * row_b;
  static constexpr int tile_metadata = Type::sparse ? block_m * block_k / 8 : 0;
  static constexpr int stage_bytes = tile_a + tile_b + tile_metadata, shared_bytes = stages * stage_bytes;
  // Eight threads copy 128 bytes of a row; a pass is what all threads copy with one instruction.
  static constexpr int pass_rows = threads / span, passes_a = block_m / pass_rows,
                       passes_b = rows_b / pass_rows;
  static constexpr int across_b = row_b / 128, copies = passes_a + passes_b * across_b;
  static_assert(pass_rows % 8 == 0, "a thread's chunk and its row's swizzle are the same in every pass");
  static constexpr int pairs_n = mmas_n / 2,
                       pairs_each = pairs_n / mmas_m;  // an ldmatrix.x4 has B for two mmas
  static_assert(pairs_n % mmas_m == 0, "with every row of mmas as many fragments of B");
  static_assert(shared_bytes >= block_m * 64 * warps_n * 2, "C's tile passes through the ring");
  static_assert(tile_metadata == 0 || tile_metadata == threads * chunk_bytes, "a chunk of metadata a thread");
};

// Bytes from the start of a tile to a chunk of one of its rows.
template <class C>
__device__ int chunk_offset(int row_bytes, int row, int chunk) {
  if constexpr (C::tricks.rows == Rows::swizzled) chunk ^= row % span;
  return row * row_bytes + chunk * chunk_bytes;
}

// Keeps the compiler from working the offset out again wherever it is used.
__device__ void keep(SharedAddress& offset) {
  asm volatile("" : "+r"(offset));
}

// The order of CTA tiles: down `group` rows of them, then on to the next column. CTAs that run at the same
// time so share both rows of A and columns of B in L2.
__device__ int2 tile_of_cta(int index, int tiles_m, int tiles_n, int group) {
  const int per_group = group * tiles_n, first = index / per_group * group;
  const int rows = min(tiles_m - first, group), i = index % per_group;
  return make_int2(first + i % rows, i / rows);
}

// The operands as the kernel reads them. k counts what is not stored of A, too.
template <class Type>
struct Product {
  int m, n, k;
  const typename Type::A::Element* a;
  const typename Type::B::Element* b;
  typename Type::C* c;
  const unsigned* metadata;  // of A, where it is sparse
  RowSquares squares = {};   // where C's rows are scaled
};

template <class C>
__global__ void __launch_bounds__(C::threads, 1)
    gemm_kernel(Product<typename C::Type> p, int tiles_m, int tiles_n) {
  using Type = typename C::Type;
  extern __shared__ __align__(128) unsigned char shared[];
  const SharedAddress ring_a = ptx::shared_address(shared), ring_b = ring_a + C::tile_a;
  const int2 tile = tile_of_cta(blockIdx.x, tiles_m, tiles_n, C::tricks.group);
  const int row0 = tile.x * C::block_m, col0 = tile.y * C::block_n;

  // Global -> shared. A thread's copies go to the same chunk of every row of its, and from a pointer that
  // moves on by a k-tile at a time. Past the edges of A and B they are zeros, also past the end of k: the
  // loop below does not stop to ask whether there is a next tile.
  const int copy_row = threadIdx.x / span, copy_chunk = threadIdx.x % span;
  const SharedAddress to_a = ring_a + chunk_offset<C>(C::row_a, copy_row, copy_chunk);
  const SharedAddress to_b = ring_b + chunk_offset<C>(C::row_b, copy_row, copy_chunk);
  const int stored_k = Type::sparse ? p.k / 2 : p.k;
  const typename C::Element* from_a = p.a + std::size_t(row0 + copy_row) * stored_k + copy_chunk * C::vector;
  const typename C::Element* from_b = Type::k_major_b
                                          ? p.b + std::size_t(col0 + copy_row) * p.k + copy_chunk * C::vector
                                          : p.b + std::size_t(copy_row) * p.n + col0 + copy_chunk * C::vector;
  const std::size_t pass_a = std::size_t(C::pass_rows) * stored_k;  // from a pass to the next
  const std::size_t pass_b = std::size_t(C::pass_rows) * (Type::k_major_b ? p.k : p.n);
  const unsigned* from_metadata = nullptr;
  if constexpr (Type::sparse)
    from_metadata = p.metadata + metadata_at(p.k, row0 / 16 + threadIdx.x / 16, 0) + threadIdx.x % 16 * 4;
  const int rows_left = p.m - row0 - copy_row;
  const int cols_left = p.n - col0 - (Type::k_major_b ? copy_row : copy_chunk * C::vector);
  int fill = 0, k_left = p.k;  // the stage that is filled next, and what is left of k from there on
  auto copy = [&](int first, int last) {
#pragma unroll
    for (int c = first; c < last; ++c) {
      if (c < C::passes_a) {
        const bool inside =
            c * C::pass_rows < rows_left && copy_chunk * C::vector * (Type::sparse ? 2 : 1) < k_left;
        ptx::cp_async_16(to_a + fill * C::stage_bytes + c * C::pass_rows * C::row_a, from_a + c * pass_a,
                         inside ? 16 : 0);
      } else {
        const int v = (c - C::passes_a) / C::across_b, x = (c - C::passes_a) % C::across_b;
        const bool inside = Type::k_major_b ? v * C::pass_rows < cols_left && copy_chunk * C::vector < k_left
                                            : copy_row + v * C::pass_rows < k_left && x * 64 < cols_left;
        ptx::cp_async_16(to_b + fill * C::stage_bytes + v * C::pass_rows * C::row_b + x * 128,
                         from_b + v * pass_b + x * 64, inside ? 16 : 0);
      }
    }
    if constexpr (Type::sparse) {  // a chunk a thread: of 16 rows there are 16 for the k-tile
      if (last == C::copies)
        ptx::cp_async_16(ring_a + fill * C::stage_bytes + C::tile_a + C::tile_b + threadIdx.x * chunk_bytes,
                         from_metadata, k_left > 0 ? 16 : 0);
    }
  };
  auto next_copy = [&] {
    fill = fill + 1 == C::stages ? 0 : fill + 1;
    k_left -= C::block_k;
    if constexpr (Type::sparse) from_metadata += C::block_k / 64 * warp_size;
    from_a += C::stored_k;
    from_b += Type::k_major_b ? std::size_t(C::block_k) : std::size_t(C::block_k) * p.n;
  };
  // Every k-tile's copies are a group, also past the end of k: the newest stages - 2 groups are those that
  // may still be on their way.
  auto wait_for_tile = [&] {
    ptx::cp_async_wait_group<C::stages - 2>();
    __syncthreads();  // the tile is complete, and everyone has left the one before
  };

  // Shared -> registers. Lane l gives the row address of ldmatrix's matrix l / 8: for A (16 rows x 32 bytes)
  // row l % 16 of chunk l / 16; for B (k16 x n16, transposed) k = l % 16 and chunk l / 16, and where B's rows
  // run along k already (16 rows x 32 bytes), row l % 8 of the first 8 or, from lane 16 on, of the others.
  // The matrices come out in the order in which mma takes a[0..3], and b[0..1] of two mmas.
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  const int warp_row = warp / C::warps_n * C::warp_m, warp_col = warp % C::warps_n * C::warp_n;
  constexpr int lane_bs = Type::k_major_b ? C::steps : C::pairs_n;
  SharedAddress lane_a[C::steps], lane_b[lane_bs];
#pragma unroll
  for (int step = 0; step < C::steps; ++step) {
    lane_a[step] = ring_a + chunk_offset<C>(C::row_a, warp_row + lane % 16, step * 2 + lane / 16);
    if constexpr (C::tricks.hoisted_offsets) keep(lane_a[step]);
  }
#pragma unroll
  for (int j = 0; j < lane_bs; ++j) {
    lane_b[j] =
        ring_b + (Type::k_major_b
                      ? chunk_offset<C>(C::row_b, warp_col + lane / 16 * 8 + lane % 8, j * 2 + lane / 8 % 2)
                      : chunk_offset<C>(C::row_b, lane % 16, warp_col / C::vector + j * 2 + lane / 16));
    if constexpr (C::tricks.hoisted_offsets) keep(lane_b[j]);
  }
  constexpr int buffers = C::tricks.fragments == Fragments::two_sets ? 2 : 1;
  unsigned a[buffers][C::mmas_m][4], b[buffers][C::pairs_n][C::k16s][4], metadata[2][C::mmas_m];
  auto load_a = [&](int buffer, int stage, int step, int i) {
    const SharedAddress offset = stage * C::stage_bytes;
    if constexpr (Type::sparse) {  // a word a lane is for two steps
      if (step % 2 == 0)
        metadata[step / 2][i] = *reinterpret_cast<const unsigned*>(
            shared + offset + C::tile_a + C::tile_b + ((warp_row / 16 + i) * 2 + step / 2) * 128 + lane * 4);
    }
    ptx::ldmatrix_x4(a[buffer][i], lane_a[step] + offset + i * mma_m * C::row_a);
  };
  auto load_b = [&](int buffer, int stage, int step, int i) {
    const SharedAddress offset = stage * C::stage_bytes;
    if constexpr (Type::k_major_b) {
      ptx::ldmatrix_x4(b[buffer][i][0], lane_b[step] + offset + i * 2 * mma_n * C::row_b);
    } else {
#pragma unroll
      for (int half = 0; half < C::k16s; ++half)
        ptx::ldmatrix_x4_trans(b[buffer][i][half],
                               lane_b[i] + offset + (step * C::k16s + half) * 16 * C::row_b);
    }
  };

  auto load = [&](int buffer, int stage, int step, int i) {
    load_a(buffer, stage, step, i);
#pragma unroll
    for (int pair = i * C::pairs_each; pair < (i + 1) * C::pairs_each; ++pair)
      load_b(buffer, stage, step, pair);
  };

  // Registers -> tensor cores: row i of the warp's mmas. `done` with each two columns.
  typename Type::Sum sum[C::mmas_m][C::mmas_n][Type::sums] = {};
  auto multiply = [&](int buffer, int step, int i, auto done) {
#pragma unroll
    for (int x = 0; x < C::mmas_n; ++x) {
      const int j = C::tricks.serpentine && i % 2 == 1 ? C::mmas_n - 1 - x : x;
      const auto& both = b[buffer][j / 2];
      const int of = j % 2 * 2;
      if constexpr (Type::sparse) {
        const unsigned one[4] = {both[0][of], both[0][of + 1], both[1][of], both[1][of + 1]};
        Type::multiply(sum[i][j], a[buffer][i], one, metadata[step / 2][i], step % 2);
      } else {
        const unsigned one[2] = {both[0][of], both[0][of + 1]};
        Type::multiply(sum[i][j], a[buffer][i], one);
      }
      if (x % 2 == 1) done(j / 2);
    }
  };

  auto nothing = [](int) {};

  const int tiles_k = ceil_div(p.k, C::block_k);
  for (int s = 0; s < C::stages - 1; ++s) {
    copy(0, C::copies);
    ptx::cp_async_commit_group();
    next_copy();
  }
  wait_for_tile();
  int stage = 0;
  if constexpr (C::tricks.fragments != Fragments::one_set) {
#pragma unroll
    for (int i = 0; i < C::mmas_m; ++i) load(0, stage, 0, i);
  }
  for (int k = 0; k < tiles_k; ++k) {
#pragma unroll
    for (int step = 0; step < C::steps; ++step) {
      constexpr int share = ceil_div(C::copies, C::steps - 1);  // the last step waits, the others copy
      const bool last = step == C::steps - 1;
      auto refill = [&] {  // the stage that everyone left at the last barrier
        if (!last) copy(step * share, min(step * share + share, C::copies));
        if (step == C::steps - 2) ptx::cp_async_commit_group();
      };
      auto turn = [&] {
        wait_for_tile();
        stage = stage + 1 == C::stages ? 0 : stage + 1;
        next_copy();
      };
      const int next = (step + 1) % C::steps;
      // Where fragments are loaded ahead, all of this tile are in registers, or in flight to this warp's own,
      // when its last step begins: after the barrier, which they wait behind, its stage is free.
      if constexpr (C::tricks.fragments == Fragments::two_sets) {
        if (last) turn();
#pragma unroll
        for (int i = 0; i < C::mmas_m; ++i) {
          load((step + 1) % 2, stage, next, i);
          if (i == 1) refill();
          multiply(step % 2, step, i, nothing);
        }
      } else if constexpr (C::tricks.fragments == Fragments::in_place) {
        if (last) turn();
#pragma unroll
        for (int i = 0; i < C::mmas_m; ++i) {
          multiply(0, step, i, [&](int pair) {
            if (i == C::mmas_m - 1) load_b(0, stage, next, pair);
          });
          load_a(0, stage, next, i);
          if (i == 1) refill();
        }
      } else {
#pragma unroll
        for (int i = 0; i < C::mmas_m; ++i) load(0, stage, step, i);
        refill();
#pragma unroll
        for (int i = 0; i < C::mmas_m; ++i) multiply(0, step, i, nothing);
        if (last) turn();
      }
    }
  }

  if constexpr (C::tricks.scale_rows) scale_rows(sum, p.squares, row0 + warp_row + lane / 4, p.m, p.k);
  // C's tile through shared memory: of a row a fragment has 16 or 32 bytes, a warp 128 or 256. Each warp has
  // its own 8 KiB there for that, swizzled like the tiles: 64 rows, or 32 at a time.
  ptx::cp_async_wait_group<0>();
  __syncthreads();  // everyone has left the ring
  using Pair = typename Type::Pair;
  constexpr int size = sizeof(typename Type::C), row_bytes = C::warp_n * size,
                chunks = row_bytes / chunk_bytes;
  constexpr int rows = C::warp_m * 2 / size;  // at a time
  static_assert(C::warp_n * 2 == 128 && rows % mma_m == 0, "a row meets all 32 banks, once or twice");
  unsigned char* mine = shared + warp * C::warp_m * 128;
  // A quarter-warp's 16 bytes, and a half-warp's 8, meet all banks once.
  auto place = [&](int row, int chunk) {
    return mine + row * row_bytes + (chunk ^ row % (16 / size) * (size / 2)) * chunk_bytes;
  };
#pragma unroll
  for (int first = 0; first < C::warp_m; first += rows) {
    if (first > 0) __syncwarp();  // the rows before have been read
#pragma unroll
    for (int i = 0; i < rows / mma_m; ++i)
#pragma unroll
      for (int j = 0; j < C::mmas_n; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = i * mma_m + half * 8 + lane / 4, byte = (j * mma_n + lane % 4 * 2) * size;
          *reinterpret_cast<Pair*>(place(row, byte / chunk_bytes) + byte % chunk_bytes) =
              Type::pair(sum[first / mma_m + i][j], half);
        }
    __syncwarp();
    const int chunk = lane % chunks, col = col0 + warp_col + chunk * (chunk_bytes / size);
#pragma unroll
    for (int r = 0; r < rows; r += warp_size / chunks) {
      const int in_part = r + lane / chunks, row = row0 + warp_row + first + in_part;
      const uint4 bits = *reinterpret_cast<const uint4*>(place(in_part, chunk));
      if (row < p.m && col < p.n) *reinterpret_cast<uint4*>(p.c + std::size_t(row) * p.n + col) = bits;
    }
  }
}

template <class C>
cudaError_t launch_config(const Product<typename C::Type>& p, cudaStream_t stream) {
  const cudaError_t error =
      cudaFuncSetAttribute(gemm_kernel<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error != cudaSuccess) return error;
  const int tiles_m = ceil_div(p.m, C::block_m), tiles_n = ceil_div(p.n, C::block_n);
  gemm_kernel<C>
      <<<unsigned(tiles_m) * unsigned(tiles_n), C::threads, C::shared_bytes, stream>>>(p, tiles_m, tiles_n);
  return cudaGetLastError();
}

// What a CTA may have of shared memory: 163 KiB and more on GPUs for data centres, 99 KiB on others.
int most_shared_bytes() {
  int device = 0, bytes = 0;
  if (cudaGetDevice(&device) == cudaSuccess)
    cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return bytes;
}

// Why two stages do not fit; empty where they do.
template <class C>
std::string too_little_shared() {
  if (C::shared_bytes <= most_shared_bytes()) return {};
  return "two stages take " + std::to_string(C::shared_bytes) + " bytes of shared memory; this GPU has " +
         std::to_string(most_shared_bytes()) + " for a CTA";
}

// Three stages where they fit, else two.
template <class Type, Tricks tricks>
cudaError_t launch(const Product<Type>& p, cudaStream_t stream) {
  if (Config<Type, tricks, 3>::shared_bytes <= most_shared_bytes())
    return launch_config<Config<Type, tricks, 3>>(p, stream);
  return launch_config<Config<Type, tricks, 2>>(p, stream);
}

}  // namespace
}  // namespace ladder::rung_06
