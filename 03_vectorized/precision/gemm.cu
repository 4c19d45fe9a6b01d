// The rung's kernel with other operands: fp32, which needs no conversion, and numbers of 8 bits, of which
// dp4a multiplies four at a time.
#include "03_vectorized/precision/prepare.h"

namespace ladder::rung_03 {
namespace {

// An operand type as the CTA multiplies it: 16 bytes are `vector` values of the tiles. A value is one step of
// k, or four steps where it packs four 8-bit numbers.
struct OfFp32 {
  using Element = float;
  using Value = float;
  using C = float;
  static constexpr int vector = 4;
  static constexpr bool k_major_b = false;
  static __device__ void unpack(uint4 bits, float (&out)[vector]) {
    out[0] = __uint_as_float(bits.x), out[1] = __uint_as_float(bits.y);
    out[2] = __uint_as_float(bits.z), out[3] = __uint_as_float(bits.w);
  }
  static __device__ float multiply_add(float a, float b, float accumulator) { return accumulator + a * b; }
  static __device__ void store(float* to, float x) { *to = x; }
  static __device__ void store_four(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
  }
};

// Four neighbours along k make a value: a dp4a multiplies four pairs and accumulates the products. They must
// be neighbours in B, too, so its rows run along k (prepare.cu).
struct OfS8 {
  using Element = int;
  using Value = int;
  using C = int;
  static constexpr int vector = 4;
  static constexpr bool k_major_b = true;
  static __device__ void unpack(uint4 bits, int (&out)[vector]) {
    out[0] = int(bits.x), out[1] = int(bits.y), out[2] = int(bits.z), out[3] = int(bits.w);
  }
  static __device__ int multiply_add(int a, int b, int accumulator) { return __dp4a(a, b, accumulator); }
  static __device__ void store(int* to, int x) { *to = x; }
  static __device__ void store_four(int* to, const int* from) {
    *reinterpret_cast<int4*>(to) = make_int4(from[0], from[1], from[2], from[3]);
  }
};

// The operands as the kernel reads them; k counts values.
template <class Type>
struct Product {
  int m, n, k;
  const typename Type::Element *a, *b;
  typename Type::C* c;
};

template <class Type_>
struct Config {
  using Type = Type_;
  static constexpr int vector = Type::vector;
  // The CTA's tile of C, and its step along k, in values: a thread has 16 bytes of A and of B in flight.
  static constexpr int block_m = 128, block_n = 128, block_k = 2 * vector;
  static constexpr int threads = 256;  // 16 x 16, each with 8 x 8 elements of C
  static constexpr int quad = 4;  // values in 16 bytes: a thread's 8 rows are two quads, half a tile apart
  static constexpr int vectors_a = block_m * block_k / vector / threads;  // 16-byte loads per thread and step
  static constexpr int vectors_b = block_k * block_n / vector / threads;
  static_assert(block_m == 16 * 2 * quad && block_n == 16 * 2 * quad, "16 x 16 threads of 8 x 8 elements");
  static_assert(vectors_a >= 1 && vectors_b >= 1, "every thread loads at least one vector of each");
};

// 16 bytes of row `row` from column `col` on; 0 outside the [rows, cols] matrix. `aligned`: cols is a
// multiple of the number of elements in 16 bytes, so these are inside or outside together and start on a
// 16-byte boundary.
template <bool aligned, class Element>
__device__ uint4 load_vector(const Element* matrix, int rows, int cols, int row, int col) {
  uint4 bits = make_uint4(0, 0, 0, 0);
  if (row >= rows || col >= cols) return bits;
  const Element* from = matrix + std::size_t(row) * cols + col;
  if constexpr (aligned) {
    bits = *reinterpret_cast<const uint4*>(from);
  } else {
    Element* element = reinterpret_cast<Element*>(&bits);
#pragma unroll
    for (int i = 0; i < int(sizeof bits / sizeof(Element)); ++i)
      if (col + i < cols) element[i] = from[i];
  }
  return bits;
}

template <class Value>
__device__ void read_quads(const Value* first, const Value* second, Value (&out)[8]) {
  struct alignas(16) Quad {
    Value x, y, z, w;
  };
  const Quad low = *reinterpret_cast<const Quad*>(first), high = *reinterpret_cast<const Quad*>(second);
  out[0] = low.x, out[1] = low.y, out[2] = low.z, out[3] = low.w;
  out[4] = high.x, out[5] = high.y, out[6] = high.z, out[7] = high.w;
}

// Two CTAs in an SM leave a thread 128 registers; fp32, element by element, takes a few more.
template <class C, bool aligned>
constexpr int ctas_in_sm = aligned || false ? 2 : 1;

template <class C, bool aligned>
__global__ void __launch_bounds__(C::threads, (ctas_in_sm<C, aligned>))
    gemm_kernel(Product<typename C::Type> p, int tiles_n) {
  using Type = typename C::Type;
  using Value = typename Type::Value;
  constexpr int vector = C::vector;
  __shared__ __align__(16) Value tile_a[2][C::block_k][C::block_m];  // transposed: [k][row]
  __shared__ __align__(16) Value tile_b[2][C::block_k][C::block_n];

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
      if constexpr (Type::k_major_b) {  // as A
        const int i = threadIdx.x + v * C::threads, col = i / (C::block_k / vector),
                  k = i % (C::block_k / vector) * vector;
        next_b[v] = load_vector<aligned>(p.b, p.n, p.k, col0 + col, k0 + k);
      } else {
        const int i = threadIdx.x + v * C::threads, k = i / (C::block_n / vector),
                  col = i % (C::block_n / vector) * vector;
        next_b[v] = load_vector<aligned>(p.b, p.k, p.n, k0 + k, col0 + col);
      }
    }
  };
  auto store_shared = [&](int buffer) {
    Value wide[vector];
#pragma unroll
    for (int v = 0; v < C::vectors_a; ++v) {
      const int i = threadIdx.x + v * C::threads, row = i / (C::block_k / vector),
                k = i % (C::block_k / vector) * vector;
      Type::unpack(next_a[v], wide);
#pragma unroll
      for (int j = 0; j < vector; ++j) tile_a[buffer][k + j][row] = wide[j];
    }
#pragma unroll
    for (int v = 0; v < C::vectors_b; ++v) {
      Type::unpack(next_b[v], wide);
      if constexpr (Type::k_major_b) {
        const int i = threadIdx.x + v * C::threads, col = i / (C::block_k / vector),
                  k = i % (C::block_k / vector) * vector;
#pragma unroll
        for (int j = 0; j < vector; ++j) tile_b[buffer][k + j][col] = wide[j];
      } else {
        const int i = threadIdx.x + v * C::threads, k = i / (C::block_n / vector),
                  col = i % (C::block_n / vector) * vector;
        float4* to = reinterpret_cast<float4*>(&tile_b[buffer][k][col]);
#pragma unroll
        for (int j = 0; j < vector; j += 4)
          to[j / 4] = make_float4(wide[j], wide[j + 1], wide[j + 2], wide[j + 3]);
      }
    }
  };

  Value accumulator[8][8] = {};
  auto multiply = [&](int buffer) {
#pragma unroll
    for (int k = 0; k < C::block_k; ++k) {
      Value a[8], b[8];
      read_quads(&tile_a[buffer][k][thread_row], &tile_a[buffer][k][thread_row + C::block_m / 2], a);
      read_quads(&tile_b[buffer][k][thread_col], &tile_b[buffer][k][thread_col + C::block_n / 2], b);
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) accumulator[i][j] = Type::multiply_add(a[i], b[j], accumulator[i][j]);
    }
  };

  load_global(0);
  store_shared(0);
  __syncthreads();
  int buffer = 0;
  for (int k0 = C::block_k; k0 < p.k; k0 += C::block_k) {
    load_global(k0);  // in flight while the products below are computed
    multiply(buffer);
    buffer ^= 1;
    store_shared(buffer);  // the buffer that every thread left before the last barrier
    __syncthreads();
  }
  multiply(buffer);

#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row = row0 + thread_row + i % 4 + i / 4 * (C::block_m / 2);
    if (row >= p.m) continue;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int col = col0 + thread_col + half * (C::block_n / 2);
      typename Type::C* to = p.c + std::size_t(row) * p.n + col;
      const Value* from = &accumulator[i][half * 4];
      if (aligned && col < p.n) {
        Type::store_four(to, from);
      } else {
        for (int j = 0; j < 4; ++j)
          if (col + j < p.n) Type::store(to + j, from[j]);
      }
    }
  }
}

template <class C>
cudaError_t launch(const Product<typename C::Type>& p, bool aligned, cudaStream_t stream) {
  const int tiles_m = ceil_div(p.m, C::block_m), tiles_n = ceil_div(p.n, C::block_n);
  auto* kernel = aligned ? gemm_kernel<C, true> : gemm_kernel<C, false>;
  kernel<<<unsigned(tiles_m) * unsigned(tiles_n), C::threads, 0, stream>>>(p, tiles_n);
  return cudaGetLastError();
}

cudaError_t launch_fp32(const Gemm& p, cudaStream_t stream) {
  constexpr int vector = OfFp32::vector;
  return launch<Config<OfFp32>>({p.m, p.n, p.k, p.typed->a, p.typed->b, static_cast<float*>(p.typed->c)},
                                p.n % vector == 0 && p.k % vector == 0, stream);
}
cudaError_t launch_dp4a(const Gemm& p, cudaStream_t stream) {
  const Packed packed(p);  // rows of A and B are whole vectors
  return launch<Config<OfS8>>({p.m, p.n, packed.values, packed.a, packed.b, static_cast<int*>(p.typed->c)},
                              p.n % OfS8::vector == 0, stream);
}

constexpr Extension<Gemm> fp32{.precision = Precision::fp32};
constexpr Extension<Gemm> s8{
    .precision = Precision::s8, .workspace_bytes = packed_bytes, .prepare = pack_operands};

}  // namespace

Variants<Gemm> precisions() {
  return {{.name = "fp32",
           .what = "fp32 operands and accumulators, on the CUDA cores",
           .launch = launch_fp32,
           .extension = &fp32},
          {.name = "dp4a",
           .what = "8-bit integers: dp4a, four products in one instruction",
           .unsupported = sums_in_s32,
           .launch = launch_dp4a,
           .extension = &s8}};
}

}  // namespace ladder::rung_03
