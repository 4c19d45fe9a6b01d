// Tensor cores. A warp multiplies fragments, 16 x 16 of A by 16 x 8 of B, that its 32 lanes hold in registers
// in the layout of mma.sync: two neighbours along k in each. The tiles arrive through the multistage buffer
// of 04_cp_async, in bf16 as they are, and ordinary loads fetch the fragments from them. In A two neighbours
// along k are one 32-bit word. In B, row-major too, they lie a row apart: two loads and a PRMT make one
// register.
#include "common/ptx/cp_async.cuh"
#include "common/ptx/mma.cuh"
#include "common/ptx/timeline.cuh"
#include "common/rung.h"

namespace ladder::rung_05 {
namespace {

constexpr int vector = 8;                         // bf16 elements in 16 bytes, the size of a copy
constexpr int mma_m = 16, mma_n = 8, mma_k = 16;  // what one mma.sync multiplies

template <int warps_n_, int stages_, int padding>
struct Config {
  static constexpr int stages = stages_;  // k-tiles in shared memory: one in use, the others in flight
  static constexpr int warps_m = 2, warps_n = warps_n_, threads = 32 * warps_m * warps_n;
  static constexpr int warp_m = 64, warp_n = 64;  // 128 accumulators, in fp32, in each lane
  static constexpr int block_m = warps_m * warp_m, block_n = warps_n * warp_n, block_k = 32;
  static constexpr int copies_a = block_m * block_k / vector / threads;  // per thread and k-tile
  static constexpr int copies_b = block_k * block_n / vector / threads;
  static constexpr int ctas_per_sm = threads <= 128 ? 2 : 1;  // 8 warps per SM, and 255 registers per thread

  // `padding` elements after each row. With 8, what a warp reads at once lies in 32 different banks: of A 8
  // rows, starting 20 banks apart, 4 words of each; of B every other of 8 rows, starting 8 banks apart, 8
  // words of each. Without, all rows of B start in the same bank, and every other row of A.
  struct Stage {
    __nv_bfloat16 a[block_m][block_k + padding];
    __nv_bfloat16 b[block_k][block_n + padding];
  };
  static constexpr int shared_bytes = stages * int(sizeof(Stage));

  static_assert(stages >= 2, "one k-tile in use, at least one in flight");
  static_assert(block_m * block_k == copies_a * vector * threads, "every thread copies as much of A");
  static_assert(block_k * block_n == copies_b * vector * threads, "every thread copies as much of B");
  static_assert(block_k == 4 * vector, "a row of A is 4 copies");
  static_assert(padding % vector == 0, "rows start on 16-byte boundaries");
  static_assert(warp_n == mma_n * vector, "8 neighbours of a row of B in each group of lanes, 8 mmas");
  static_assert(shared_bytes <= 99 * 1024, "as much as every GPU from sm_80 on gives a CTA");
};

// Element i of 8 from two rows, in one register.
__device__ unsigned pair_of(const uint4& even, const uint4& odd, int i) {
  const unsigned low = reinterpret_cast<const unsigned*>(&even)[i / 2],
                 high = reinterpret_cast<const unsigned*>(&odd)[i / 2];
  return __byte_perm(low, high, i % 2 == 0 ? 0x5410 : 0x7632);
}

__device__ unsigned pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const unsigned&>(pair);
}

// Global -> shared: this thread's share of the k-tile at k0. n and k are multiples of 8, so a vector lies
// inside the matrices or outside as a whole; outside, zeros are written. A group is committed even past the
// last k-tile, since wait_group counts groups.
template <class C>
__device__ void issue(const Gemm& p, int row0, int col0, int k0, typename C::Stage& tile) {
  if (k0 < p.k) {
#pragma unroll
    for (int v = 0; v < C::copies_a; ++v) {
      const int i = threadIdx.x + v * C::threads, row = i / 4, k = i % 4 * vector;
      const bool inside = row0 + row < p.m && k0 + k < p.k;
      ptx::cp_async_16(ptx::shared_address(&tile.a[row][k]), p.a + std::size_t(row0 + row) * p.k + k0 + k,
                       inside ? 16 : 0);
    }
#pragma unroll
    for (int v = 0; v < C::copies_b; ++v) {
      const int i = threadIdx.x + v * C::threads, k = i / (C::block_n / vector),
                col = i % (C::block_n / vector) * vector;
      const bool inside = k0 + k < p.k && col0 + col < p.n;
      ptx::cp_async_16(ptx::shared_address(&tile.b[k][col]), p.b + std::size_t(k0 + k) * p.n + col0 + col,
                       inside ? 16 : 0);
    }
  }
  ptx::cp_async_commit_group();
}

template <class C, class Parameters>
__global__ void __launch_bounds__(C::threads, C::ctas_per_sm) gemm_kernel(Parameters p, int tiles_n) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto* tiles = reinterpret_cast<typename C::Stage*>(shared);

  const int row0 = blockIdx.x / tiles_n * C::block_m, col0 = blockIdx.x % tiles_n * C::block_n;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / C::warps_n * C::warp_m, warp_col = warp % C::warps_n * C::warp_n;
  const int g = lane / 4, t = lane % 4;  // common/ptx/mma.cuh says what of a fragment lane 4g + t holds

  // Shared -> registers -> tensor cores. What an mma calls column g may be any column of B, so long as its
  // result is stored to the same column of C. So a lane reads 8 neighbours in one instruction, and each of
  // them goes to another mma: mma c multiplies the columns warp_col + g·8 + c.
  constexpr int mmas_m = C::warp_m / mma_m, mmas_n = C::warp_n / mma_n;
  float accumulator[mmas_m][mmas_n][4] = {};
  auto multiply = [&](int stage) {
    const typename C::Stage& tile = tiles[stage];
#pragma unroll
    for (int k0 = 0; k0 < C::block_k; k0 += mma_k) {
      unsigned a[mmas_m][4], b[mmas_n][2];
#pragma unroll
      for (int i = 0; i < mmas_m; ++i)
#pragma unroll
        for (int r = 0; r < 4; ++r)
          a[i][r] = *reinterpret_cast<const unsigned*>(
              &tile.a[warp_row + i * mma_m + g + r % 2 * 8][k0 + 2 * t + r / 2 * 8]);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int k = k0 + 2 * t + r * 8, col = warp_col + g * vector;
        const uint4 even = *reinterpret_cast<const uint4*>(&tile.b[k][col]);
        const uint4 odd = *reinterpret_cast<const uint4*>(&tile.b[k + 1][col]);
#pragma unroll
        for (int c = 0; c < mmas_n; ++c) b[c][r] = pair_of(even, odd, c);
      }
#pragma unroll
      for (int c = 0; c < mmas_n; ++c)
#pragma unroll
        for (int i = 0; i < mmas_m; ++i) ptx::mma_m16n8k16(accumulator[i][c], a[i], b[c]);
    }
  };

  ptx::Track<Parameters> track(p, Role::all, warp == 0);
  for (int stage = 0; stage < C::stages - 1; ++stage)
    issue<C>(p, row0, col0, stage * C::block_k, tiles[stage]);
  track.mark(Doing::load);
  int stage = 0, free_stage = C::stages - 1;
  for (int k0 = 0; k0 < p.k; k0 += C::block_k) {
    ptx::cp_async_wait_group<C::stages - 2>();  // this thread's share of the k-tile at k0 has landed
    __syncthreads();  // every thread's share has landed, and all have finished reading free_stage
    track.mark(Doing::wait_for_data, k0 / C::block_k);
    issue<C>(p, row0, col0, k0 + (C::stages - 1) * C::block_k, tiles[free_stage]);
    track.mark(Doing::load, k0 / C::block_k + C::stages - 1);
    multiply(stage);
    track.mark(Doing::multiply, k0 / C::block_k);
    free_stage = stage;
    stage = stage + 1 == C::stages ? 0 : stage + 1;
  }

  // A lane holds columns 2t and 2t+1 of each mma. For mma c these are columns 2t·8 + c and (2t + 1)·8 + c of
  // the warp's tile: of the 8 mmas together, twice 8 neighbours of C.
#pragma unroll
  for (int i = 0; i < mmas_m; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + warp_row + i * mma_m + half * 8 + g;
      if (row >= p.m) continue;
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        const int col = col0 + warp_col + 2 * t * vector + odd * vector;
        auto value = [&](int c) { return accumulator[i][c][half * 2 + odd]; };
        const uint4 bits = make_uint4(pack(value(0), value(1)), pack(value(2), value(3)),
                                      pack(value(4), value(5)), pack(value(6), value(7)));
        if (col < p.n) *reinterpret_cast<uint4*>(p.c + std::size_t(row) * p.n + col) = bits;
      }
    }
  track.mark(Doing::store);
  track.end();
}

template <class C, class Parameters>
cudaError_t launch(const Parameters& p, cudaStream_t stream) {
  auto* kernel = gemm_kernel<C, Parameters>;
  const cudaError_t error =  // more than 48 KiB of shared memory is opt-in
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error != cudaSuccess) return error;
  const int tiles_m = ceil_div(p.m, C::block_m), tiles_n = ceil_div(p.n, C::block_n);
  kernel<<<unsigned(tiles_m) * unsigned(tiles_n), C::threads, C::shared_bytes, stream>>>(p, tiles_n);
  return cudaGetLastError();
}

cudaError_t launch_traced(const Gemm& p, const Timeline& to, cudaStream_t stream) {
  return launch<Config<2, 4, 8>>(Traced<Gemm>{p, to}, stream);
}

Text whole_vectors(const Gemm& p) {
  if (p.n % vector == 0 && p.k % vector == 0) return {};
  return "n and k must be multiples of 8 (--variant any_n_k takes others)";
}

}  // namespace

Variants<Gemm> gemm() {
  return {{.name = "unpadded",
           .what = "no padding between the rows in shared memory",
           .unsupported = whole_vectors,
           .launch = launch<Config<2, 4, 0>>},
          {.name = "128x256",
           .what = "128x256 tiles, one CTA per SM",
           .unsupported = whole_vectors,
           .launch = launch<Config<4, 3, 8>>},
          {.name = "mma_sync",
           .what = "B read 16 bytes at a time",
           .unsupported = whole_vectors,
           .launch = launch<Config<2, 4, 8>>,
           .traced = launch_traced}};
}

}  // namespace ladder::rung_05
