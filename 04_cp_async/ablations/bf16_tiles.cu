// The plain multistage loop, as rungs 05 and 06 use it: the stages *are* the tiles, and a thread reads what
// all threads of the CTA copied. The tiles hold what lay in global memory, bf16 and A row by row, so CUDA
// cores must convert each element after each of its reads. 8 x 16 elements of C per thread keep that to 24
// conversions for 128 FMAs.
#include "04_cp_async/outer_product.cuh"
#include "common/ptx/cp_async.cuh"

namespace ladder::rung_04 {
namespace {

constexpr int stages = 4;  // k-tiles in shared memory: one in use, the others in flight
constexpr int block_m = 128, block_n = 128, block_k = 16;
constexpr int thread_m = 8, thread_n = 16;  // elements of C per thread
constexpr int threads_m = block_m / thread_m, threads_n = block_n / thread_n;
constexpr int threads = threads_m * threads_n;
constexpr int copies_a = block_m * block_k / vector / threads;  // per thread and k-tile
constexpr int copies_b = block_k * block_n / vector / threads;
constexpr int copy_rows_a = block_m / copies_a;  // rows that one copy of every thread covers
constexpr int copy_rows_b = block_k / copies_b;
constexpr int ctas_per_sm = 2;  // 8 warps per SM, and 255 registers per thread
static_assert(threads_n == 8, "a warp is 4 x 8 threads");
static_assert(copies_a * vector * threads == block_m * block_k, "every thread copies as much of A");
static_assert(copies_b * vector * threads == block_k * block_n, "every thread copies as much of B");
static_assert(block_k % vector == 0, "16 bytes of A are 8 elements along k");

__device__ uint4 load(const __nv_bfloat16* from) {
  return *reinterpret_cast<const uint4*>(from);
}

// Element i of 8, in fp32: one instruction, a shift or a mask.
__device__ float convert(const uint4& bits, int i) {
  const unsigned words[4] = {bits.x, bits.y, bits.z, bits.w};
  return __uint_as_float(i % 2 == 0 ? words[i / 2] << 16 : words[i / 2] & 0xFFFF0000u);
}

__global__ void __launch_bounds__(threads, ctas_per_sm) gemm_kernel(Gemm p, int tiles_n) {
  __shared__ __align__(16) __nv_bfloat16 tile_a[stages][block_m][block_k];
  __shared__ __align__(16) __nv_bfloat16 tile_b[stages][block_k][block_n];

  const int row0 = blockIdx.x / tiles_n * block_m;
  const int col0 = blockIdx.x % tiles_n * block_n;

  // This thread's first copy from each matrix; its others are whole rows further on.
  const int a_row = threadIdx.x / (block_k / vector), a_k = threadIdx.x % (block_k / vector) * vector;
  const int b_k = threadIdx.x / (block_n / vector), b_col = threadIdx.x % (block_n / vector) * vector;
  const __nv_bfloat16* next_a = p.a + std::size_t(row0 + a_row) * p.k + a_k;
  const __nv_bfloat16* next_b = p.b + std::size_t(b_k) * p.n + col0 + b_col;

  // Global -> tiles, as in gemm.cu.
  auto issue = [&](int k0, int stage) {
    if (k0 < p.k) {
#pragma unroll
      for (int v = 0; v < copies_a; ++v) {
        const int row = a_row + v * copy_rows_a;
        const bool inside = row0 + row < p.m && k0 + a_k < p.k;
        ptx::cp_async_16(ptx::shared_address(&tile_a[stage][row][a_k]),
                         next_a + std::size_t(v * copy_rows_a) * p.k, inside ? 16 : 0);
      }
#pragma unroll
      for (int v = 0; v < copies_b; ++v) {
        const int k = b_k + v * copy_rows_b;
        const bool inside = k0 + k < p.k && col0 + b_col < p.n;
        ptx::cp_async_16(ptx::shared_address(&tile_b[stage][k][b_col]),
                         next_b + std::size_t(v * copy_rows_b) * p.n, inside ? 16 : 0);
      }
      next_a += block_k;
      next_b += std::size_t(block_k) * p.n;
    }
    ptx::cp_async_commit_group();
  };

  // Tiles -> registers -> FMAs. A warp is 4 x 8 threads. Its 4 rows of A are adjacent: 16 bytes of each, 32
  // bytes apart, are 16 different banks. Its 8 vectors of B are adjacent: all 32 banks. A thread's own rows
  // and vectors lie as far apart as that takes.
  const int thread_row = threadIdx.x / threads_n, thread_col = threadIdx.x % threads_n * vector;
  float accumulator[thread_m][thread_n] = {};
  auto multiply = [&](int stage) {
#pragma unroll 1  // 8 elements along k are 20 KiB of code: more does not stay in the instruction caches
    for (int k8 = 0; k8 < block_k; k8 += vector) {
      uint4 a_bits[thread_m];  // of each row, 8 elements along k
#pragma unroll
      for (int i = 0; i < thread_m; ++i) a_bits[i] = load(&tile_a[stage][thread_row + i * threads_m][k8]);
#pragma unroll
      for (int k = 0; k < vector; ++k) {
        float a[thread_m], b[thread_n];
#pragma unroll
        for (int i = 0; i < thread_m; ++i) a[i] = convert(a_bits[i], k);
#pragma unroll
        for (int v = 0; v < thread_n / vector; ++v) {
          const uint4 b_bits = load(&tile_b[stage][k8 + k][thread_col + v * threads_n * vector]);
#pragma unroll
          for (int j = 0; j < vector; ++j) b[v * vector + j] = convert(b_bits, j);
        }
#pragma unroll
        for (int i = 0; i < thread_m; ++i)
#pragma unroll
          for (int j = 0; j < thread_n; ++j) accumulator[i][j] += a[i] * b[j];
      }
    }
  };

  for (int stage = 0; stage < stages - 1; ++stage) issue(stage * block_k, stage);
  int stage = 0, free_stage = stages - 1;
  for (int k0 = 0; k0 < p.k; k0 += block_k) {
    // stages - 1 groups are pending, and the oldest is this k-tile's: this thread's share of it has landed
    // when stages - 2 are left.
    ptx::cp_async_wait_group<stages - 2>();
    __syncthreads();  // every thread's share has landed, and all have finished reading the previous k-tile
    issue(k0 + (stages - 1) * block_k, free_stage);  // refills the previous k-tile's stage during the FMAs
    multiply(stage);
    free_stage = stage;
    stage = stage + 1 == stages ? 0 : stage + 1;
  }

#pragma unroll
  for (int i = 0; i < thread_m; ++i) {
    const int row = row0 + thread_row + i * threads_m;
#pragma unroll
    for (int v = 0; v < thread_n / vector; ++v) {
      const int col = col0 + thread_col + v * threads_n * vector;
      const float* from = &accumulator[i][v * vector];
      if (row < p.m && col < p.n)
        *reinterpret_cast<uint4*>(p.c + std::size_t(row) * p.n + col) = make_uint4(
            pack(from[0], from[1]), pack(from[2], from[3]), pack(from[4], from[5]), pack(from[6], from[7]));
    }
  }
}

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  const int tiles_m = ceil_div(p.m, block_m), tiles_n = ceil_div(p.n, block_n);
  gemm_kernel<<<unsigned(tiles_m) * unsigned(tiles_n), threads, 0, stream>>>(p, tiles_n);
  return cudaGetLastError();
}

Text whole_vectors(const Gemm& p) {
  if (p.n % vector == 0 && p.k % vector == 0) return {};
  return "n and k must be multiples of 8 (--variant any_n_k takes others)";
}

}  // namespace

Variants<Gemm> ablations() {
  return {{.name = "bf16_tiles",
           .what = "four stages of bf16 tiles, converted at every read",
           .unsupported = whole_vectors,
           .launch = launch}};
}

}  // namespace ladder::rung_04
