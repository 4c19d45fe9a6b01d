// The tensor cores of 05_mma_sync, fed without bank conflicts: the rows of the tiles are swizzled on their
// way into shared memory, and ldmatrix reads them back as whole fragments, B transposed on the fly. Fragments
// are double-buffered in registers: ldmatrix fills one set while the MMAs read the other. That is the idea of
// this rung, down to multiply_k_tile(). In the kernel below CTAs are also persistent: during the last k-tiles
// of one tile of C a CTA already copies the first ones of its next.
#include "06_swizzle_ldmatrix/tiles.cuh"
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/mma.cuh"
#include "common/rung.h"

namespace ladder::rung_06 {
namespace {

using ptx::SharedAddress;

template <int stages_>
struct Config {
  static constexpr int stages = stages_, ahead = stages - 1;  // k-tiles that copies are ahead of the MMAs
  // The CTA's tile of C, and the k-tile: 128 bytes of a row of A.
  static constexpr int block_m = 128, block_n = 256, block_k = 64, threads = 256;
  static constexpr int warp_m = 64, warp_n = 64, warps_n = block_n / warp_n;  // 128 accumulators per thread
  static constexpr int mmas_m = warp_m / 16, mmas_n = warp_n / 8, steps = block_k / 16;  // of m16n8k16
  static_assert(mmas_n == 2 * mmas_m, "as many ldmatrix.x4 of B, two fragments each, as of A");
  // A chunk is 16 bytes: what one cp.async copies, and a row of one of ldmatrix's 8x8 matrices. 8 chunks,
  // 128 bytes, meet all 32 banks.
  static constexpr int vector = 8, chunk_bytes = 16, span = 8;
  // In bytes: a row in shared memory, A's tile, a stage of the ring buffer, the ring buffer.
  static constexpr int row_a = block_k * 2, row_b = block_n * 2, tile_a = block_m * row_a;
  static constexpr int stage_bytes = tile_a + block_k * row_b, shared_bytes = stages * stage_bytes;

  // Bytes from the start of a tile to a chunk of one of its rows, for writers and readers. The same chunk of
  // 8 rows would lie in the same 4 banks; so chunk c of row r lies where chunk c ^ r % 8 would.
  static __device__ int chunk_offset(int row_bytes, int row, int chunk) {
    return row * row_bytes + (chunk ^ row % 8) * chunk_bytes;
  }
  // The next stage of the ring buffer. A stage is named by its offset there, in bytes.
  static __device__ SharedAddress stage_after(SharedAddress stage) {
    return stage + stage_bytes == shared_bytes ? 0 : stage + stage_bytes;
  }
};

// Shared -> registers -> tensor cores: a warp's fragments for a step of 16 along k, and, in the other set,
// for the next step.
template <class C>
struct Fragments {
  SharedAddress lane_a[C::steps], lane_b[C::mmas_n / 2];
  unsigned a[2][C::mmas_m][4], b[2][C::mmas_n / 2][4];

  // Lane l gives the row address of ldmatrix's matrix l / 8: of A (16 rows x 32 bytes) row l % 16 of chunk
  // l / 16, of B (k16 x n16, transposed) k = l % 16 of chunk l / 16. The matrices come out in the order in
  // which mma takes a[0..3], and b[0..1] of two MMAs.
  __device__ Fragments(SharedAddress shared, int warp_row, int warp_col) {
    const int row = threadIdx.x % 16, chunk = threadIdx.x % 32 / 16;
#pragma unroll
    for (int step = 0; step < C::steps; ++step)
      lane_a[step] = kept(shared + C::chunk_offset(C::row_a, warp_row + row, step * 2 + chunk));
    const SharedAddress tile_b = shared + C::tile_a;
#pragma unroll
    for (int j = 0; j < C::mmas_n / 2; ++j)
      lane_b[j] = kept(tile_b + C::chunk_offset(C::row_b, row, warp_col / C::vector + j * 2 + chunk));
  }
  // Keeps the compiler from computing the offset again wherever it is used.
  static __device__ SharedAddress kept(SharedAddress offset) {
    asm volatile("" : "+r"(offset));
    return offset;
  }

  // Fragment i of A, and the i-th pair of B's fragments.
  __device__ void load(int set, SharedAddress stage, int step, int i) {
    ptx::ldmatrix_x4(a[set][i], lane_a[step] + stage + i * 16 * C::row_a);
    ptx::ldmatrix_x4_trans(b[set][i], lane_b[i] + stage + step * 16 * C::row_b);
  }

  // Row i of the warp's MMAs. Every other row runs backwards: its first B is the one just used.
  __device__ void multiply(float (&accumulator)[C::mmas_n][4], int set, int i) const {
#pragma unroll
    for (int x = 0; x < C::mmas_n; ++x) {
      const int j = i % 2 == 1 ? C::mmas_n - 1 - x : x;
      const unsigned(&two)[4] = b[set][j / 2];
      ptx::mma_m16n8k16(accumulator[j], a[set][i], {two[j % 2 * 2], two[j % 2 * 2 + 1]});
    }
  }
};

template <class C>
__device__ void wait_for_k_tile() {
  ptx::cp_async_wait_group<C::stages - 2>();  // newer groups, of later k-tiles, may still be under way
  __syncthreads();  // the k-tile is complete, and every warp has left the one before
}

// The MMAs of a k-tile; between them ldmatrix for the step after, and the copies of a later k-tile into the
// stage that every warp left at the last barrier.
template <class C>
__device__ void multiply_k_tile(float (&accumulator)[C::mmas_m][C::mmas_n][4], Fragments<C>& fragments,
                                Copies<C>& copies, SharedAddress& stage) {
#pragma unroll
  for (int step = 0; step < C::steps; ++step) {
    // When the last step begins, its fragments are in registers, or on their way there: no warp that has
    // passed the barrier reads this stage again, and the step's MMAs hide the first loads from the next.
    if (step == C::steps - 1) {
      wait_for_k_tile<C>();
      stage = C::stage_after(stage);
      copies.next_k_tile();
    }
#pragma unroll
    for (int i = 0; i < C::mmas_m; ++i) {
      fragments.load((step + 1) % 2, stage, (step + 1) % C::steps, i);
      if (i == 1) copies.issue(step);
      fragments.multiply(accumulator[i], step % 2, i);
    }
  }
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1) gemm_kernel(Gemm p, TileOrder<8> order) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / C::warps_n * C::warp_m, warp_col = warp % C::warps_n * C::warp_n;
  Copies<C> copies{p, ptx::shared_address(shared)};
  Fragments<C> fragments(ptx::shared_address(shared), warp_row, warp_col);
  SharedAddress stage = 0;  // whose k-tile is multiplied

  copies.begin_tile(order, blockIdx.x);
#pragma unroll
  for (int ahead = 0; ahead < C::ahead; ++ahead) {
#pragma unroll
    for (int step = 0; step < C::steps; ++step) copies.issue(step);
    copies.next_k_tile();
  }
  wait_for_k_tile<C>();
#pragma unroll
  for (int i = 0; i < C::mmas_m; ++i) fragments.load(0, stage, 0, i);

  const int tiles_k = max(ceil_div(p.k, C::block_k), C::ahead);  // more of them than k has are zeros
  for (int index = blockIdx.x; index < order.tiles; index += gridDim.x) {
    float accumulator[C::mmas_m][C::mmas_n][4] = {};
    // During the last `ahead` k-tiles the copies are the next tile's. Two parts, but one unrolled body.
#pragma unroll 1
    for (int part = 0, k = 0; part < 2; ++part) {
      const int end = part == 0 ? tiles_k - C::ahead : tiles_k;
      if (part == 1) copies.begin_tile(order, index + gridDim.x);
#pragma unroll 1
      for (; k < end; ++k) multiply_k_tile(accumulator, fragments, copies, stage);
    }
    const int2 tile = order.tile(index);
    store_tile(accumulator, p, tile.x * C::block_m + warp_row, tile.y * C::block_n + warp_col);
  }
  ptx::cp_async_wait_group<0>();  // no copy may land in shared memory after the CTA has left
}

int attribute(cudaDeviceAttr which) {  // of this GPU
  int device = 0, value = 0;
  if (cudaGetDevice(&device) == cudaSuccess) cudaDeviceGetAttribute(&value, which, device);
  return value;
}

// A CTA per SM, which has registers and shared memory for one: 163 KiB and more on GPUs for data centres, so
// that three stages fit, 99 KiB on others: two.
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  using C = Config<3>;
  const bool three = C::shared_bytes <= attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const auto kernel = three ? gemm_kernel<C> : gemm_kernel<Config<2>>;
  const int bytes = (three ? 3 : 2) * C::stage_bytes;
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  const TileOrder<8> order(ceil_div(p.m, C::block_m), ceil_div(p.n, C::block_n));
  const int ctas = std::min(order.tiles, attribute(cudaDevAttrMultiProcessorCount));
  kernel<<<ctas, C::threads, bytes, stream>>>(p, order);
  return cudaGetLastError();
}

Text whole_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8 (--variant any_n_k takes others)";
}

}  // namespace

Variants<Gemm> gemm() {
  return {{.name = "swizzle_ldmatrix",
           .what = "swizzled rows, two sets of fragments, eight rows of CTA tiles at a time",
           .unsupported = whole_vectors,
           .launch = launch}};
}

}  // namespace ladder::rung_06
