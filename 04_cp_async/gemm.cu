// Copies that no thread waits for. In 03_vectorized a thread loads a piece of the next tiles into registers
// and holds it there until there is room for it. Here cp.async moves it from global to shared memory by
// itself, through no register, several k-tiles ahead, into a ring of stages. A copy cannot change what it
// copies, and bf16 tiles, widened after each read, cost an instruction for every five FMAs
// (gemm_bf16_tiles.cu). So the ring is a place of arrival: from there each thread widens what it copied
// itself, once, into the fp32 tiles of 03_vectorized.
#include "04_cp_async/variants.h"
#include "common/ptx/cp_async.cuh"
#include "common/ptx/timeline.cuh"

namespace ladder::rung_04 {
namespace {

constexpr int vector = 8;  // bf16 elements in 16 bytes, the size of a copy

template <int stages_, bool ahead_ = true, ptx::Cache cache_ = ptx::Cache::global>
struct Config {
  static constexpr int stages = stages_;  // k-tiles in the ring
  static constexpr bool ahead = ahead_;   // false: a k-tile is asked for only when it is needed
  static constexpr ptx::Cache cache = cache_;
  static constexpr int block_m = 128, block_n = 128, block_k = 16;
  static constexpr int quad = 4;                     // fp32 in 16 bytes
  static constexpr int thread_m = 8, thread_n = 16;  // elements of C per thread, in quads
  static constexpr int threads_m = block_m / thread_m, threads_n = block_n / thread_n;
  static constexpr int threads = threads_m * threads_n;
  static constexpr int step_m = threads_m * quad,
                       step_n = threads_n * quad;                        // from a thread's quad to its next
  static constexpr int copies_a = block_m * block_k / vector / threads;  // per thread and k-tile
  static constexpr int copies_b = block_k * block_n / vector / threads;
  static constexpr int copy_rows_a = block_m / copies_a;  // rows that one copy of every thread takes
  static constexpr int copy_rows_b = block_k / copies_b;
  static constexpr int ctas_per_sm = 2;  // 8 warps per SM, and 255 registers per thread
  static_assert(threads_n == 8, "a warp is 4 x 8 threads");
  static_assert(copies_a * vector * threads == block_m * block_k, "every thread copies as much of A");
  static_assert(copies_b * vector * threads == block_k * block_n, "every thread copies as much of B");
  static_assert(ahead || stages == 1, "more stages than one are there to be ahead");
};

template <class C>
struct Shared {
  float tile_a[2][C::block_k][C::block_m];  // transposed: [k][row]
  float tile_b[2][C::block_k][C::block_n];
  uint4 ring[C::stages][C::copies_a + C::copies_b][C::threads];  // [..][..][t]: thread t's own
};

// bf16 is the upper half of fp32: widening is a shift.
__device__ void widen(uint4 bits, float (&out)[vector]) {
  const unsigned words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out[2 * i] = __uint_as_float(words[i] << 16);
    out[2 * i + 1] = __uint_as_float(words[i] & 0xFFFF0000u);
  }
}

// `count` fp32, in quads that are `step` apart.
template <int count, int step>
__device__ void read_quads(const float* from, float (&out)[count]) {
#pragma unroll
  for (int q = 0; q < count / 4; ++q) {
    const float4 quad = *reinterpret_cast<const float4*>(from + q * step);
    out[4 * q] = quad.x, out[4 * q + 1] = quad.y, out[4 * q + 2] = quad.z, out[4 * q + 3] = quad.w;
  }
}

__device__ unsigned pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const unsigned&>(pair);
}

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

  // Asks for this thread's part of the next k-tile, the one at k0. Past the edges there is nothing to read: 0
  // of 16 bytes are present, and zeros are written. The group is closed even where there is no k-tile any
  // more: the loop counts groups, and its last steps would count too few.
  auto copy = [&](int k0, int stage) {
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

  // From the ring into the fp32 tiles, A transposed on its way.
  auto widen_tiles = [&](int stage, int buffer) {
    uint4 bits[C::copies_a + C::copies_b];
#pragma unroll
    for (int v = 0; v < C::copies_a + C::copies_b; ++v) bits[v] = shared.ring[stage][v][threadIdx.x];
    float wide[vector];
#pragma unroll
    for (int v = 0; v < C::copies_a; ++v) {
      widen(bits[v], wide);
#pragma unroll
      for (int j = 0; j < vector; ++j) shared.tile_a[buffer][a_k + j][a_row + v * C::copy_rows_a] = wide[j];
    }
#pragma unroll
    for (int v = 0; v < C::copies_b; ++v) {
      widen(bits[C::copies_a + v], wide);
      float* to = &shared.tile_b[buffer][b_k][b_col] + v * C::copy_rows_b * C::block_n;
      *reinterpret_cast<float4*>(to) = make_float4(wide[0], wide[1], wide[2], wide[3]);
      *reinterpret_cast<float4*>(to + C::quad) = make_float4(wide[4], wide[5], wide[6], wide[7]);
    }
  };

  // A warp is 4 x 8 threads: its reads of A are 4 quads and of B 8 quads, the rest broadcast.
  const int thread_row = threadIdx.x / C::threads_n * C::quad;
  const int thread_col = threadIdx.x % C::threads_n * C::quad;
  float sum[C::thread_m][C::thread_n] = {};
  auto multiply = [&](int buffer) {
#pragma unroll
    for (int k = 0; k < C::block_k; ++k) {
      float a[C::thread_m], b[C::thread_n];
      read_quads<C::thread_m, C::step_m>(&shared.tile_a[buffer][k][thread_row], a);
      read_quads<C::thread_n, C::step_n>(&shared.tile_b[buffer][k][thread_col], b);
#pragma unroll
      for (int i = 0; i < C::thread_m; ++i)
#pragma unroll
        for (int j = 0; j < C::thread_n; ++j) sum[i][j] += a[i] * b[j];
    }
  };

  ptx::Track<Parameters> track(p, Role::all, threadIdx.x < 32);
  if constexpr (C::ahead) {
#pragma unroll
    for (int stage = 0; stage < C::stages; ++stage) copy(stage * C::block_k, stage);
    track.mark(Doing::load);
  }
  int stage = 0, buffer = 0;
  for (int k0 = 0; k0 < p.k; k0 += C::block_k) {
    if constexpr (!C::ahead) copy(k0, 0);
    // `stages` groups are open, the oldest is this k-tile's: it has landed when stages - 1 are left. That
    // goes for this thread's copies alone, and it reads no others: so no barrier here.
    ptx::cp_async_wait_group<C::stages - 1>();
    track.mark(Doing::wait_for_data, k0 / C::block_k);
    widen_tiles(stage, buffer);  // into the buffer that everyone left before the last barrier
    __syncthreads();             // everyone's part of the tiles is there; everyone has left the other buffer
    track.mark(Doing::convert, k0 / C::block_k);
    // In flight while the FMAs below run. The stage is free: only this thread read it, and it has.
    if constexpr (C::ahead) copy(k0 + C::stages * C::block_k, stage);
    track.mark(Doing::load, k0 / C::block_k + C::stages);
    multiply(buffer);
    track.mark(Doing::multiply, k0 / C::block_k);
    buffer ^= 1;
    stage = stage + 1 == C::stages ? 0 : stage + 1;
  }

#pragma unroll
  for (int i = 0; i < C::thread_m; ++i) {
    const int row = row0 + thread_row + i / C::quad * C::step_m + i % C::quad;
#pragma unroll
    for (int q = 0; q < C::thread_n / C::quad; ++q) {
      const int col = col0 + thread_col + q * C::step_n;
      const float* from = &sum[i][q * C::quad];
      if (row < p.m && col < p.n)
        *reinterpret_cast<uint2*>(p.c + std::size_t(row) * p.n + col) =
            make_uint2(pack(from[0], from[1]), pack(from[2], from[3]));
    }
  }
  track.mark(Doing::store);
  track.end();
}

template <class C, class Parameters>
cudaError_t launch(const Parameters& p, cudaStream_t stream) {
  const int tiles_m = ceil_div(p.m, C::block_m), tiles_n = ceil_div(p.n, C::block_n);
  constexpr int bytes = sizeof(Shared<C>);  // 32 KiB of tiles, 8 KiB per stage: over 48 KiB must be asked for
  const cudaError_t error =
      cudaFuncSetAttribute(gemm_kernel<C, Parameters>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  gemm_kernel<C, Parameters>
      <<<unsigned(tiles_m) * unsigned(tiles_n), C::threads, bytes, stream>>>(p, tiles_n);
  return cudaGetLastError();
}

}  // namespace

cudaError_t gemm_blocking(const Gemm& p, cudaStream_t stream) {
  return launch<Config<1, false>>(p, stream);
}
cudaError_t gemm_1_stage(const Gemm& p, cudaStream_t stream) {
  return launch<Config<1>>(p, stream);
}
cudaError_t gemm_2_stages(const Gemm& p, cudaStream_t stream) {
  return launch<Config<2>>(p, stream);
}
cudaError_t gemm_3_stages(const Gemm& p, cudaStream_t stream) {
  return launch<Config<3>>(p, stream);
}
cudaError_t gemm_through_l1(const Gemm& p, cudaStream_t stream) {
  return launch<Config<4, true, ptx::Cache::all>>(p, stream);
}
cudaError_t gemm_cp_async(const Gemm& p, cudaStream_t stream) {
  return launch<Config<4>>(p, stream);
}
cudaError_t gemm_cp_async_traced(const Gemm& p, const Timeline& timeline, cudaStream_t stream) {
  return launch<Config<4>>(Traced<Gemm>{p, timeline}, stream);
}

}  // namespace ladder::rung_04
