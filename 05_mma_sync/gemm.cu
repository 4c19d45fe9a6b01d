// Tensor cores. A warp multiplies fragments, 16 x 16 of A by 16 x 8 of B, which its 32 lanes hold in
// registers as mma.sync wants them: two neighbours along k in each. The tiles arrive through the ring of
// 04_cp_async, and ordinary loads fetch the fragments from them. In A two neighbours along k are one 32-bit
// word. In B, row-major too, they lie a row apart: two loads and a PRMT make one register.
#include <type_traits>

#include "05_mma_sync/variants.h"
#include "common/ptx/cp_async.cuh"
#include "common/ptx/mma.cuh"
#include "common/ptx/timeline.cuh"

namespace ladder::rung_05 {
namespace {

constexpr int vector = 8;                         // bf16 elements in 16 bytes, the size of a copy
constexpr int mma_m = 16, mma_n = 8, mma_k = 16;  // what one mma.sync multiplies

// Registers for `elements` neighbours of a row, 2 to 16 bytes that one instruction moves.
template <int elements>
using Neighbours = std::conditional_t<
    elements == 1, unsigned short,
    std::conditional_t<elements == 2, unsigned, std::conditional_t<elements == 4, uint2, uint4>>>;

// Warps of 64 x 64 elements of C. b_columns: how many neighbours of a row of B a lane reads at once.
template <int warps_m_, int warps_n_, int stages_, int b_columns_, int padding>
struct Config {
  static constexpr int stages = stages_;  // k-tiles in shared memory: one in use, the others on their way
  static constexpr int b_columns = b_columns_;
  static constexpr int warps_m = warps_m_, warps_n = warps_n_, threads = 32 * warps_m * warps_n;
  static constexpr int warp_m = 64, warp_n = 64;  // 128 fp32 of C in each lane
  static constexpr int block_m = warps_m * warp_m, block_n = warps_n * warp_n, block_k = 32;
  static constexpr int copies_a = block_m * block_k / vector / threads;  // per thread and k-tile
  static constexpr int copies_b = block_k * block_n / vector / threads;
  static constexpr int ctas_per_sm = threads <= 128 ? 2 : 1;  // 8 warps per SM, and 255 registers per thread

  // Rows of padding·2 bytes more than the tile. With 16, what a warp reads at once lies in 32 different
  // banks: of A 8 rows, starting 20 banks apart, 4 words of each; of B every other of 8 rows, starting 8
  // banks apart, up to 8 words of each. Without, all rows of B start in the same bank, and every other row of
  // A.
  struct Stage {
    __nv_bfloat16 a[block_m][block_k + padding];
    __nv_bfloat16 b[block_k][block_n + padding];
  };
  static constexpr int shared_bytes = stages * int(sizeof(Stage));

  static_assert(stages >= 2, "one k-tile in use, at least one on its way");
  static_assert(block_m * block_k == copies_a * vector * threads, "every thread copies as much of A");
  static_assert(block_k * block_n == copies_b * vector * threads, "every thread copies as much of B");
  static_assert(block_k == 4 * vector, "a row of A is 4 copies");
  static_assert(padding % vector == 0, "rows start on 16-byte boundaries");
  static_assert(block_k % mma_k == 0 && warp_n % (mma_n * b_columns) == 0, "whole mmas, b_columns at a time");
  static_assert(shared_bytes <= 99 * 1024, "as much as every GPU from sm_80 on gives a CTA");
};

__device__ unsigned pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const unsigned&>(pair);
}

// Element i of two rows of neighbours, in one register.
template <class Row>
__device__ unsigned pair_of(const Row& even, const Row& odd, int i) {
  if constexpr (sizeof(Row) == 2) {
    return __byte_perm(even, odd, 0x5410);
  } else {
    const unsigned low = reinterpret_cast<const unsigned*>(&even)[i / 2],
                   high = reinterpret_cast<const unsigned*>(&odd)[i / 2];
    return __byte_perm(low, high, i % 2 == 0 ? 0x5410 : 0x7632);
  }
}

// n and k are multiples of 8, so a vector lies inside the matrices or outside as a whole, on a 16-byte
// boundary.
template <class C, class Parameters>
__global__ void __launch_bounds__(C::threads, C::ctas_per_sm) gemm_kernel(Parameters p, int tiles_n) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto* ring = reinterpret_cast<typename C::Stage*>(shared);

  const int row0 = blockIdx.x / tiles_n * C::block_m;
  const int col0 = blockIdx.x % tiles_n * C::block_n;

  // Global -> shared, as on rung 04: past the edges, zeros; a group even where there is no tile any more.
  auto copy = [&](int k0, int stage) {
    if (k0 < p.k) {
#pragma unroll
      for (int v = 0; v < C::copies_a; ++v) {
        const int i = threadIdx.x + v * C::threads, row = i / 4, k = i % 4 * vector;
        const bool inside = row0 + row < p.m && k0 + k < p.k;
        ptx::cp_async_16(ptx::shared_address(&ring[stage].a[row][k]),
                         p.a + std::size_t(row0 + row) * p.k + k0 + k, inside ? 16 : 0);
      }
#pragma unroll
      for (int v = 0; v < C::copies_b; ++v) {
        const int i = threadIdx.x + v * C::threads, k = i / (C::block_n / vector),
                  col = i % (C::block_n / vector) * vector;
        const bool inside = k0 + k < p.k && col0 + col < p.n;
        ptx::cp_async_16(ptx::shared_address(&ring[stage].b[k][col]),
                         p.b + std::size_t(k0 + k) * p.n + col0 + col, inside ? 16 : 0);
      }
    }
    ptx::cp_async_commit_group();
  };

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / C::warps_n * C::warp_m, warp_col = warp % C::warps_n * C::warp_n;
  const int g = lane / 4, t = lane % 4;  // common/ptx/mma.cuh says what of a fragment lane 4g + t holds

  // Shared -> registers -> tensor cores. What an mma calls column g may be any column of B, so long as its
  // result is stored to the same column of C. So a lane reads b_columns neighbours in one instruction, and
  // gives one to each of b_columns mmas: mma number j + c multiplies the columns warp_col + j·8 + g·b_columns
  // + c.
  constexpr int tiles_of_m = C::warp_m / mma_m, tiles_of_n = C::warp_n / mma_n;
  float sum[tiles_of_m][tiles_of_n][4] = {};
  auto multiply = [&](int stage) {
    const typename C::Stage& tile = ring[stage];
#pragma unroll
    for (int k0 = 0; k0 < C::block_k; k0 += mma_k) {
      unsigned a[tiles_of_m][4];
#pragma unroll
      for (int i = 0; i < tiles_of_m; ++i)
#pragma unroll
        for (int r = 0; r < 4; ++r)
          a[i][r] = *reinterpret_cast<const unsigned*>(
              &tile.a[warp_row + i * mma_m + g + r % 2 * 8][k0 + 2 * t + r / 2 * 8]);

#pragma unroll
      for (int j = 0; j < tiles_of_n; j += C::b_columns) {
        const int col = warp_col + j * mma_n + g * C::b_columns;
        unsigned b[C::b_columns][2];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          using Row = Neighbours<C::b_columns>;
          const int k = k0 + 2 * t + r * 8;
          const Row even = *reinterpret_cast<const Row*>(&tile.b[k][col]);
          const Row odd = *reinterpret_cast<const Row*>(&tile.b[k + 1][col]);
#pragma unroll
          for (int c = 0; c < C::b_columns; ++c) b[c][r] = pair_of(even, odd, c);
        }
#pragma unroll
        for (int c = 0; c < C::b_columns; ++c)
#pragma unroll
          for (int i = 0; i < tiles_of_m; ++i) ptx::mma_m16n8k16(sum[i][j + c], a[i], b[c]);
      }
    }
  };

  ptx::Track<Parameters> track(p, Role::all, warp == 0);
  for (int stage = 0; stage < C::stages - 1; ++stage) copy(stage * C::block_k, stage);
  track.mark(Doing::load);
  int stage = 0, free_stage = C::stages - 1;
  for (int k0 = 0; k0 < p.k; k0 += C::block_k) {
    ptx::cp_async_wait_group<C::stages - 2>();  // this thread's part of the tiles at k0 has landed
    __syncthreads();                            // everyone's has; and everyone has left the tiles before
    track.mark(Doing::wait_for_data, k0 / C::block_k);
    copy(k0 + (C::stages - 1) * C::block_k, free_stage);
    track.mark(Doing::load, k0 / C::block_k + C::stages - 1);
    multiply(stage);
    track.mark(Doing::multiply, k0 / C::block_k);
    free_stage = stage;
    stage = stage + 1 == C::stages ? 0 : stage + 1;
  }

  // A lane holds columns 2t and 2t+1 of each mma: 2·b_columns neighbours of C, from 2t·b_columns on.
  constexpr int neighbours = 2 * C::b_columns, stored = neighbours < vector ? neighbours : vector;
#pragma unroll
  for (int i = 0; i < tiles_of_m; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + warp_row + i * mma_m + half * 8 + g;
      if (row >= p.m) continue;
#pragma unroll
      for (int j = 0; j < tiles_of_n; j += C::b_columns)
#pragma unroll
        for (int first = 0; first < neighbours; first += stored) {
          const int col = col0 + warp_col + j * mma_n + t * neighbours + first;
          auto value = [&](int e) {
            return sum[i][j + (first + e) % C::b_columns][half * 2 + (first + e) / C::b_columns];
          };
          Neighbours<stored> bits;
#pragma unroll
          for (int e = 0; e < stored; e += 2)
            reinterpret_cast<unsigned*>(&bits)[e / 2] = pack(value(e), value(e + 1));
          if (col < p.n) *reinterpret_cast<Neighbours<stored>*>(p.c + std::size_t(row) * p.n + col) = bits;
        }
    }
  track.mark(Doing::store);
  track.end();
}

template <class C, class Parameters>
cudaError_t launch(const Parameters& p, cudaStream_t stream) {
  // More than the 48 KiB that a launch gets unasked.
  const cudaError_t error = cudaFuncSetAttribute(
      gemm_kernel<C, Parameters>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error != cudaSuccess) return error;
  const int tiles_m = ceil_div(p.m, C::block_m), tiles_n = ceil_div(p.n, C::block_n);
  gemm_kernel<C, Parameters>
      <<<unsigned(tiles_m) * unsigned(tiles_n), C::threads, C::shared_bytes, stream>>>(p, tiles_n);
  return cudaGetLastError();
}

}  // namespace

cudaError_t gemm_halfwords(const Gemm& p, cudaStream_t stream) {
  return launch<Config<2, 2, 4, 1, 8>>(p, stream);
}
cudaError_t gemm_words(const Gemm& p, cudaStream_t stream) {
  return launch<Config<2, 2, 4, 2, 8>>(p, stream);
}
cudaError_t gemm_unpadded(const Gemm& p, cudaStream_t stream) {
  return launch<Config<2, 2, 4, 8, 0>>(p, stream);
}
cudaError_t gemm_128x256(const Gemm& p, cudaStream_t stream) {
  return launch<Config<2, 4, 3, 8, 8>>(p, stream);
}
cudaError_t gemm_mma_sync(const Gemm& p, cudaStream_t stream) {
  return launch<Config<2, 2, 4, 8, 8>>(p, stream);
}
cudaError_t gemm_mma_sync_traced(const Gemm& p, const Timeline& timeline, cudaStream_t stream) {
  return launch<Config<2, 2, 4, 8, 8>>(Traced<Gemm>{p, timeline}, stream);
}

}  // namespace ladder::rung_05
