// The tensor cores of 05_mma_sync, fed without bank conflicts: rows of the tiles are swizzled on their way
// into shared memory, and ldmatrix reads them back as whole fragments, B transposed on the fly. While one set
// of fragments is multiplied, the next is on its way into a second set of registers.
#include "06_swizzle_ldmatrix/variants.h"
#include "common/ptx/cp_async.cuh"
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/mma.cuh"

namespace ladder::rung_06 {
namespace {

using ptx::SharedAddress;

constexpr int warp_size = 32;
constexpr int vector = 8;        // bf16 elements in 16 bytes
constexpr int chunk_bytes = 16;  // what a lane copies, and a row of an 8x8 matrix
constexpr int span = 8;          // chunks in 128 bytes: as many as meet all 32 banks
constexpr int mma_m = 16, mma_n = 8, mma_k = 16;

enum class Rows {
  plain,     // one after the other: the same chunk of 8 rows lies in the same banks
  padded,    // 16 bytes apart, so that it does not
  swizzled,  // chunk c of row r lies where chunk c ^ r % 8 would
};

// What an ablation leaves out.
struct Tricks {
  Rows rows = Rows::swizzled;
  bool double_buffer = true;    // fragments: the next are loaded while these are multiplied
  bool serpentine = true;       // every other row of mmas runs backwards: its first B is the one just used
  bool hoisted_offsets = true;  // a lane's offsets are worked out once, before the loop
  int group = 8;                // rows of CTA tiles that neighbouring CTAs share; 1: row by row
};

template <Tricks tricks_, int stages_>
struct Config {
  static constexpr Tricks tricks = tricks_;
  static constexpr int stages = stages_;
  static constexpr int block_m = 128, block_n = 256,
                       block_k = 64;  // the CTA's tile of C, and its step along k
  static constexpr int warps_m = 2, warps_n = 4, threads = warp_size * warps_m * warps_n;
  static constexpr int warp_m = block_m / warps_m,
                       warp_n = block_n / warps_n;  // 64 x 64: 128 registers of sums
  static constexpr int mmas_m = warp_m / mma_m, mmas_n = warp_n / mma_n, steps = block_k / mma_k;
  static constexpr int pad = tricks.rows == Rows::padded ? chunk_bytes : 0;
  static constexpr int row_a = block_k * 2 + pad, row_b = block_n * 2 + pad;  // bytes
  static constexpr int tile_a = block_m * row_a, tile_b = block_k * row_b, stage_bytes = tile_a + tile_b;
  static constexpr int shared_bytes = stages * stage_bytes;
  // Eight threads copy 128 bytes of a row; a pass is what all threads copy with one instruction.
  static constexpr int pass_rows = threads / span, passes_a = block_m / pass_rows,
                       passes_b = block_k / pass_rows;
  static constexpr int across_b = block_n * 2 / 128, copies = passes_a + passes_b * across_b;
  static_assert(block_k * 2 == 128 && pass_rows % 8 == 0,
                "a thread's chunk and its row's swizzle are the same in every pass");
  static_assert(mmas_m == mmas_n / 2, "as many ldmatrix.x4 for A as for B");
  static_assert(copies % (steps - 1) == 0, "the last step waits, the others share the copies");
  static_assert(shared_bytes >= block_m * block_n * 2, "C's tile passes through the ring");
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

template <class C>
__global__ void __launch_bounds__(C::threads, 1) gemm_kernel(Gemm p, int tiles_m, int tiles_n) {
  extern __shared__ __align__(128) unsigned char shared[];
  const SharedAddress ring_a = ptx::shared_address(shared), ring_b = ring_a + C::tile_a;
  const int2 tile = tile_of_cta(blockIdx.x, tiles_m, tiles_n, C::tricks.group);
  const int row0 = tile.x * C::block_m, col0 = tile.y * C::block_n;

  // Global -> shared. A thread's copies go to the same chunk of every row of its, and from pointers that move
  // on by a k-tile at a time. Past the edges of A and B they are zeros, also past the end of k: the loop
  // below does not stop to ask whether there is a next tile.
  const int copy_row = threadIdx.x / span, copy_chunk = threadIdx.x % span;
  const SharedAddress to_a = ring_a + chunk_offset<C>(C::row_a, copy_row, copy_chunk);
  const SharedAddress to_b = ring_b + chunk_offset<C>(C::row_b, copy_row, copy_chunk);
  const __nv_bfloat16 *from_a[C::passes_a], *from_b[C::passes_b];
#pragma unroll
  for (int v = 0; v < C::passes_a; ++v)
    from_a[v] = p.a + std::size_t(row0 + copy_row + v * C::pass_rows) * p.k + copy_chunk * vector;
#pragma unroll
  for (int v = 0; v < C::passes_b; ++v)
    from_b[v] = p.b + std::size_t(copy_row + v * C::pass_rows) * p.n + col0 + copy_chunk * vector;
  const int rows_left = p.m - row0 - copy_row, cols_left = p.n - col0 - copy_chunk * vector;
  int fill = 0, k_left = p.k;  // the stage that is filled next, and what is left of k from there on
  auto copy = [&](int first, int last) {
#pragma unroll
    for (int c = first; c < last; ++c) {
      if (c < C::passes_a) {
        const bool inside = c * C::pass_rows < rows_left && copy_chunk * vector < k_left;
        ptx::cp_async_16(to_a + fill * C::stage_bytes + c * C::pass_rows * C::row_a, from_a[c],
                         inside ? 16 : 0);
      } else {
        const int v = (c - C::passes_a) / C::across_b, x = (c - C::passes_a) % C::across_b;
        const bool inside = copy_row + v * C::pass_rows < k_left && x * 64 < cols_left;
        ptx::cp_async_16(to_b + fill * C::stage_bytes + v * C::pass_rows * C::row_b + x * 128,
                         from_b[v] + x * 64, inside ? 16 : 0);
      }
    }
  };
  auto next_copy = [&] {
    fill = fill + 1 == C::stages ? 0 : fill + 1;
    k_left -= C::block_k;
#pragma unroll
    for (int v = 0; v < C::passes_a; ++v) from_a[v] += C::block_k;
#pragma unroll
    for (int v = 0; v < C::passes_b; ++v) from_b[v] += std::size_t(C::block_k) * p.n;
  };
  // Every k-tile's copies are a group, also past the end of k: the newest stages - 2 groups are those that
  // may still be on their way.
  auto wait_for_tile = [&] {
    ptx::cp_async_wait_group<C::stages - 2>();
    __syncthreads();  // the tile is complete, and everyone has left the one before
  };

  // Shared -> registers. Lane l gives the row address of ldmatrix's matrix l / 8: for A (m16 x k16) rows l %
  // 16 of chunk l / 16; for B (k16 x n16, transposed) k = l % 16 and chunk l / 16. The matrices come out in
  // the order in which mma takes a[0..3], and b[0..1] of two mmas.
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  const int warp_row = warp / C::warps_n * C::warp_m, warp_col = warp % C::warps_n * C::warp_n;
  SharedAddress lane_a[C::steps], lane_b[C::mmas_n / 2];
#pragma unroll
  for (int step = 0; step < C::steps; ++step) {
    lane_a[step] = ring_a + chunk_offset<C>(C::row_a, warp_row + lane % 16, step * 2 + lane / 16);
    if constexpr (C::tricks.hoisted_offsets) keep(lane_a[step]);
  }
#pragma unroll
  for (int j = 0; j < C::mmas_n / 2; ++j) {
    lane_b[j] = ring_b + chunk_offset<C>(C::row_b, lane % 16, warp_col / vector + j * 2 + lane / 16);
    if constexpr (C::tricks.hoisted_offsets) keep(lane_b[j]);
  }
  constexpr int buffers = C::tricks.double_buffer ? 2 : 1;
  unsigned a[buffers][C::mmas_m][4], b[buffers][C::mmas_n / 2][4];
  auto load = [&](int buffer, int stage, int step, int i) {
    ptx::ldmatrix_x4(a[buffer][i], lane_a[step] + stage * C::stage_bytes + i * mma_m * C::row_a);
    ptx::ldmatrix_x4_trans(b[buffer][i], lane_b[i] + stage * C::stage_bytes + step * mma_k * C::row_b);
  };

  // Registers -> tensor cores: row i of the warp's mmas.
  float sum[C::mmas_m][C::mmas_n][4] = {};
  auto multiply = [&](int buffer, int i) {
#pragma unroll
    for (int x = 0; x < C::mmas_n; ++x) {
      const int j = C::tricks.serpentine && i % 2 == 1 ? C::mmas_n - 1 - x : x;
      const unsigned(&both)[4] = b[buffer][j / 2];
      const unsigned one[2] = {both[j % 2 * 2], both[j % 2 * 2 + 1]};
      ptx::mma_m16n8k16(sum[i][j], a[buffer][i], one);
    }
  };

  const int tiles_k = ceil_div(p.k, C::block_k);
  for (int s = 0; s < C::stages - 1; ++s) {
    copy(0, C::copies);
    ptx::cp_async_commit_group();
    next_copy();
  }
  wait_for_tile();
  int stage = 0;
  if constexpr (C::tricks.double_buffer) {
#pragma unroll
    for (int i = 0; i < C::mmas_m; ++i) load(0, stage, 0, i);
  }
  for (int k = 0; k < tiles_k; ++k) {
#pragma unroll
    for (int step = 0; step < C::steps; ++step) {
      constexpr int share = C::copies / (C::steps - 1);
      const bool last = step == C::steps - 1;
      auto refill = [&] {  // the stage that everyone left at the last barrier
        if (!last) copy(step * share, step * share + share);
        if (step == C::steps - 2) ptx::cp_async_commit_group();
      };
      auto turn = [&] {
        wait_for_tile();
        stage = stage + 1 == C::stages ? 0 : stage + 1;
        next_copy();
      };
      if constexpr (C::tricks.double_buffer) {
        // All fragments of this tile are in registers or in flight to this warp's own: after the barrier,
        // which they wait behind, its stage is free.
        if (last) turn();
#pragma unroll
        for (int i = 0; i < C::mmas_m; ++i) {
          load((step + 1) % 2, stage, (step + 1) % C::steps, i);
          if (i == 1) refill();
          multiply(step % 2, i);
        }
      } else {
#pragma unroll
        for (int i = 0; i < C::mmas_m; ++i) load(0, stage, step, i);
        refill();
#pragma unroll
        for (int i = 0; i < C::mmas_m; ++i) multiply(0, i);
        if (last) turn();
      }
    }
  }

  // C's tile, in bf16, through shared memory: a fragment's row has 16 bytes, a warp's 128. Each warp has its
  // own 64 rows of 128 bytes there, swizzled like the tiles.
  ptx::cp_async_wait_group<0>();
  __syncthreads();  // everyone has left the ring
  static_assert(C::warp_n * 2 == 128, "a row of the warp's tile of C meets all 32 banks");
  unsigned char* mine = shared + warp * C::warp_m * 128;
#pragma unroll
  for (int i = 0; i < C::mmas_m; ++i)
#pragma unroll
    for (int j = 0; j < C::mmas_n; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = i * mma_m + half * 8 + lane / 4;
        *reinterpret_cast<__nv_bfloat162*>(mine + row * 128 + (j ^ row % span) * chunk_bytes + lane % 4 * 4) =
            __floats2bfloat162_rn(sum[i][j][half * 2], sum[i][j][half * 2 + 1]);
      }
  __syncwarp();
  const int chunk = lane % span, col = col0 + warp_col + chunk * vector;
#pragma unroll
  for (int first = 0; first < C::warp_m; first += warp_size / span) {
    const int row = first + lane / span;
    const uint4 bits = *reinterpret_cast<const uint4*>(mine + row * 128 + (chunk ^ row % span) * chunk_bytes);
    if (row0 + warp_row + row < p.m && col < p.n)
      *reinterpret_cast<uint4*>(p.c + std::size_t(row0 + warp_row + row) * p.n + col) = bits;
  }
}

template <class C>
cudaError_t launch_config(const Gemm& p, cudaStream_t stream) {
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

// Three stages where they fit, else two.
template <Tricks tricks>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  if (Config<tricks, 3>::shared_bytes <= most_shared_bytes())
    return launch_config<Config<tricks, 3>>(p, stream);
  return launch_config<Config<tricks, 2>>(p, stream);
}

}  // namespace

std::string rows_of_vectors(const Gemm& p) {
  if (p.n % vector == 0 && p.k % vector == 0) return {};
  return "n and k must be multiples of 8: rows are copied 16 bytes at a time";
}
std::string rows_of_vectors_padded(const Gemm& p) {
  constexpr int needed = Config<Tricks{.rows = Rows::padded}, 2>::shared_bytes;
  if (needed <= most_shared_bytes()) return rows_of_vectors(p);
  return "two stages with padded rows take " + std::to_string(needed) +
         " bytes of shared memory; this GPU has " + std::to_string(most_shared_bytes()) + " for a CTA";
}

cudaError_t gemm_unswizzled(const Gemm& p, cudaStream_t stream) {
  return launch<Tricks{.rows = Rows::plain}>(p, stream);
}
cudaError_t gemm_padded(const Gemm& p, cudaStream_t stream) {
  return launch<Tricks{.rows = Rows::padded}>(p, stream);
}
cudaError_t gemm_single_buffer(const Gemm& p, cudaStream_t stream) {
  return launch<Tricks{.double_buffer = false}>(p, stream);
}
cudaError_t gemm_straight(const Gemm& p, cudaStream_t stream) {
  return launch<Tricks{.serpentine = false}>(p, stream);
}
cudaError_t gemm_compiler_offsets(const Gemm& p, cudaStream_t stream) {
  return launch<Tricks{.hoisted_offsets = false}>(p, stream);
}
cudaError_t gemm_row_by_row(const Gemm& p, cudaStream_t stream) {
  return launch<Tricks{.group = 1}>(p, stream);
}
cudaError_t gemm_swizzle_ldmatrix(const Gemm& p, cudaStream_t stream) {
  return launch<Tricks{}>(p, stream);
}

}  // namespace ladder::rung_06
