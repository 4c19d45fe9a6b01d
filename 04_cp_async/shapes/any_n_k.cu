// Any n and k: the rung's kernel with copies as wide as its rows are aligned, 8 or 4 bytes where 16 are not.
// An odd n or k leaves every other row of B or A between two words of 4 bytes: of its vectors cp.async copies
// the five words that they lie in, and the thread that converts them shifts them first.
#include "04_cp_async/outer_product.cuh"
#include "common/rows/any_rows.cuh"

namespace ladder::rung_04 {

Variants<Gemm> gemm();

namespace {

// As in gemm.cu, which says why.
struct C {
  static constexpr int stages = 4;
  static constexpr int block_m = 128, block_n = 128, block_k = 16;
  static constexpr int thread_m = 8, thread_n = 16;
  static constexpr int threads_m = block_m / thread_m, threads_n = block_n / thread_n;
  static constexpr int threads = threads_m * threads_n;
  static constexpr int step_m = threads_m * quad, step_n = threads_n * quad;
  static constexpr int copies_a = block_m * block_k / vector / threads;
  static constexpr int copies_b = block_k * block_n / vector / threads;
  static constexpr int copies = copies_a + copies_b;
  static constexpr int copy_rows_a = block_m / copies_a, copy_rows_b = block_k / copies_b;
  static constexpr int ctas_per_sm = 2;
  static_assert(copy_rows_a % 2 == 0 && copy_rows_b % 2 == 0, "a thread's rows are all even or all odd");
};

struct Shared {
  float tile_a[2][C::block_k][C::block_m];  // transposed: [k][row]
  float tile_b[2][C::block_k][C::block_n];
  uint4 ring[C::stages][C::copies][C::threads];  // [..][..][t]: thread t's share
  unsigned fifth_words[C::stages][C::copies][C::threads];
};

// One of the matrices as a thread copies it: vectors of rows of any length.
struct Rows {
  const __nv_bfloat16* end;
  int aligned;  // elements
  int before;   // 1: this thread's rows start between two words, and so do its vectors

  __device__ Rows(const __nv_bfloat16* matrix, int rows, int cols, int row)
      : end(matrix + std::size_t(rows) * cols),
        aligned(any_rows::aligned_elements(cols)),
        before(row & cols & 1) {}

  // Copies a vector. `left` elements of its row remain from there on; zeros are written for the others.
  __device__ void copy(uint4& to, unsigned& fifth_word, const __nv_bfloat16* from, int left) const {
    const ptx::SharedAddress first = ptx::shared_address(&to);
    if (aligned == 8) {
      ptx::cp_async_16(first, from, left > 0 ? 16 : 0);
    } else if (aligned == 4) {
      ptx::cp_async<8>(first, from, left > 0 ? 8 : 0);
      ptx::cp_async<8>(first + 8, from + 4, left > 4 ? 8 : 0);
    } else {
#pragma unroll
      for (int i = 0; i < 5; ++i) {
        if (i == 4 && aligned == 2) break;
        const __nv_bfloat16* const word = from - before + 2 * i;
        const int present = left > 0 ? min(max(left + before - 2 * i, 0), 2) : 0;  // elements
        unsigned* const target = i < 4 ? reinterpret_cast<unsigned*>(&to) + i : &fifth_word;
        if (present == 1 && word + 1 == end)  // the matrix's last element: a word would end past it
          *target = *reinterpret_cast<const unsigned short*>(word);
        else
          ptx::cp_async<4>(ptx::shared_address(target), word, 2 * present);
      }
    }
  }

  // The vector, put together from what was copied.
  __device__ uint4 shifted(uint4 bits, const unsigned& fifth_word) const {
    if (!before) return bits;
    return make_uint4(__funnelshift_r(bits.x, bits.y, 16), __funnelshift_r(bits.y, bits.z, 16),
                      __funnelshift_r(bits.z, bits.w, 16), __funnelshift_r(bits.w, fifth_word, 16));
  }
};

// Stores a thread's quads of C with the widest stores that n allows.
__device__ void store_any(const Gemm& p, int first_row, int first_col,
                          const float (&accumulator)[C::thread_m][C::thread_n]) {
  if (p.n % quad == 0) return store<C>(p, first_row, first_col, accumulator);
#pragma unroll
  for (int i = 0; i < C::thread_m; ++i) {
    const int row = first_row + i / quad * C::step_m + i % quad;
    if (row >= p.m) continue;
#pragma unroll
    for (int j = 0; j < C::thread_n; j += 2) {
      const int col = first_col + j / quad * C::step_n + j % quad;
      __nv_bfloat16* const to = p.c + std::size_t(row) * p.n + col;
      if (p.n % 2 == 0) {
        if (col < p.n) *reinterpret_cast<unsigned*>(to) = pack(accumulator[i][j], accumulator[i][j + 1]);
      } else {
        if (col < p.n) to[0] = __float2bfloat16_rn(accumulator[i][j]);
        if (col + 1 < p.n) to[1] = __float2bfloat16_rn(accumulator[i][j + 1]);
      }
    }
  }
}

__global__ void __launch_bounds__(C::threads, C::ctas_per_sm) gemm_kernel(Gemm p, int tiles_n) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  Shared& shared = *reinterpret_cast<Shared*>(shared_bytes);
  const int row0 = blockIdx.x / tiles_n * C::block_m, col0 = blockIdx.x % tiles_n * C::block_n;

  const int a_row = threadIdx.x / (C::block_k / vector), a_k = threadIdx.x % (C::block_k / vector) * vector;
  const int b_k = threadIdx.x / (C::block_n / vector), b_col = threadIdx.x % (C::block_n / vector) * vector;
  const Rows rows_a(p.a, p.m, p.k, a_row), rows_b(p.b, p.k, p.n, b_k);
  const __nv_bfloat16* next_a = p.a + std::size_t(row0 + a_row) * p.k + a_k;
  const __nv_bfloat16* next_b = p.b + std::size_t(b_k) * p.n + col0 + b_col;

  auto issue = [&](int k0, int stage) {
    if (k0 < p.k) {
#pragma unroll
      for (int v = 0; v < C::copies; ++v) {
        uint4& to = shared.ring[stage][v][threadIdx.x];
        unsigned& fifth = shared.fifth_words[stage][v][threadIdx.x];
        const int down_a = v * C::copy_rows_a, down_b = (v - C::copies_a) * C::copy_rows_b;
        if (v < C::copies_a)
          rows_a.copy(to, fifth, next_a + std::size_t(down_a) * p.k,
                      row0 + a_row + down_a < p.m ? p.k - k0 - a_k : 0);
        else
          rows_b.copy(to, fifth, next_b + std::size_t(down_b) * p.n,
                      k0 + b_k + down_b < p.k ? p.n - col0 - b_col : 0);
      }
      next_a += C::block_k;
      next_b += std::size_t(C::block_k) * p.n;
    }
    ptx::cp_async_commit_group();
  };

  auto convert_share = [&](int stage, int buffer) {
    float values[vector];
#pragma unroll
    for (int v = 0; v < C::copies; ++v) {
      const Rows& rows = v < C::copies_a ? rows_a : rows_b;
      convert(rows.shifted(shared.ring[stage][v][threadIdx.x], shared.fifth_words[stage][v][threadIdx.x]),
              values);
      if (v < C::copies_a) {
#pragma unroll
        for (int j = 0; j < vector; ++j)
          shared.tile_a[buffer][a_k + j][a_row + v * C::copy_rows_a] = values[j];
      } else {
        float* to = &shared.tile_b[buffer][b_k + (v - C::copies_a) * C::copy_rows_b][b_col];
        *reinterpret_cast<float4*>(to) = make_float4(values[0], values[1], values[2], values[3]);
        *reinterpret_cast<float4*>(to + quad) = make_float4(values[4], values[5], values[6], values[7]);
      }
    }
  };

  const int thread_row = threadIdx.x / C::threads_n * quad, thread_col = threadIdx.x % C::threads_n * quad;
  float accumulator[C::thread_m][C::thread_n] = {};
  for (int stage = 0; stage < C::stages; ++stage) issue(stage * C::block_k, stage);
  int stage = 0, buffer = 0;
  for (int k0 = 0; k0 < p.k; k0 += C::block_k) {
    ptx::cp_async_wait_group<C::stages - 1>();
    convert_share(stage, buffer);
    __syncthreads();
    issue(k0 + C::stages * C::block_k, stage);
    accumulate<C>(shared.tile_a[buffer], shared.tile_b[buffer], thread_row, thread_col, accumulator);
    buffer ^= 1;
    stage = stage + 1 == C::stages ? 0 : stage + 1;
  }
  store_any(p, row0 + thread_row, col0 + thread_col, accumulator);
}

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  static const auto rung = gemm().back().launch;
  if (p.n % vector == 0 && p.k % vector == 0) return rung(p, stream);
  constexpr int bytes = sizeof(Shared);
  const cudaError_t error =
      cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  const int tiles_m = ceil_div(p.m, C::block_m), tiles_n = ceil_div(p.n, C::block_n);
  gemm_kernel<<<unsigned(tiles_m) * unsigned(tiles_n), C::threads, bytes, stream>>>(p, tiles_n);
  return cudaGetLastError();
}

}  // namespace

Variants<Gemm> any_n_k() {
  return {{.name = "any_n_k", .what = "any n and k: copies as wide as rows are aligned", .launch = launch}};
}

}  // namespace ladder::rung_04
