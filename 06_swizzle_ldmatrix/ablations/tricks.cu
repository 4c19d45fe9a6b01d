// The rung's kernel once more, with a flag for each of its tricks, for an ablation to leave out, and with the
// marks of the timeline. With all tricks it is the kernel of ../gemm.cu, which explains the most.
#include "06_swizzle_ldmatrix/tiles.cuh"
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/mma.cuh"
#include "common/ptx/timeline.cuh"
#include "common/rung.h"

namespace ladder::rung_06 {
namespace {

using ptx::SharedAddress;

// How the rows of a tile lie in shared memory.
enum class Rows {
  plain,     // one after the other: chunk c of 8 rows lies in the same 4 banks
  padded,    // 16 bytes apart, so that it does not
  swizzled,  // chunk c of row r lies where chunk c ^ r % 8 would
};

// What an ablation leaves out.
struct Tricks {
  Rows rows = Rows::swizzled;
  int fragment_sets = 2;        // 1: ldmatrix and the MMAs that read its fragments take turns
  bool serpentine = true;       // every other row of MMAs runs backwards: its first B is the one just used
  bool hoisted_offsets = true;  // a lane's offsets in shared memory are computed once, before the loop
  int group = 8;                // rows of CTA tiles that neighbouring CTAs share; 1: row by row
  bool persistent = true;       // one CTA per SM computes tile after tile
};

template <Tricks tricks_, int stages_>
struct Config {
  static constexpr Tricks tricks = tricks_;
  static constexpr int stages = stages_, ahead = stages - 1;  // k-tiles that copies are ahead of the MMAs
  // The CTA's tile of C, and the k-tile: 128 bytes of a row of A.
  static constexpr int block_m = 128, block_n = 256, block_k = 64, threads = 256;
  static constexpr int warp_m = 64, warp_n = 64, warps_n = block_n / warp_n;  // 128 accumulators per thread
  static constexpr int mmas_m = warp_m / 16, mmas_n = warp_n / 8, steps = block_k / 16;  // of m16n8k16
  // A chunk is 16 bytes: what one cp.async copies, and a row of one of ldmatrix's 8x8 matrices. 8 chunks,
  // 128 bytes, meet all 32 banks.
  static constexpr int vector = 8, chunk_bytes = 16, span = 8;
  // In bytes: a row in shared memory, A's tile, a stage of the ring buffer, the ring buffer.
  static constexpr int pad = tricks.rows == Rows::padded ? chunk_bytes : 0;
  static constexpr int row_a = block_k * 2 + pad, row_b = block_n * 2 + pad, tile_a = block_m * row_a;
  static constexpr int stage_bytes = tile_a + block_k * row_b, shared_bytes = stages * stage_bytes;

  // Bytes from the start of a tile to a chunk of one of its rows, for writers and readers.
  static __device__ int chunk_offset(int row_bytes, int row, int chunk) {
    if (tricks.rows == Rows::swizzled) chunk ^= row % 8;
    return row * row_bytes + chunk * chunk_bytes;
  }
  // The next stage of the ring buffer. A stage is named by its offset there, in bytes.
  static __device__ SharedAddress stage_after(SharedAddress stage) {
    return stage + stage_bytes == shared_bytes ? 0 : stage + stage_bytes;
  }
};

template <class C>
__device__ void wait_for_k_tile() {
  ptx::cp_async_wait_group<C::stages - 2>();  // newer groups, of later k-tiles, may still be under way
  __syncthreads();  // the k-tile is complete, and every warp has left the one before
}

// Keeps the compiler from computing the offset again wherever it is used.
__device__ void keep(SharedAddress& offset) {
  asm volatile("" : "+r"(offset));
}

// Shared -> registers -> tensor cores: a warp's fragments for a step of 16 along k, and, in the other set,
// for the next step.
template <class C>
struct Fragments {
  SharedAddress lane_a[C::steps], lane_b[C::mmas_n / 2];
  unsigned a[C::tricks.fragment_sets][C::mmas_m][4], b[C::tricks.fragment_sets][C::mmas_n / 2][4];

  // Lane l gives the row address of ldmatrix's matrix l / 8: of A (16 rows x 32 bytes) row l % 16 of chunk
  // l / 16, of B (k16 x n16, transposed) k = l % 16 of chunk l / 16. The matrices come out in the order in
  // which mma takes a[0..3], and b[0..1] of two MMAs.
  __device__ Fragments(SharedAddress shared, int warp_row, int warp_col) {
    const int row = threadIdx.x % 16, chunk = threadIdx.x % 32 / 16;
#pragma unroll
    for (int step = 0; step < C::steps; ++step) {
      lane_a[step] = shared + C::chunk_offset(C::row_a, warp_row + row, step * 2 + chunk);
      if (C::tricks.hoisted_offsets) keep(lane_a[step]);
    }
#pragma unroll
    for (int j = 0; j < C::mmas_n / 2; ++j) {
      lane_b[j] = shared + C::tile_a + C::chunk_offset(C::row_b, row, warp_col / C::vector + j * 2 + chunk);
      if (C::tricks.hoisted_offsets) keep(lane_b[j]);
    }
  }

  // Fragment i of A, and the i-th pair of B's fragments.
  __device__ void load(int set, SharedAddress stage, int step, int i) {
    ptx::ldmatrix_x4(a[set][i], lane_a[step] + stage + i * 16 * C::row_a);
    ptx::ldmatrix_x4_trans(b[set][i], lane_b[i] + stage + step * 16 * C::row_b);
  }

  // Row i of the warp's MMAs.
  __device__ void multiply(float (&accumulator)[C::mmas_n][4], int set, int i) const {
#pragma unroll
    for (int x = 0; x < C::mmas_n; ++x) {
      const int j = C::tricks.serpentine && i % 2 == 1 ? C::mmas_n - 1 - x : x;
      const unsigned(&two)[4] = b[set][j / 2];
      ptx::mma_m16n8k16(accumulator[j], a[set][i], {two[j % 2 * 2], two[j % 2 * 2 + 1]});
    }
  }
};

// The MMAs of a k-tile; between them ldmatrix for the step after, and the copies of a later k-tile into the
// stage that every warp left at the last barrier. `wait` waits for the next k-tile and moves `stage` to it.
template <class C, class Wait>
__device__ void multiply_k_tile(float (&accumulator)[C::mmas_m][C::mmas_n][4], Fragments<C>& fragments,
                                const Copies<C>& copies, const SharedAddress& stage, Wait wait) {
#pragma unroll
  for (int step = 0; step < C::steps; ++step) {
    const bool last = step == C::steps - 1;
    if constexpr (C::tricks.fragment_sets == 2) {
      // When the last step begins, its fragments are in registers, or on their way there: no warp that has
      // passed the barrier reads this stage again, and the step's MMAs hide the first loads from the next.
      if (last) wait();
#pragma unroll
      for (int i = 0; i < C::mmas_m; ++i) {
        fragments.load((step + 1) % 2, stage, (step + 1) % C::steps, i);
        if (i == 1) copies.issue(step);
        fragments.multiply(accumulator[i], step % 2, i);
      }
    } else {
#pragma unroll
      for (int i = 0; i < C::mmas_m; ++i) fragments.load(0, stage, step, i);
      copies.issue(step);
#pragma unroll
      for (int i = 0; i < C::mmas_m; ++i) fragments.multiply(accumulator[i], 0, i);
      if (last) wait();
    }
  }
}

// Parameters: Gemm, or Traced<Gemm>.
template <class C, class Parameters>
__global__ void __launch_bounds__(C::threads, 1) gemm_kernel(Parameters p, TileOrder<C::tricks.group> order) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / C::warps_n * C::warp_m, warp_col = warp % C::warps_n * C::warp_n;
  Copies<C> copies{p, ptx::shared_address(shared)};
  Fragments<C> fragments(ptx::shared_address(shared), warp_row, warp_col);
  SharedAddress stage = 0;  // whose k-tile is multiplied
  ptx::Track<Parameters> track(p, Role::all, warp == 0);

  copies.begin_tile(order, blockIdx.x);
#pragma unroll
  for (int ahead = 0; ahead < C::ahead; ++ahead) {
#pragma unroll
    for (int step = 0; step < C::steps; ++step) copies.issue(step);
    copies.next_k_tile();
  }
  track.mark(Doing::load);
  wait_for_k_tile<C>();
  track.mark(Doing::wait_for_data);
  if (C::tricks.fragment_sets == 2) {
#pragma unroll
    for (int i = 0; i < C::mmas_m; ++i) fragments.load(0, stage, 0, i);
  }
  const int tiles_k = max(ceil_div(p.k, C::block_k), C::ahead);  // more of them than k has are zeros
  for (int index = blockIdx.x; index < order.tiles; index += gridDim.x) {
    float accumulator[C::mmas_m][C::mmas_n][4] = {};
    int k = 0;
    auto wait = [&] {
      track.mark(Doing::multiply, k);
      wait_for_k_tile<C>();
      if (k + 1 < tiles_k)
        track.mark(Doing::wait_for_data, k + 1);
      else if (index + int(gridDim.x) < order.tiles)
        track.mark_of_next_tile(Doing::wait_for_data);
      stage = C::stage_after(stage);
      copies.next_k_tile();
    };
    // During the last `ahead` k-tiles the copies are the next tile's. The outer loop avoids a second copy of
    // the unrolled body.
#pragma unroll 1
    for (int part = 0; part < 2; ++part) {
      const int end = part == 0 ? tiles_k - C::ahead : tiles_k;
      if (part == 1) copies.begin_tile(order, index + gridDim.x);
#pragma unroll 1
      for (; k < end; ++k) multiply_k_tile<C>(accumulator, fragments, copies, stage, wait);
    }
    track.mark(Doing::multiply, tiles_k - 1);
    const int2 tile = order.tile(index);
    store_tile(accumulator, p, tile.x * C::block_m + warp_row, tile.y * C::block_n + warp_col);
    track.mark(Doing::store);
    track.next_tile();
  }
  ptx::cp_async_wait_group<0>();  // no copy may land in shared memory after the CTA has left
  track.end();
}

int attribute(cudaDeviceAttr which) {  // of this GPU
  int device = 0, value = 0;
  if (cudaGetDevice(&device) == cudaSuccess) cudaDeviceGetAttribute(&value, which, device);
  return value;
}

// 163 KiB and more on GPUs for data centres, 99 KiB on others: three stages fit, or two.
template <class C>
bool fits() {
  return C::shared_bytes <= attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

template <class C, class Parameters>
cudaError_t launch_config(const Parameters& p, cudaStream_t stream) {
  const auto kernel = gemm_kernel<C, Parameters>;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error != cudaSuccess) return error;
  const TileOrder<C::tricks.group> order(ceil_div(p.m, C::block_m), ceil_div(p.n, C::block_n));
  const int sms = attribute(cudaDevAttrMultiProcessorCount);  // with registers and shared memory for one CTA
  const int ctas = C::tricks.persistent ? std::min(order.tiles, sms) : order.tiles;
  kernel<<<ctas, C::threads, C::shared_bytes, stream>>>(p, order);
  return cudaGetLastError();
}

template <Tricks tricks, class Parameters = Gemm>
cudaError_t launch(const Parameters& p, cudaStream_t stream) {
  return fits<Config<tricks, 3>>() ? launch_config<Config<tricks, 3>>(p, stream)
                                   : launch_config<Config<tricks, 2>>(p, stream);
}

template <Tricks tricks>
Text unsupported(const Gemm& p) {
  if (p.n % 8 != 0 || p.k % 8 != 0) return "n and k must be multiples of 8 (--variant any_n_k takes others)";
  if (!fits<Config<tricks, 2>>()) return "two stages do not fit into the shared memory of this GPU";
  return {};
}

template <Tricks tricks>
Variant<Gemm> variant(const char* name, const char* what) {
  return {.name = name, .what = what, .unsupported = unsupported<tricks>, .launch = launch<tricks>};
}

cudaError_t launch_traced(const Gemm& p, const Timeline& timeline, cudaStream_t stream) {
  return launch<Tricks{}>(Traced<Gemm>{p, timeline}, stream);
}

}  // namespace

Variants<Gemm> tricks() {
  return {variant<Tricks{.rows = Rows::plain}>("unswizzled", "rows as they are: 8-way bank conflicts"),
          variant<Tricks{.rows = Rows::padded}>("padded", "rows 16 bytes apart"),
          variant<Tricks{.fragment_sets = 1}>("single_buffer", "fragments are loaded, then multiplied"),
          variant<Tricks{.serpentine = false}>("straight",
                                               "every row of MMAs begins with the same fragment of B"),
          variant<Tricks{.hoisted_offsets = false}>("compiler_offsets",
                                                    "offsets in shared memory left to the compiler"),
          variant<Tricks{.group = 1}>("row_by_row", "CTA tiles in the order of rows"),
          variant<Tricks{.persistent = false}>(
              "tile_per_cta", "a CTA per tile: no MMAs hide its first copies and its epilogue")};
}

// The rung's table, with a timeline of the rung itself.
Variants<Gemm> with_timeline(Variants<Gemm> table) {
  table.back().traced = launch_traced;
  return table;
}

}  // namespace ladder::rung_06
