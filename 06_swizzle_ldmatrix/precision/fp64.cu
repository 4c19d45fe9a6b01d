// FP64 on the tensor cores: mma of m8n8k4. A kernel of its own, since little of the rung's carries over.
// ldmatrix moves 32 bits to a lane, so it would split an element of 64 bits; fragments come by ordinary
// 8-byte loads instead. Nothing is packed, so B needs no transposition, whichever way its rows run. And an
// MMA takes so long, for so few products, that loads and copies are never in the way: no fragments are loaded
// ahead.
#include "06_swizzle_ldmatrix/precision/prepare.cuh"
#include "06_swizzle_ldmatrix/tiles.cuh"
#include "common/ptx/cp_async.cuh"
#include "common/ptx/mma.cuh"

namespace ladder::rung_06 {
namespace {

struct F64 {
  using Element = double;
  static __device__ double round(float x) { return x; }
};
struct OfF64 {
  using A = F64;
  using B = F64;
  static constexpr bool k_major_b = false, sparse = false;
};

using ptx::SharedAddress;

struct Fp64Product {
  int m, n, k;
  const double *a, *b;
  double* c;
};

constexpr int block_m = 128, block_n = 128, block_k = 16, stages = 3, threads = 256;
constexpr int warp_m = 32, warp_n = 64, warps_n = block_n / warp_n;  // of C: 64 accumulators, 128 registers
constexpr int mma_m = 8, mma_n = 8, mma_k = 4;
constexpr int element = sizeof(double), vector = 16 / element;  // elements that cp.async copies at a time
constexpr int row_a = block_k * element, row_b = block_n * element;  // bytes: 128 and 1024
constexpr int tile_a = block_m * row_a, stage_bytes = tile_a + block_k * row_b;
constexpr int shared_bytes = stages * stage_bytes;  // 96 KiB: every GPU from sm_80 on gives a CTA that much
static_assert(threads / 32 * warp_m * warp_n == block_m * block_n, "a warp for each part of the tile");

// Bytes from the start of a tile to an element. The banks are 128 bytes wide together, and an 8-byte load is
// served a half-warp at a time: lanes of four neighbouring rows, four elements of each, 32 bytes. So the
// swizzle moves 32 bytes as a unit, to a different place in each of four rows.
__device__ int offset(int row_bytes, int row, int col) {
  return row * row_bytes + (col / 4 ^ row % 4) * 32 + col % 4 * element;
}

// Global -> shared: of a k-tile a thread copies 16 bytes of every 32nd row of A and of every 4th row of B,
// zeros past the edges. Both distances are multiples of 4 rows, so the swizzle puts all of a matrix's copies
// at the same place in their rows, and the pointers only advance: computed anew for each k-tile, the
// addresses would take more issue slots than the MMAs leave.
struct Copies {
  static constexpr int vectors_a = block_k / vector, vectors_b = block_n / vector;  // in a row
  static constexpr int down_a = threads / vectors_a, down_b = threads / vectors_b;
  static_assert(down_a % 4 == 0 && down_b % 4 == 0);

  const Fp64Product& p;
  const int row_of_a = threadIdx.x / vectors_a, col_of_a = threadIdx.x % vectors_a * vector;
  const int row_of_b = threadIdx.x / vectors_b, col_of_b = threadIdx.x % vectors_b * vector;
  const double *from_a, *from_b;
  const int rows_left;
  const bool column_inside;
  int k_left;
  const SharedAddress to_a, to_b;
  int stage = 0;  // byte offset of the stage that the next copies fill

  __device__ Copies(const Fp64Product& product, const void* shared, int row0, int col0)
      : p(product),
        from_a(p.a + std::size_t(row0 + row_of_a) * p.k + col_of_a),
        from_b(p.b + std::size_t(row_of_b) * p.n + col0 + col_of_b),
        rows_left(p.m - row0 - row_of_a),
        column_inside(col0 + col_of_b < p.n),
        k_left(p.k),
        to_a(ptx::shared_address(shared) + offset(row_a, row_of_a, col_of_a)),
        to_b(ptx::shared_address(shared) + tile_a + offset(row_b, row_of_b, col_of_b)) {}

  __device__ void next_k_tile() {
    if (k_left > 0) {
#pragma unroll
      for (int row = 0; row < block_m; row += down_a)
        ptx::cp_async_16(to_a + stage + row * row_a, from_a + std::size_t(row) * p.k,
                         row < rows_left && col_of_a < k_left ? 16 : 0);
#pragma unroll
      for (int row = 0; row < block_k; row += down_b)
        ptx::cp_async_16(to_b + stage + row * row_b, from_b + std::size_t(row) * p.n,
                         column_inside && row_of_b + row < k_left ? 16 : 0);
    }
    ptx::cp_async_commit_group();  // past the last k-tile, too: wait_group counts groups
    from_a += block_k;
    from_b += std::size_t(block_k) * p.n;
    k_left -= block_k;
    stage = stage + stage_bytes == shared_bytes ? 0 : stage + stage_bytes;
  }
};

// Shared -> registers -> tensor cores: a warp's part of a k-tile. Lane 4g + t holds row g of 8 rows of A and
// column g of 8 columns of B, both at the t-th of four of k.
__device__ void multiply(double (&accumulator)[warp_m / mma_m][warp_n / mma_n][2], const unsigned char* stage,
                         int warp_row, int warp_col) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  auto load = [&](int at) { return *reinterpret_cast<const double*>(stage + at); };
#pragma unroll
  for (int k = t; k < block_k + t; k += mma_k) {
    double a[warp_m / mma_m], b[warp_n / mma_n];
#pragma unroll
    for (int i = 0; i < warp_m / mma_m; ++i) a[i] = load(offset(row_a, warp_row + i * mma_m + g, k));
#pragma unroll
    for (int j = 0; j < warp_n / mma_n; ++j) b[j] = load(tile_a + offset(row_b, k, warp_col + j * mma_n + g));
#pragma unroll
    for (int i = 0; i < warp_m / mma_m; ++i)
#pragma unroll
      for (int j = 0; j < warp_n / mma_n; ++j) ptx::mma_m8n8k4_f64(accumulator[i][j], a[i], b[j]);
  }
}

__global__ void __launch_bounds__(threads, 1) fp64_kernel(Fp64Product p, TileOrder<8> order) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int2 tile = order.tile(blockIdx.x);
  const int row0 = tile.x * block_m, col0 = tile.y * block_n, tiles_k = ceil_div(p.k, block_k);
  const int warp = threadIdx.x / 32, warp_row = warp / warps_n * warp_m, warp_col = warp % warps_n * warp_n;
  Copies copies(p, shared, row0, col0);
  for (int t = 0; t < stages - 1; ++t) copies.next_k_tile();
  double accumulator[warp_m / mma_m][warp_n / mma_n][2] = {};
#pragma unroll 1
  for (int t = 0; t < tiles_k; ++t) {
    ptx::cp_async_wait_group<stages - 2>();  // this thread's copies of k-tile t have landed
    __syncthreads();                         // and all threads'; and every warp has left k-tile t - 1,
    copies.next_k_tile();                    // whose stage this fills
    multiply(accumulator, shared + t % stages * stage_bytes, warp_row, warp_col);
  }

  // Registers -> global: a lane has two neighbours of a row, 16 bytes.
  const int row = row0 + warp_row + threadIdx.x % 32 / 4, col = col0 + warp_col + threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < warp_m / mma_m; ++i)
#pragma unroll
    for (int j = 0; j < warp_n / mma_n; ++j)
      if (row + i * mma_m < p.m && col + j * mma_n < p.n)
        *reinterpret_cast<double2*>(p.c + std::size_t(row + i * mma_m) * p.n + col + j * mma_n) =
            make_double2(accumulator[i][j][0], accumulator[i][j][1]);
}

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  const Workspace<OfF64> w(p);
  const auto error =
      cudaFuncSetAttribute(fp64_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error != cudaSuccess) return error;
  const TileOrder<8> order(ceil_div(p.m, block_m), ceil_div(p.n, block_n));
  fp64_kernel<<<order.tiles, threads, shared_bytes, stream>>>(
      {p.m, p.n, p.k, w.a, w.b, static_cast<double*>(p.typed->c)}, order);
  return cudaGetLastError();
}

Text pairs(const Gemm& p) {
  if (p.n % vector == 0 && p.k % vector == 0) return {};
  return "n and k must be even: rows of A, B and C are copied 16 bytes at a time";
}

constexpr Extension<Gemm> of_fp64{
    .precision = Precision::fp64, .workspace_bytes = workspace_bytes<OfF64>, .prepare = prepare<OfF64>};

}  // namespace

Variants<Gemm> fp64() {
  return {{.name = "fp64",
           .what = "fp64 by mma of m8n8k4, fragments by 8-byte loads",
           .unsupported = pairs,
           .launch = launch,
           .extension = &of_fp64}};
}

}  // namespace ladder::rung_06
