// FP64 on Hopper's tensor cores. wgmma has no fp64; what sm_90 adds are larger forms of mma.sync. m16n8k4 has
// twice the multiply-adds of rung 06's m8n8k4, and twice its rate. So the warps' other instructions have half
// the time, and this kernel is about them: a thread's copies use pointers that only advance, and fragments
// are loaded a step ahead. (They come by 8-byte loads: ldmatrix would deal out an element's two halves to two
// lanes.)
#include "common/extension.h"
#include "common/ptx/cp_async.cuh"
#include "common/ptx/mma.cuh"
#include "common/rung.h"

namespace ladder::rung_07 {
namespace {

using ptx::SharedAddress;

constexpr int block_m = 128, block_n = 64, block_k = 16, stages = 4, threads = 128, ctas_per_sm = 2;
constexpr int warp_m = 64, warp_n = 32, warps_n = block_n / warp_n;  // of C: 64 accumulators, 128 registers
constexpr int mma_m = 16, mma_n = 8, mma_k = 4, steps = block_k / mma_k;
constexpr int element = sizeof(double), vector = 16 / element;  // elements that cp.async copies at a time
constexpr int row_a = block_k * element, row_b = block_n * element;  // bytes: 128 and 512
constexpr int tile_a = block_m * row_a, stage_bytes = tile_a + block_k * row_b;
constexpr int shared_bytes = stages * stage_bytes;  // 96 KiB
constexpr int group_m = 8;                          // rows of CTA tiles that neighbouring CTAs share
static_assert(threads / 32 * warp_m * warp_n == block_m * block_n, "a warp for each part of the tile");

// A and B, rounded to fp64, in the workspace.
struct Workspace {
  double *a, *b;
  std::size_t bytes;

  explicit Workspace(const Gemm& p) {
    const std::size_t of_a = (std::size_t(p.m) * p.k * element + 255) / 256 * 256;
    auto* const start = p.typed ? static_cast<unsigned char*>(p.typed->workspace) : nullptr;
    a = reinterpret_cast<double*>(start);
    b = reinterpret_cast<double*>(start + of_a);
    bytes = of_a + std::size_t(p.k) * p.n * element;
  }
};

// Bytes from the start of a tile to an element. An 8-byte load is served a half-warp at a time: lanes of four
// neighbouring rows, four elements of each, 32 bytes. So the swizzle moves 32 bytes as a unit, to a different
// place in each of four rows.
__device__ int offset(int row_bytes, int row, int col) {
  return row * row_bytes + (col / 4 ^ row % 4) * 32 + col % 4 * element;
}

struct Operands {
  int m, n, k;
  const double *a, *b;
  double* c;
};

// Global -> shared: of a k-tile a thread copies 16 bytes of every 16th row of A and of every 4th row of B,
// zeros past the edges and past the end of k. Both distances are multiples of 4 rows, so the swizzle puts all
// of a matrix's copies at the same place in their rows.
struct Copies {
  static constexpr int vectors_a = block_k / vector, vectors_b = block_n / vector;  // in a row
  static constexpr int down_a = threads / vectors_a, down_b = threads / vectors_b;
  static_assert(down_a % 4 == 0 && down_b % 4 == 0);

  const Operands& p;
  const int row_of_a = threadIdx.x / vectors_a, col_of_a = threadIdx.x % vectors_a * vector;
  const int row_of_b = threadIdx.x / vectors_b, col_of_b = threadIdx.x % vectors_b * vector;
  const double *from_a, *from_b;
  const int rows_left;
  const bool column_inside;
  int k_left;
  const SharedAddress to_a, to_b;
  int stage = 0;  // byte offset of the stage that the next copies fill

  __device__ Copies(const Operands& operands, const void* shared, int row0, int col0)
      : p(operands),
        from_a(p.a + std::size_t(row0 + row_of_a) * p.k + col_of_a),
        from_b(p.b + std::size_t(row_of_b) * p.n + col0 + col_of_b),
        rows_left(p.m - row0 - row_of_a),
        column_inside(col0 + col_of_b < p.n),
        k_left(p.k),
        to_a(ptx::shared_address(shared) + offset(row_a, row_of_a, col_of_a)),
        to_b(ptx::shared_address(shared) + tile_a + offset(row_b, row_of_b, col_of_b)) {}

  __device__ void next_k_tile() {
#pragma unroll
    for (int row = 0; row < block_m; row += down_a)
      ptx::cp_async_16(to_a + stage + row * row_a, from_a + std::size_t(row) * p.k,
                       row < rows_left && col_of_a < k_left ? 16 : 0);
#pragma unroll
    for (int row = 0; row < block_k; row += down_b)
      ptx::cp_async_16(to_b + stage + row * row_b, from_b + std::size_t(row) * p.n,
                       column_inside && row_of_b + row < k_left ? 16 : 0);
    ptx::cp_async_commit_group();
    from_a += block_k;
    from_b += std::size_t(block_k) * p.n;
    k_left -= block_k;
    stage = stage + stage_bytes == shared_bytes ? 0 : stage + stage_bytes;
  }
};

// Shared -> registers: a warp's fragments for one step of 4 along k. Lane 4g + t.
struct Fragments {
  double a[warp_m / mma_m][2], b[warp_n / mma_n];

  __device__ void load(const unsigned char* stage, int step, int warp_row, int warp_col) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, k = step * mma_k + t;
    auto element_at = [&](int at) { return *reinterpret_cast<const double*>(stage + at); };
#pragma unroll
    for (int i = 0; i < warp_m / 8; ++i) a[i / 2][i % 2] = element_at(offset(row_a, warp_row + i * 8 + g, k));
#pragma unroll
    for (int j = 0; j < warp_n / mma_n; ++j)
      b[j] = element_at(tile_a + offset(row_b, k, warp_col + j * mma_n + g));
  }
};

__global__ void __launch_bounds__(threads, ctas_per_sm) fp64_kernel(Operands p, int tiles_m, int tiles_n) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int per_group = group_m * tiles_n, first = blockIdx.x / per_group * group_m;  // as in gemm.cu
  const int rows = min(tiles_m - first, group_m), in_group = blockIdx.x % per_group;
  const int row0 = (first + in_group % rows) * block_m, col0 = in_group / rows * block_n;
  const int warp = threadIdx.x / 32, warp_row = warp / warps_n * warp_m, warp_col = warp % warps_n * warp_n;
  Copies copies(p, shared, row0, col0);
  for (int t = 0; t < stages - 1; ++t) copies.next_k_tile();

  double accumulator[warp_m / mma_m][warp_n / mma_n][4] = {};
  Fragments fragments[2];  // of the step that is multiplied, and of the next
  const unsigned char* stage = shared;
  ptx::cp_async_wait_group<stages - 2>();
  __syncthreads();  // all threads' copies of k-tile 0 have landed
  fragments[0].load(stage, 0, warp_row, warp_col);
#pragma unroll 1
  for (int k_left = p.k; k_left > 0; k_left -= block_k) {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      if (step == steps - 1) {  // the next fragments are the next k-tile's; past the last there are zeros
        ptx::cp_async_wait_group<stages - 2>();  // this thread's copies of it have landed
        __syncthreads();                         // and all threads' have; no warp reads this k-tile any more
        stage = stage + stage_bytes == shared + shared_bytes ? shared : stage + stage_bytes;
      }
      fragments[(step + 1) % 2].load(stage, (step + 1) % steps, warp_row, warp_col);
      if (step == 0) copies.next_k_tile();  // into the stage of the k-tile before
      const Fragments& now = fragments[step % 2];
#pragma unroll
      for (int i = 0; i < warp_m / mma_m; ++i)
#pragma unroll
        for (int j = 0; j < warp_n / mma_n; ++j) ptx::mma_m16n8k4_f64(accumulator[i][j], now.a[i], now.b[j]);
    }
  }
  ptx::cp_async_wait_group<0>();  // zeros, which must not land after the CTA has left

  // Registers -> global: a lane has two neighbours of a row, 16 bytes.
  const int row = row0 + warp_row + threadIdx.x % 32 / 4, col = col0 + warp_col + threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < warp_m / 8; ++i)
#pragma unroll
    for (int j = 0; j < warp_n / mma_n; ++j) {
      const double* const pair = &accumulator[i / 2][j][i % 2 * 2];
      if (row + i * 8 < p.m && col + j * mma_n < p.n)
        *reinterpret_cast<double2*>(p.c + std::size_t(row + i * 8) * p.n + col + j * mma_n) =
            make_double2(pair[0], pair[1]);
    }
}

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  const Workspace w(p);
  const auto error =
      cudaFuncSetAttribute(fp64_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error != cudaSuccess) return error;
  const int tiles_m = ceil_div(p.m, block_m), tiles_n = ceil_div(p.n, block_n);
  fp64_kernel<<<unsigned(tiles_m) * unsigned(tiles_n), threads, shared_bytes, stream>>>(
      {p.m, p.n, p.k, w.a, w.b, static_cast<double*>(p.typed->c)}, tiles_m, tiles_n);
  return cudaGetLastError();
}

__global__ void __launch_bounds__(threads) round_elements(const float* from, double* to, std::size_t count) {
  for (std::size_t i = std::size_t(blockIdx.x) * threads + threadIdx.x; i < count;
       i += std::size_t(gridDim.x) * threads)
    to[i] = from[i];
}

cudaError_t prepare(const Gemm& p, cudaStream_t stream) {
  const Workspace w(p);
  constexpr int ctas = 1024;
  round_elements<<<ctas, threads, 0, stream>>>(p.typed->a, w.a, std::size_t(p.m) * p.k);
  round_elements<<<ctas, threads, 0, stream>>>(p.typed->b, w.b, std::size_t(p.k) * p.n);
  return cudaGetLastError();
}

std::size_t workspace_bytes(const Gemm& p) {
  return Workspace(p).bytes;
}

Text pairs(const Gemm& p) {
  if (p.n % vector == 0 && p.k % vector == 0) return {};
  return "n and k must be even: rows of A, B and C are copied 16 bytes at a time";
}

constexpr Extension<Gemm> of_fp64{
    .precision = Precision::fp64, .workspace_bytes = workspace_bytes, .prepare = prepare};

}  // namespace

Variants<Gemm> fp64() {
  return {{.name = "fp64",
           .what = "fp64 by mma of m16n8k4, fed by cp.async",
           .unsupported = pairs,
           .launch = launch,
           .extension = &of_fp64}};
}

}  // namespace ladder::rung_07
