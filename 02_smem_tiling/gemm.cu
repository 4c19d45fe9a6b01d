// A CTA loads a tile of A and a tile of B into shared memory once and every thread reads them from there:
// global traffic falls by the tile's width. Then shared memory is the limit, and the same idea is applied
// once more: a thread computes a small tile of C in registers, so that each value read from shared memory is
// used several times.
#include "common/rung.h"

namespace ladder::rung_02 {
namespace {

// A CTA's tile of C is block_m x block_n and it loops over k-tiles of block_k; a thread's is thread_m x
// thread_n.
template <int block_m_, int block_n_, int block_k_, int thread_m_, int thread_n_>
struct Config {
  static constexpr int block_m = block_m_, block_n = block_n_, block_k = block_k_;
  static constexpr int thread_m = thread_m_, thread_n = thread_n_;
  static constexpr int threads_m = block_m / thread_m;  // thread rows of the CTA
  static constexpr int threads_n = block_n / thread_n;
  static constexpr int threads = threads_m * threads_n;
  static_assert(block_m % thread_m == 0 && block_n % thread_n == 0, "thread tiles fill the CTA's tile");
  static_assert(threads <= 1024, "more threads than a CTA may have");
  static_assert(block_m * block_k % threads == 0 && block_k * block_n % threads == 0,
                "every thread loads equally much");
  static_assert((block_m + block_n) * block_k * 2 <= 48 * 1024, "static shared memory ends at 48 KiB");
};

template <class C>
__global__ void __launch_bounds__(C::threads) gemm_kernel(Gemm p, int tiles_n) {
  __shared__ __nv_bfloat16 tile_a[C::block_m][C::block_k];
  __shared__ __nv_bfloat16 tile_b[C::block_k][C::block_n];

  const int row0 = blockIdx.x / tiles_n * C::block_m;  // of the CTA's tile
  const int col0 = blockIdx.x % tiles_n * C::block_n;
  const int thread_row = threadIdx.x / C::threads_n;
  const int thread_col = threadIdx.x % C::threads_n;

  float accumulator[C::thread_m][C::thread_n] = {};
  for (int k0 = 0; k0 < p.k; k0 += C::block_k) {
    // Global to shared: neighbouring threads take neighbouring elements. Outside A and B the tiles are 0,
    // which adds nothing, so the loop below needs no bounds.
    for (int i = threadIdx.x; i < C::block_m * C::block_k; i += C::threads) {
      const int row = i / C::block_k, k = i % C::block_k;
      const bool inside = row0 + row < p.m && k0 + k < p.k;
      tile_a[row][k] = inside ? p.a[std::size_t(row0 + row) * p.k + k0 + k] : __nv_bfloat16(0.0f);
    }
    for (int i = threadIdx.x; i < C::block_k * C::block_n; i += C::threads) {
      const int k = i / C::block_n, col = i % C::block_n;
      const bool inside = k0 + k < p.k && col0 + col < p.n;
      tile_b[k][col] = inside ? p.b[std::size_t(k0 + k) * p.n + col0 + col] : __nv_bfloat16(0.0f);
    }
    __syncthreads();  // the tiles are complete

    // Shared to registers: thread_m + thread_n reads for thread_m · thread_n multiply-adds. A thread's rows
    // and columns lie threads_m and threads_n apart, so that neighbouring lanes read neighbouring columns: no
    // bank conflicts.
    for (int k = 0; k < C::block_k; ++k) {
      float a[C::thread_m], b[C::thread_n];
      for (int i = 0; i < C::thread_m; ++i) a[i] = __bfloat162float(tile_a[thread_row + i * C::threads_m][k]);
      for (int j = 0; j < C::thread_n; ++j) b[j] = __bfloat162float(tile_b[k][thread_col + j * C::threads_n]);
      for (int i = 0; i < C::thread_m; ++i)
        for (int j = 0; j < C::thread_n; ++j) accumulator[i][j] += a[i] * b[j];
    }
    __syncthreads();  // every thread has read the tiles: the next ones may overwrite them
  }

  for (int i = 0; i < C::thread_m; ++i)
    for (int j = 0; j < C::thread_n; ++j) {
      const int row = row0 + thread_row + i * C::threads_m, col = col0 + thread_col + j * C::threads_n;
      if (row < p.m && col < p.n) p.c[std::size_t(row) * p.n + col] = __float2bfloat16_rn(accumulator[i][j]);
    }
}

template <class C>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  const int tiles_m = ceil_div(p.m, C::block_m), tiles_n = ceil_div(p.n, C::block_n);
  gemm_kernel<C><<<unsigned(tiles_m) * unsigned(tiles_n), C::threads, 0, stream>>>(p, tiles_n);
  return cudaGetLastError();
}

}  // namespace

Variants<Gemm> gemm() {
  return {{.name = "one_output",
           .what = "32x32 tile in shared memory, one output per thread",
           .launch = launch<Config<32, 32, 32, 1, 1>>},
          {.name = "column",
           .what = "128x32 tile, an 8x1 column of outputs per thread",
           .launch = launch<Config<128, 32, 32, 8, 1>>},
          {.name = "register_tile",
           .what = "128x128 tile, an 8x8 register tile per thread",
           .launch = launch<Config<128, 128, 16, 8, 8>>}};
}

}  // namespace ladder::rung_02
