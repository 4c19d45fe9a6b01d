// Asynchronous copies and a multistage pipeline. In 03_vectorized a thread loads its share of the next k-tile
// into registers, where it stays until the FMAs are done. Here cp.async copies it from global to shared
// memory through no register, several k-tiles ahead, into the stages of a ring buffer. A copy cannot convert
// what it copies, and tiles of bf16, converted after each read, cost an instruction for every five FMAs
// (ablations/bf16_tiles.cu). So a thread converts what it copied itself, once, from the ring buffer into the
// fp32 tiles of 03_vectorized.
#include "04_cp_async/outer_product.cuh"
#include "common/ptx/cp_async.cuh"
#include "common/ptx/timeline.cuh"
#include "common/rung.h"

namespace ladder::rung_04 {
namespace {

// The multistage mainloop: wait for the oldest k-tile, barrier, issue the copies of a later k-tile into the
// stage that has become free, multiply. convert() is this rung's own. In rungs 05 and 06, as in bf16_tiles,
// the stages are the tiles, and the stage that is free after the barrier is the previous k-tile's.
template <class C, class Track, class Issue, class Convert, class Multiply>
__device__ void mainloop(int k, Track& track, Issue issue, Convert convert, Multiply multiply) {
  if constexpr (C::ahead) {
#pragma unroll
    for (int stage = 0; stage < C::stages; ++stage) issue(stage * C::block_k, stage);
    track.mark(Doing::load);
  }
  int stage = 0, buffer = 0;
  for (int k0 = 0; k0 < k; k0 += C::block_k) {
    if constexpr (!C::ahead) issue(k0, 0);
    // C::stages groups are pending, the oldest is this k-tile's: with stages - 1 left it has landed. The wait
    // covers this thread's copies alone, and convert() reads no others: no barrier is needed in between.
    ptx::cp_async_wait_group<C::stages - 1>();
    track.mark(Doing::wait_for_data, k0 / C::block_k);
    convert(stage, buffer);  // into the buffer that all threads finished reading before the last barrier
    __syncthreads();  // every share is converted, and all threads have finished reading the other buffer
    track.mark(Doing::convert, k0 / C::block_k);
    // In flight during the FMAs below. Only this thread reads its share of the stage, and it has: it is free.
    if constexpr (C::ahead) issue(k0 + C::stages * C::block_k, stage);
    track.mark(Doing::load, k0 / C::block_k + C::stages);
    multiply(buffer);
    track.mark(Doing::multiply, k0 / C::block_k);
    buffer ^= 1;
    stage = stage + 1 == C::stages ? 0 : stage + 1;
  }
}

template <int stages_, bool ahead_ = true, ptx::Cache cache_ = ptx::Cache::global>
struct Config {
  static constexpr int stages = stages_;  // k-tiles in the ring buffer
  static constexpr bool ahead = ahead_;   // false: a k-tile's copies are issued when it is needed
  static constexpr ptx::Cache cache = cache_;
  static constexpr int block_m = 128, block_n = 128, block_k = 16;
  static constexpr int thread_m = 8, thread_n = 16;  // elements of C per thread, in quads
  static constexpr int threads_m = block_m / thread_m, threads_n = block_n / thread_n;
  static constexpr int threads = threads_m * threads_n;
  static constexpr int step_m = threads_m * quad, step_n = threads_n * quad;  // from a quad to the next one
  static constexpr int copies_a = block_m * block_k / vector / threads;       // per thread and k-tile
  static constexpr int copies_b = block_k * block_n / vector / threads;
  static constexpr int copy_rows_a = block_m / copies_a;  // rows that one copy of every thread covers
  static constexpr int copy_rows_b = block_k / copies_b;
  static constexpr int ctas_per_sm = 2;  // 8 warps per SM, and 255 registers per thread
  static_assert(threads_n == 8, "a warp is 4 x 8 threads");
  static_assert(copies_a * vector * threads == block_m * block_k, "every thread copies as much of A");
  static_assert(copies_b * vector * threads == block_k * block_n, "every thread copies as much of B");
  static_assert(ahead || stages == 1, "without a lookahead one stage is enough");
};

template <class C>
struct Shared {
  float tile_a[2][C::block_k][C::block_m];  // transposed: [k][row]
  float tile_b[2][C::block_k][C::block_n];
  uint4 ring[C::stages][C::copies_a + C::copies_b][C::threads];  // [..][..][t]: thread t's share
};

// n and k are multiples of 8, so a vector lies inside the matrices or outside as a whole, on a 16-byte
// boundary.
template <class C, class Parameters>
__global__ void __launch_bounds__(C::threads, C::ctas_per_sm) gemm_kernel(Parameters p, int tiles_n) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  Shared<C>& shared = *reinterpret_cast<Shared<C>*>(shared_bytes);

  const int row0 = blockIdx.x / tiles_n * C::block_m;
  const int col0 = blockIdx.x % tiles_n * C::block_n;

  // This thread's first copy from each matrix; its others are whole rows further on.
  const int a_row = threadIdx.x / (C::block_k / vector), a_k = threadIdx.x % (C::block_k / vector) * vector;
  const int b_k = threadIdx.x / (C::block_n / vector), b_col = threadIdx.x % (C::block_n / vector) * vector;
  const __nv_bfloat16* next_a = p.a + std::size_t(row0 + a_row) * p.k + a_k;
  const __nv_bfloat16* next_b = p.b + std::size_t(b_k) * p.n + col0 + b_col;

  // Global -> ring buffer: this thread's share of the next k-tile, the one at k0. Past the edges nothing is
  // read: 0 of 16 bytes are present, and zeros are written. The group is committed even where there is no
  // k-tile any more: wait_group counts groups, and would wait for too few of them at the end.
  auto issue = [&](int k0, int stage) {
    if (k0 < p.k) {
#pragma unroll
      for (int v = 0; v < C::copies_a; ++v) {
        const bool inside = row0 + a_row + v * C::copy_rows_a < p.m && k0 + a_k < p.k;
        ptx::cp_async_16<C::cache>(ptx::shared_address(&shared.ring[stage][v][threadIdx.x]),
                                   next_a + std::size_t(v * C::copy_rows_a) * p.k, inside ? 16 : 0);
      }
#pragma unroll
      for (int v = 0; v < C::copies_b; ++v) {
        const bool inside = k0 + b_k + v * C::copy_rows_b < p.k && col0 + b_col < p.n;
        ptx::cp_async_16<C::cache>(ptx::shared_address(&shared.ring[stage][C::copies_a + v][threadIdx.x]),
                                   next_b + std::size_t(v * C::copy_rows_b) * p.n, inside ? 16 : 0);
      }
      next_a += C::block_k;
      next_b += std::size_t(C::block_k) * p.n;
    }
    ptx::cp_async_commit_group();
  };

  // Ring buffer -> fp32 tiles; A is transposed.
  auto convert_share = [&](int stage, int buffer) {
    uint4 bits[C::copies_a + C::copies_b];
#pragma unroll
    for (int v = 0; v < C::copies_a + C::copies_b; ++v) bits[v] = shared.ring[stage][v][threadIdx.x];
    float values[vector];
#pragma unroll
    for (int v = 0; v < C::copies_a; ++v) {
      convert(bits[v], values);
#pragma unroll
      for (int j = 0; j < vector; ++j) shared.tile_a[buffer][a_k + j][a_row + v * C::copy_rows_a] = values[j];
    }
#pragma unroll
    for (int v = 0; v < C::copies_b; ++v) {
      convert(bits[C::copies_a + v], values);
      float* to = &shared.tile_b[buffer][b_k][b_col] + v * C::copy_rows_b * C::block_n;
      *reinterpret_cast<float4*>(to) = make_float4(values[0], values[1], values[2], values[3]);
      *reinterpret_cast<float4*>(to + quad) = make_float4(values[4], values[5], values[6], values[7]);
    }
  };

  // fp32 tiles -> registers -> FMAs. A warp is 4 x 8 threads: its reads of A are 4 quads and of B 8 quads,
  // the rest broadcast.
  const int thread_row = threadIdx.x / C::threads_n * quad, thread_col = threadIdx.x % C::threads_n * quad;
  float accumulator[C::thread_m][C::thread_n] = {};
  auto multiply = [&](int buffer) {
    accumulate<C>(shared.tile_a[buffer], shared.tile_b[buffer], thread_row, thread_col, accumulator);
  };

  ptx::Track<Parameters> track(p, Role::all, threadIdx.x < 32);
  mainloop<C>(p.k, track, issue, convert_share, multiply);
  store<C>(p, row0 + thread_row, col0 + thread_col, accumulator);
  track.mark(Doing::store);
  track.end();
}

template <class C, class Parameters>
cudaError_t launch(const Parameters& p, cudaStream_t stream) {
  auto* kernel = gemm_kernel<C, Parameters>;
  constexpr int bytes = sizeof(Shared<C>);  // 32 KiB of tiles, 8 KiB per stage: more than 48 KiB is opt-in
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  const int tiles_m = ceil_div(p.m, C::block_m), tiles_n = ceil_div(p.n, C::block_n);
  kernel<<<unsigned(tiles_m) * unsigned(tiles_n), C::threads, bytes, stream>>>(p, tiles_n);
  return cudaGetLastError();
}

cudaError_t launch_traced(const Gemm& p, const Timeline& to, cudaStream_t stream) {
  return launch<Config<4>>(Traced<Gemm>{p, to}, stream);
}

Text whole_vectors(const Gemm& p) {
  if (p.n % vector == 0 && p.k % vector == 0) return {};
  return "n and k must be multiples of 8 (--variant any_n_k takes others)";
}

}  // namespace

Variants<Gemm> gemm() {
  return {{.name = "blocking",
           .what = "a k-tile copied and waited for, then converted once into fp32 tiles",
           .unsupported = whole_vectors,
           .launch = launch<Config<1, false>>},
          {.name = "1_stage",
           .what = "one k-tile in flight during the FMAs",
           .unsupported = whole_vectors,
           .launch = launch<Config<1>>},
          {.name = "2_stages",
           .what = "two k-tiles in flight",
           .unsupported = whole_vectors,
           .launch = launch<Config<2>>},
          {.name = "3_stages",
           .what = "three k-tiles in flight",
           .unsupported = whole_vectors,
           .launch = launch<Config<3>>},
          {.name = "through_l1",
           .what = "four k-tiles in flight, through L1 and L2 (.ca)",
           .unsupported = whole_vectors,
           .launch = launch<Config<4, true, ptx::Cache::all>>},
          {.name = "cp_async",
           .what = "four k-tiles in flight, through L2 alone (.cg)",
           .unsupported = whole_vectors,
           .launch = launch<Config<4>>,
           .traced = launch_traced}};
}

}  // namespace ladder::rung_04
