// FP64 on Hopper's tensor cores. wgmma has no fp64; what sm_90 adds is a larger mma.sync, m16n8k16, with
// eight times the multiply-adds of rung 06's m8n8k4. Fragments come by 8-byte loads, as there: ldmatrix would
// deal out an element's two halves to two lanes. The ring buffer is rung 04's, cp.async with a wait for
// groups.
#include "common/extension.h"
#include "common/ptx/cp_async.cuh"
#include "common/ptx/mma.cuh"
#include "common/rung.h"

namespace ladder::rung_07 {
namespace {

using ptx::SharedAddress;

constexpr int block_m = 128, block_n = 128, block_k = 16, stages = 6, threads = 256;
constexpr int warp_m = 32, warp_n = 64, warps_n = block_n / warp_n;  // of C: 64 accumulators, 128 registers
constexpr int mma_m = 16, mma_n = 8;                                 // and k is block_k
constexpr int element = sizeof(double), vector = 16 / element;  // elements that cp.async copies at a time
constexpr int row_a = block_k * element, row_b = block_n * element;  // bytes: 128 and 1024
constexpr int tile_a = block_m * row_a, stage_bytes = tile_a + block_k * row_b;
constexpr int shared_bytes = stages * stage_bytes;  // 192 KiB
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

// Bytes from the start of a tile to an element. An 8-byte load takes the banks in two halves of a warp: lanes
// of four neighbouring rows, four elements of each, 32 bytes. So 32 bytes are the unit that moves, and four
// rows put it in four places.
__device__ int offset(int row_bytes, int row, int col) {
  return row * row_bytes + (col / 4 ^ row % 4) * 32 + col % 4 * element;
}

struct Operands {
  int m, n, k;
  const double *a, *b;
  double* c;
};

// Global -> shared: a thread's part of a k-tile, 4 vectors of A and 4 of B, zeros past the edges.
__device__ void copy(const Operands& p, SharedAddress to, int row0, int col0, int k0) {
  constexpr int vectors_a = block_k / vector, vectors_b = block_n / vector;  // in a row
#pragma unroll
  for (int i = threadIdx.x; i < block_m * vectors_a; i += threads) {
    const int row = i / vectors_a, col = i % vectors_a * vector;
    const bool inside = row0 + row < p.m && k0 + col < p.k;
    ptx::cp_async_16(to + offset(row_a, row, col), p.a + std::size_t(row0 + row) * p.k + k0 + col,
                     inside ? 16 : 0);
  }
#pragma unroll
  for (int i = threadIdx.x; i < block_k * vectors_b; i += threads) {
    const int row = i / vectors_b, col = i % vectors_b * vector;
    const bool inside = k0 + row < p.k && col0 + col < p.n;
    ptx::cp_async_16(to + tile_a + offset(row_b, row, col), p.b + std::size_t(k0 + row) * p.n + col0 + col,
                     inside ? 16 : 0);
  }
}

// Shared -> registers -> tensor cores: a warp's part of a k-tile, which is one MMA deep. Lane 4g + t.
__device__ void multiply(double (&accumulator)[warp_m / mma_m][warp_n / mma_n][4], const unsigned char* stage,
                         int warp_row, int warp_col) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  auto load = [&](int at) { return *reinterpret_cast<const double*>(stage + at); };
  double a[warp_m / mma_m][8];
#pragma unroll
  for (int i = 0; i < warp_m / mma_m; ++i)
#pragma unroll
    for (int r = 0; r < 8; ++r)
      a[i][r] = load(offset(row_a, warp_row + i * mma_m + r % 2 * 8 + g, r / 2 * 4 + t));
#pragma unroll
  for (int j = 0; j < warp_n / mma_n; ++j) {
    double b[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) b[r] = load(tile_a + offset(row_b, r * 4 + t, warp_col + j * mma_n + g));
#pragma unroll
    for (int i = 0; i < warp_m / mma_m; ++i) ptx::mma_m16n8k16_f64(accumulator[i][j], a[i], b);
  }
}

__global__ void __launch_bounds__(threads, 1) fp64_kernel(Operands p, int tiles_m, int tiles_n) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int per_group = group_m * tiles_n, first = blockIdx.x / per_group * group_m;  // as in gemm.cu
  const int rows = min(tiles_m - first, group_m), in_group = blockIdx.x % per_group;
  const int row0 = (first + in_group % rows) * block_m, col0 = in_group / rows * block_n;
  const int warp = threadIdx.x / 32, warp_row = warp / warps_n * warp_m, warp_col = warp % warps_n * warp_n;
  const int tiles_k = ceil_div(p.k, block_k);
  auto load = [&](int k_tile) {
    if (k_tile < tiles_k)
      copy(p, ptx::shared_address(shared) + k_tile % stages * stage_bytes, row0, col0, k_tile * block_k);
    ptx::cp_async_commit_group();  // behind the last k-tile, too: wait_group counts groups
  };

  for (int t = 0; t < stages - 1; ++t) load(t);
  double accumulator[warp_m / mma_m][warp_n / mma_n][4] = {};
#pragma unroll 1
  for (int t = 0; t < tiles_k; ++t) {
    ptx::cp_async_wait_group<stages - 2>();  // this thread's copies of k-tile t have landed
    __syncthreads();                         // and all threads' have; and every warp has left k-tile t - 1,
    load(t + stages - 1);                    // whose stage this fills
    multiply(accumulator, shared + t % stages * stage_bytes, warp_row, warp_col);
  }

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

std::string pairs(const Gemm& p) {
  if (p.n % vector == 0 && p.k % vector == 0) return {};
  return "n and k must be even: rows of A, B and C are copied 16 bytes at a time";
}

constexpr Extension<Gemm> of_fp64{
    .precision = Precision::fp64, .workspace_bytes = workspace_bytes, .prepare = prepare};

}  // namespace

Variants<Gemm> fp64() {
  return {{.name = "fp64",
           .what = "fp64 by mma of m16n8k16, fed by cp.async",
           .unsupported = pairs,
           .launch = launch,
           .extension = &of_fp64}};
}

}  // namespace ladder::rung_07
