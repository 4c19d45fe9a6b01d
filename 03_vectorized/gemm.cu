// The tiles of 02_smem_tiling, moved 16 bytes at a time: one instruction where there were eight, from global
// memory, to shared memory and back from it. For that the tiles are widened to fp32 and A is transposed on
// its way into shared memory, so that the 8 values a thread needs of a column of A lie side by side. The next
// tiles are on their way into registers while the current ones are multiplied.
#include "03_vectorized/variants.h"

namespace ladder::rung_03 {
namespace {

constexpr int vector = 8;  // bf16 elements in 16 bytes

template <bool prefetch_>
struct Config {
  static constexpr bool prefetch = prefetch_;
  static constexpr int block_m = 128, block_n = 128,
                       block_k = 16;   // the CTA's tile of C, and its step along k
  static constexpr int threads = 256;  // 16 x 16, each with 8 x 8 elements of C
  static constexpr int quad = 4;       // fp32 in 16 bytes: a thread's 8 rows are two quads, half a tile apart
  static constexpr int vectors_a = block_m * block_k / vector / threads;  // 16-byte loads per thread and step
  static constexpr int vectors_b = block_k * block_n / vector / threads;
  static constexpr int buffers = prefetch ? 2 : 1;
  static_assert(block_m == 16 * 2 * quad && block_n == 16 * 2 * quad, "16 x 16 threads of 8 x 8 elements");
  static_assert(vectors_a >= 1 && vectors_b >= 1, "every thread loads at least one vector of each");
};

// Eight elements of row `row` from column `col` on; 0 outside the [rows, cols] matrix. `aligned`: cols is a
// multiple of 8, so that the eight are inside or outside together and start on a 16-byte boundary.
template <bool aligned>
__device__ uint4 load_vector(const __nv_bfloat16* matrix, int rows, int cols, int row, int col) {
  uint4 bits = make_uint4(0, 0, 0, 0);
  if (row >= rows || col >= cols) return bits;
  const __nv_bfloat16* from = matrix + std::size_t(row) * cols + col;
  if constexpr (aligned) {
    bits = *reinterpret_cast<const uint4*>(from);
  } else {
    __nv_bfloat16* element = reinterpret_cast<__nv_bfloat16*>(&bits);
#pragma unroll
    for (int i = 0; i < vector; ++i)
      if (col + i < cols) element[i] = from[i];
  }
  return bits;
}

// bf16 is the upper half of fp32: widening is a shift.
__device__ void widen(uint4 bits, float (&out)[vector]) {
  const unsigned words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out[2 * i] = __uint_as_float(words[i] << 16);
    out[2 * i + 1] = __uint_as_float(words[i] & 0xFFFF0000u);
  }
}

__device__ void read_quads(const float* first, const float* second, float (&out)[8]) {
  const float4 low = *reinterpret_cast<const float4*>(first), high = *reinterpret_cast<const float4*>(second);
  out[0] = low.x, out[1] = low.y, out[2] = low.z, out[3] = low.w;
  out[4] = high.x, out[5] = high.y, out[6] = high.z, out[7] = high.w;
}

template <class C, bool aligned>
__global__ void __launch_bounds__(C::threads, 2) gemm_kernel(Gemm p, int tiles_n) {
  __shared__ __align__(16) float tile_a[C::buffers][C::block_k][C::block_m];  // transposed: [k][row]
  __shared__ __align__(16) float tile_b[C::buffers][C::block_k][C::block_n];

  const int row0 = blockIdx.x / tiles_n * C::block_m;
  const int col0 = blockIdx.x % tiles_n * C::block_n;
  // A warp is 4 x 8 threads: its reads of A are 4 quads and of B 8 quads, the rest broadcast.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int thread_row = (warp / 2 * 4 + lane / 8) * C::quad;
  const int thread_col = (warp % 2 * 8 + lane % 8) * C::quad;

  uint4 next_a[C::vectors_a], next_b[C::vectors_b];
  auto load_global = [&](int k0) {
#pragma unroll
    for (int v = 0; v < C::vectors_a; ++v) {
      const int i = threadIdx.x + v * C::threads, row = i / (C::block_k / vector),
                k = i % (C::block_k / vector) * vector;
      next_a[v] = load_vector<aligned>(p.a, p.m, p.k, row0 + row, k0 + k);
    }
#pragma unroll
    for (int v = 0; v < C::vectors_b; ++v) {
      const int i = threadIdx.x + v * C::threads, k = i / (C::block_n / vector),
                col = i % (C::block_n / vector) * vector;
      next_b[v] = load_vector<aligned>(p.b, p.k, p.n, k0 + k, col0 + col);
    }
  };
  auto store_shared = [&](int buffer) {
    float wide[vector];
#pragma unroll
    for (int v = 0; v < C::vectors_a; ++v) {
      const int i = threadIdx.x + v * C::threads, row = i / (C::block_k / vector),
                k = i % (C::block_k / vector) * vector;
      widen(next_a[v], wide);
#pragma unroll
      for (int j = 0; j < vector; ++j) tile_a[buffer][k + j][row] = wide[j];
    }
#pragma unroll
    for (int v = 0; v < C::vectors_b; ++v) {
      const int i = threadIdx.x + v * C::threads, k = i / (C::block_n / vector),
                col = i % (C::block_n / vector) * vector;
      widen(next_b[v], wide);
      float4* to = reinterpret_cast<float4*>(&tile_b[buffer][k][col]);
      to[0] = make_float4(wide[0], wide[1], wide[2], wide[3]);
      to[1] = make_float4(wide[4], wide[5], wide[6], wide[7]);
    }
  };

  float sum[8][8] = {};
  auto multiply = [&](int buffer) {
#pragma unroll
    for (int k = 0; k < C::block_k; ++k) {
      float a[8], b[8];
      read_quads(&tile_a[buffer][k][thread_row], &tile_a[buffer][k][thread_row + C::block_m / 2], a);
      read_quads(&tile_b[buffer][k][thread_col], &tile_b[buffer][k][thread_col + C::block_n / 2], b);
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += a[i] * b[j];
    }
  };

  load_global(0);
  store_shared(0);
  __syncthreads();
  int buffer = 0;
  for (int k0 = C::block_k; k0 < p.k; k0 += C::block_k) {
    if constexpr (C::prefetch) {
      load_global(k0);  // in flight while the FMAs below run
      multiply(buffer);
      buffer ^= 1;
      store_shared(buffer);  // the buffer that everyone left before the last barrier
      __syncthreads();
    } else {
      multiply(buffer);
      __syncthreads();  // everyone has read the tiles
      load_global(k0);  // behind the barrier, or the compiler would prefetch after all
      store_shared(buffer);
      __syncthreads();
    }
  }
  multiply(buffer);

#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row = row0 + thread_row + i % 4 + i / 4 * (C::block_m / 2);
    if (row >= p.m) continue;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int col = col0 + thread_col + half * (C::block_n / 2);
      __nv_bfloat16* to = p.c + std::size_t(row) * p.n + col;
      const float* from = &sum[i][half * 4];
      if (aligned && col < p.n) {
        const __nv_bfloat162 low = __floats2bfloat162_rn(from[0], from[1]),
                             high = __floats2bfloat162_rn(from[2], from[3]);
        *reinterpret_cast<uint2*>(to) =
            make_uint2(reinterpret_cast<const unsigned&>(low), reinterpret_cast<const unsigned&>(high));
      } else {
        for (int j = 0; j < 4; ++j)
          if (col + j < p.n) to[j] = __float2bfloat16_rn(from[j]);
      }
    }
  }
}

template <class C>
cudaError_t launch(const Gemm& p, bool aligned, cudaStream_t stream) {
  const int tiles_m = ceil_div(p.m, C::block_m), tiles_n = ceil_div(p.n, C::block_n);
  auto* kernel = aligned ? gemm_kernel<C, true> : gemm_kernel<C, false>;
  kernel<<<unsigned(tiles_m) * unsigned(tiles_n), C::threads, 0, stream>>>(p, tiles_n);
  return cudaGetLastError();
}

}  // namespace

// Rows of A are k elements long, rows of B and C n: all start on 16-byte boundaries when both are multiples
// of 8.
static bool rows_are_aligned(const Gemm& p) {
  return p.n % vector == 0 && p.k % vector == 0;
}

cudaError_t gemm_scalar_global(const Gemm& p, cudaStream_t stream) {
  return launch<Config<true>>(p, false, stream);
}
cudaError_t gemm_single_buffer(const Gemm& p, cudaStream_t stream) {
  return launch<Config<false>>(p, rows_are_aligned(p), stream);
}
cudaError_t gemm_vectorized(const Gemm& p, cudaStream_t stream) {
  return launch<Config<true>>(p, rows_are_aligned(p), stream);
}

}  // namespace ladder::rung_03
