// The tiles of 02_smem_tiling, moved 16 bytes at a time: one instruction where there were eight, from global
// memory, to shared memory and back from it. For that the tiles are converted to fp32 and A is transposed on
// its way into shared memory, so that the 8 values a thread needs of a column of A lie side by side. The next
// tiles are loaded into registers while the current ones are multiplied.
#include "common/rung.h"

namespace ladder::rung_03 {
namespace {

constexpr int vector = 8;  // bf16 elements in 16 bytes

template <bool prefetch_>
struct Config {
  static constexpr bool prefetch = prefetch_;
  // The CTA's tile of C, and the k-tile: a thread has 16 bytes of A and 16 of B in flight.
  static constexpr int block_m = 128, block_n = 128, block_k = 16;
  static constexpr int threads = 256;  // 16 x 16, each with 8 x 8 elements of C
  static constexpr int quad = 4;       // fp32 in 16 bytes: a thread's 8 rows are two quads, half a tile apart
  static constexpr int vectors_a = block_m * block_k / vector / threads;  // loads per thread and k-tile
  static constexpr int vectors_b = block_k * block_n / vector / threads;
  static constexpr int buffers = prefetch ? 2 : 1;
  static constexpr int ctas_per_sm = 2;  // that leaves a thread 128 registers
  static_assert(block_m == 16 * 2 * quad && block_n == 16 * 2 * quad, "16 x 16 threads of 8 x 8 elements");
  static_assert(vectors_a >= 1 && vectors_b >= 1, "every thread loads at least one vector of each");
};

// 16 bytes of row `row` from column `col` on; 0 outside the [rows, cols] matrix. `aligned`: cols is a
// multiple of 8, so that the elements are inside or outside together and start on a 16-byte boundary.
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

// bf16 is the upper half of fp32: converting is a shift.
__device__ void convert(uint4 bits, float (&out)[vector]) {
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

__device__ void store_quad(__nv_bfloat16* to, const float* from) {
  const __nv_bfloat162 low = __floats2bfloat162_rn(from[0], from[1]),
                       high = __floats2bfloat162_rn(from[2], from[3]);
  *reinterpret_cast<uint2*>(to) =
      make_uint2(reinterpret_cast<const unsigned&>(low), reinterpret_cast<const unsigned&>(high));
}

template <class C, bool aligned>
__global__ void __launch_bounds__(C::threads, C::ctas_per_sm) gemm_kernel(Gemm p, int tiles_n) {
  __shared__ __align__(16) float tile_a[C::buffers][C::block_k][C::block_m];  // transposed: [k][row]
  __shared__ __align__(16) float tile_b[C::buffers][C::block_k][C::block_n];

  const int row0 = blockIdx.x / tiles_n * C::block_m;
  const int col0 = blockIdx.x % tiles_n * C::block_n;
  // A warp is 4 x 8 threads: its reads of A are 4 quads and of B 8 quads, the rest broadcast.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int thread_row = (warp / 2 * 4 + lane / 8) * C::quad;
  const int thread_col = (warp % 2 * 8 + lane % 8) * C::quad;

  // Global -> registers: thread i's v-th vector of a tile, counted along the tile's rows.
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

  // Registers -> shared, as fp32; A by single elements, since it is transposed.
  auto store_shared = [&](int buffer) {
    float values[vector];
#pragma unroll
    for (int v = 0; v < C::vectors_a; ++v) {
      const int i = threadIdx.x + v * C::threads, row = i / (C::block_k / vector),
                k = i % (C::block_k / vector) * vector;
      convert(next_a[v], values);
#pragma unroll
      for (int j = 0; j < vector; ++j) tile_a[buffer][k + j][row] = values[j];
    }
#pragma unroll
    for (int v = 0; v < C::vectors_b; ++v) {
      const int i = threadIdx.x + v * C::threads, k = i / (C::block_n / vector),
                col = i % (C::block_n / vector) * vector;
      convert(next_b[v], values);
      float4* to = reinterpret_cast<float4*>(&tile_b[buffer][k][col]);
#pragma unroll
      for (int j = 0; j < vector; j += 4)
        to[j / 4] = make_float4(values[j], values[j + 1], values[j + 2], values[j + 3]);
    }
  };

  // Shared -> registers -> FMAs.
  float accumulator[8][8] = {};
  auto multiply = [&](int buffer) {
#pragma unroll
    for (int k = 0; k < C::block_k; ++k) {
      float a[8], b[8];
      read_quads(&tile_a[buffer][k][thread_row], &tile_a[buffer][k][thread_row + C::block_m / 2], a);
      read_quads(&tile_b[buffer][k][thread_col], &tile_b[buffer][k][thread_col + C::block_n / 2], b);
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) accumulator[i][j] += a[i] * b[j];
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
      store_shared(buffer);  // the buffer that every thread left before the last barrier
      __syncthreads();
    } else {
      multiply(buffer);
      __syncthreads();  // every thread has read the tiles
      load_global(k0);  // after the barrier, or the compiler would prefetch after all
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
      const float* from = &accumulator[i][half * 4];
      if (aligned && col < p.n) {
        store_quad(to, from);
      } else {
        for (int j = 0; j < 4; ++j)
          if (col + j < p.n) to[j] = __float2bfloat16_rn(from[j]);
      }
    }
  }
}

// Rows of A are k elements long, rows of B and C n: all start on 16-byte boundaries when both are multiples
// of a vector.
template <bool prefetch, bool vectors_from_global = true>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  using C = Config<prefetch>;
  const bool aligned = vectors_from_global && p.n % vector == 0 && p.k % vector == 0;
  auto* kernel = aligned ? gemm_kernel<C, true> : gemm_kernel<C, false>;
  const int tiles_m = ceil_div(p.m, C::block_m), tiles_n = ceil_div(p.n, C::block_n);
  kernel<<<unsigned(tiles_m) * unsigned(tiles_n), C::threads, 0, stream>>>(p, tiles_n);
  return cudaGetLastError();
}

}  // namespace

Variants<Gemm> gemm() {
  return {{.name = "scalar_global",
           .what = "2-byte global accesses, 16-byte shared ones",
           .launch = launch<true, false>},
          {.name = "single_buffer", .what = "16-byte accesses, no prefetch", .launch = launch<false>},
          {.name = "vectorized", .what = "16-byte accesses, next tile prefetched", .launch = launch<true>}};
}

}  // namespace ladder::rung_03
