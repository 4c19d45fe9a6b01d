// The norm disappears. Its scale is a factor of a row of C, gamma a factor of a row of W: what is left in
// front of the product is the sum h = x + residual and each row's sum of squares, which one kernel computes.
// The other is the rung's gemm, whose epilogue has a row of C in each thread, and multiplies it by one
// number.
#include "09_tcgen05/launch.h"
#include "09_tcgen05/tiles.cuh"
#include "common/extension.h"
#include "common/ptx/elect.cuh"
#include "common/ptx/tcgen05.cuh"
#include "common/rows/norm.cuh"

namespace ladder::rung_09 {
namespace {

using ptx::SharedAddress;
using ptx::SharedMatrix;
using ptx::Swizzle;
using ptx::TensorAddress;

// In the workspace: W', and where the rows' sums of squares begin, in bytes.
std::size_t squares_at(const NormGemm& p) {
  return (std::size_t(p.cols) * p.n * sizeof(__nv_bfloat16) + 255) / 256 * 256;
}
float* squares_of(const NormGemm& p) {
  return reinterpret_cast<float*>(static_cast<unsigned char*>(p.workspace) + squares_at(p));
}
std::size_t workspace_bytes(const NormGemm& p) {
  return squares_at(p) + p.rows * sizeof(float);
}

// W' = gamma · W, one thread for 8 columns of one row.
constexpr int fold_threads = 256;
__global__ void __launch_bounds__(fold_threads) fold_kernel(NormGemm p) {
  const std::size_t row_vectors = p.n / vector, i = std::size_t(blockIdx.x) * fold_threads + threadIdx.x;
  if (i >= row_vectors * p.cols) return;
  const float gamma = __bfloat162float(p.gamma[i / row_vectors]);
  auto scaled = [&](unsigned pair) { return pack(low_half(pair) * gamma, high_half(pair) * gamma); };
  const uint4 w = load(p.w + i * vector);
  store(static_cast<__nv_bfloat16*>(p.workspace) + i * vector,
        make_uint4(scaled(w.x), scaled(w.y), scaled(w.z), scaled(w.w)));
}

cudaError_t fold_gamma(const NormGemm& p, cudaStream_t stream) {
  const std::size_t vectors = std::size_t(p.cols) * p.n / vector;
  fold_kernel<<<unsigned((vectors + fold_threads - 1) / fold_threads), fold_threads, 0, stream>>>(p);
  return cudaGetLastError();
}

// h = x + residual and the row's sum of squares, by one CTA. All loads of a batch are under way before the
// first is used.
constexpr int add_threads = 256;
__global__ void __launch_bounds__(add_threads) add_kernel(NormGemm p, float* squares_of_rows) {
  __shared__ float partial[add_threads / warp_size];
  constexpr int batch = 2;
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  const int row_vectors = p.cols / vector;
  float squares = 0;
  for (int first = threadIdx.x; first < row_vectors; first += batch * add_threads) {
    uint4 x[batch] = {}, residual[batch] = {};
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      if (first + i * add_threads >= row_vectors) continue;
      x[i] = load(p.x + start + (first + i * add_threads) * vector);
      residual[i] = load(p.residual + start + (first + i * add_threads) * vector);
    }
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      const uint4 h = add_vector(x[i], residual[i], squares);
      if (first + i * add_threads < row_vectors) store(p.h + start + (first + i * add_threads) * vector, h);
    }
  }
  squares = warp_sum(squares);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  if (lane == 0) partial[warp] = squares;
  __syncthreads();  // partial[] is complete
  if (warp == 0) {
    squares = warp_sum(lane < add_threads / warp_size ? partial[lane] : 0);
    if (lane == 0) squares_of_rows[blockIdx.x] = squares;
  }
}

constexpr int element = sizeof(__nv_bfloat16), mma_k = 16;  // bytes; elements of k in an MMA
constexpr unsigned short both_ctas = 3;                     // of the CTA pair, as a mask

// The rung's, as ../gemm.cu explains it; and so is the rest, but for the rows' scales.
struct Config {
  static constexpr Schedule schedule = Schedule::launch_control;
  static constexpr int ctas = 2, stages = 6;
  static constexpr int group_m = 8;  // rows of tiles that neighbouring clusters share
  // The CTA pair's tile of C. A CTA has half of its rows, and loads these of A and half of B's columns.
  static constexpr int tile_m = 256, tile_n = 256, block_m = tile_m / ctas, block_n = tile_n / ctas;
  static constexpr int block_k = 64;
  using Mma = ptx::MmaDescriptor<ctas, ptx::MmaKind::f16, tile_m, tile_n, ptx::Major::k, ptx::Major::mn>;

  // A is one box; B, whose rows run along n, is boxes of block_k rows and 64 columns.
  static constexpr int row = 128, box_cols = row / element;  // bytes, elements of a box's row
  static constexpr int box_b = block_k * row, boxes_b = block_n / box_cols;
  static constexpr int tile_a = block_m * row, tile_b = boxes_b * box_b, stage_bytes = tile_a + tile_b;

  // Tensor memory has 512 columns: the accumulators of two tiles fill it.
  static constexpr int accumulators = 2, columns = accumulators * tile_n;

  static constexpr int epilogue_first = 4, epilogue_warps = 4;
  static constexpr int threads = (epilogue_first + epilogue_warps) * warp_size;
  static constexpr int box_c = warp_size * row;  // bytes that a warp stores at once: 32 rows of 64 columns

  struct Shared {
    alignas(1024) unsigned char buffer[stages][stage_bytes];  // 1024: where the swizzle's pattern repeats
    alignas(1024) unsigned char boxes[epilogue_warps][2][box_c];
    ptx::Mbarrier full[stages], empty[stages];
    ptx::Mbarrier accumulator_full[accumulators], accumulator_empty[accumulators];
    Responses responses;
    TensorAddress tensor_memory;
  };
  static constexpr int shared_bytes = sizeof(Shared) + 1024;  // to align it
  static_assert(shared_bytes <= 227 * 1024, "the most that a CTA can have");
  static_assert(block_k == box_cols, "A's tile is one box");
};
using C = Config;

struct Operands {
  CUtensorMap a{}, b{}, c{};
  int m, n, k, tiles_k;
  const float* squares;  // of the rows of A, each the sum over its k elements
  float eps;
};

// What a row of C is multiplied by.
__device__ float row_scale(const Operands& p, int at) {
  return at < p.m ? rsqrtf(p.squares[at] / float(p.k) + p.eps) : 0;
}

// Global -> shared, by one thread of each CTA. It runs ahead of the MMAs, also from tile to tile, as far as
// there are stages. The CTA of rank 0 is the leader of the pair: it issues the MMAs of both.
__device__ void load(C::Shared& shared, const Operands& p, int rank, Tiles<C> tiles) {
  Stage<C::stages> stage;
  for (; tiles.valid(); tiles.advance()) {
    const int m = tiles.row() + rank * C::block_m, n = tiles.col() + rank * C::block_n;
    for (int t = 0; t < p.tiles_k; ++t, stage.advance()) {
      const SharedAddress full = stage.of(shared.full), leader_full = ptx::cluster_address(full, 0);
      const SharedAddress to_a = stage.of(shared.buffer), to_b = to_a + C::tile_a;
      // Parity 1 first: the phase before the first counts as complete, so the stages start out empty.
      ptx::mbarrier_wait(stage.of(shared.empty), stage.parity ^ 1);
      // The leader's barrier counts the bytes of both CTAs. The peer's may arrive before this: its stage is
      // empty only after the last phase was complete, so they count for this one, which awaits the arrival.
      if (rank == 0) ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes * C::ctas);
      const int k = t * C::block_k;
      ptx::tma_load_of_cta_pair(to_a, p.a, k, m, leader_full);
#pragma unroll
      for (int box = 0; box < C::boxes_b; ++box)
        ptx::tma_load_of_cta_pair(to_b + box * C::box_b, p.b, n + box * C::box_cols, k, leader_full);
    }
  }
  // The CTA may not exit before the last commits have arrived at its barriers: until all stages are empty.
  for (int s = 0; s < C::stages; ++s, stage.advance())
    ptx::mbarrier_wait(stage.of(shared.empty), stage.parity ^ 1);
}

// Shared -> accumulators in tensor memory, by one thread of the leader for both CTAs.
__device__ void multiply(C::Shared& shared, const Operands& p, TensorAddress memory, Tiles<C> tiles) {
  Stage<C::stages> stage;
  Stage<C::accumulators> accumulator;
  for (; tiles.valid(); tiles.advance(), accumulator.advance()) {
    // Parity 1 first: the accumulators start out empty.
    ptx::mbarrier_wait(accumulator.of(shared.accumulator_empty), accumulator.parity ^ 1);
    ptx::tcgen05_fence_after();  // orders the MMAs after the wait
    const TensorAddress to = memory + accumulator.index * C::tile_n;
    for (int t = 0; t < p.tiles_k; ++t, stage.advance()) {
      ptx::mbarrier_wait(stage.of(shared.full), stage.parity);
      ptx::tcgen05_fence_after();
      const SharedAddress from_a = stage.of(shared.buffer), from_b = from_a + C::tile_a;
      const SharedMatrix a(from_a, 0, 8 * C::row, Swizzle::bytes128);
      const SharedMatrix b(from_b, C::box_b, 8 * C::row, Swizzle::bytes128);
      // A is k-major and B n-major, as on rung 07.
#pragma unroll
      for (int k0 = 0; k0 < C::block_k; k0 += mma_k)
        ptx::tcgen05_mma<C::ctas, ptx::MmaKind::f16>(to, a + k0 * element, b + k0 * C::row, C::Mma::bits,
                                                     t > 0 || k0 > 0);
      ptx::tcgen05_commit<C::ctas>(stage.of(shared.empty), both_ctas);
    }
    ptx::tcgen05_commit<C::ctas>(accumulator.of(shared.accumulator_full), both_ctas);
  }
}

// A row of 64 columns, times its scale and in bf16, to its place in a box of C: 16-byte chunks, swizzled as
// TMA expects them.
__device__ void store_row(unsigned char* box, int at, const float (&values)[2][32], float scale) {
  constexpr int row = 64 * element;  // bytes
#pragma unroll
  for (int chunk = 0; chunk < 8; ++chunk) {
    uint4 bits;
    unsigned* const words = &bits.x;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const int j = chunk * 8 + w * 2;
      const __nv_bfloat162 pair =
          __floats2bfloat162_rn(values[j / 32][j % 32] * scale, values[j / 32][j % 32 + 1] * scale);
      words[w] = reinterpret_cast<const unsigned&>(pair);
    }
    *reinterpret_cast<uint4*>(box + at * row + (chunk ^ at % 8) * 16) = bits;
  }
}

// Accumulators -> registers, times the row's scale -> shared -> C, by four warps. A warp reaches 32 lanes of
// tensor memory, 32 rows of the tile, one for each thread. It stores them 64 columns at a time through two
// boxes in turn: while TMA reads one, the warp fills the other. The last stores of a tile are still under way
// when the next tile begins.
__device__ void epilogue(C::Shared& shared, const Operands& p, int rank, TensorAddress memory,
                         Tiles<C> tiles) {
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size % C::epilogue_warps;
  auto(&boxes)[2][C::box_c] = shared.boxes[warp];
  Stage<C::accumulators> accumulator;
  int next_box = 0;
  auto broadcast = [](int value) { return __shfl_sync(~0u, value, 0); };  // lane 0 walks through the tiles
  while (broadcast(tiles.valid())) {
    const int tile_row = broadcast(tiles.row()) + rank * C::block_m + warp * warp_size;
    const int tile_col = broadcast(tiles.col());
    const float scale = row_scale(p, tile_row + lane);
    ptx::mbarrier_wait(accumulator.of(shared.accumulator_full), accumulator.parity);
    ptx::tcgen05_fence_after();  // orders the loads after the wait
    const TensorAddress from = memory + (warp * warp_size << 16) + accumulator.index * C::tile_n;
    for (int col = 0; col < C::tile_n; col += C::box_cols) {
      float values[2][32];
      ptx::tcgen05_load(values[0], from + col);
      ptx::tcgen05_load(values[1], from + col + 32);
      ptx::tcgen05_wait_load(values);
      if (col + C::box_cols == C::tile_n) {
        ptx::tcgen05_fence_before();  // orders the loads before the arrival
        __syncwarp();                 // the whole warp has read the accumulator
        if (lane == 0) ptx::mbarrier_arrive(accumulator.of(shared.accumulator_empty), 0);
      }

      if (lane == 0) ptx::bulk_wait_group_read<1>();
      __syncwarp();  // TMA has read this box
      store_row(boxes[next_box], lane, values, scale);
      ptx::fence_proxy_async();  // threads have written, TMA will read
      __syncwarp();              // the box is complete
      if (lane == 0) {
        ptx::tma_store(p.c, tile_col + col, tile_row, ptx::shared_address(boxes[next_box]));
        ptx::bulk_commit_group();
      }
      next_box ^= 1;
    }
    if (lane == 0) tiles.advance();
    accumulator.advance();
  }
  if (lane == 0) ptx::bulk_wait_group_read<0>();  // shared memory lives until then
}

__global__ void __launch_bounds__(C::threads, 1) gemm_kernel(const __grid_constant__ Operands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared =
      *reinterpret_cast<C::Shared*>(unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  // The shuffle tells the compiler that all threads of the warp have the same value.
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0), rank = ptx::cluster_rank();

  if (warp == C::epilogue_first && ptx::elect_one()) {
    ptx::prefetch_tensor_map(p.a);
    ptx::prefetch_tensor_map(p.b);
    ptx::prefetch_tensor_map(p.c);
    init_barriers(shared.full, 1);   // one arrival, and the bytes
    init_barriers(shared.empty, 1);  // one commit
    init_barriers(shared.accumulator_full, 1);
    init_barriers(shared.accumulator_empty, C::epilogue_warps * C::ctas);
    init_barriers(shared.responses.full, 1);
    // The warps that load and store in each CTA, and the one that multiplies.
    init_barriers(shared.responses.empty, (1 + C::epilogue_warps) * C::ctas + 1);
    ptx::fence_mbarrier_init();
  }
  // Its constructor has a barrier of the cluster, behind which both CTAs' mbarriers are initialised; so has
  // its destructor, behind which no CTA accesses its peer.
  const ptx::TensorMemory<C::ctas, C::columns> memory(shared.tensor_memory);
  const Tiles<C> tiles(ceil_div(p.m, C::tile_m), ceil_div(p.n, C::tile_n), shared.responses);

  if (warp == 0) {
    if (ptx::elect_one()) load(shared, p, rank, tiles);
  } else if (warp == 1) {
    if (rank == 0 && ptx::elect_one()) multiply(shared, p, memory.address(), tiles);
  } else if (warp == 2) {
    if (rank == 0 && ptx::elect_one()) schedule<C>(shared.responses);
  } else if (warp >= C::epilogue_first) {
    epilogue(shared, p, rank, memory.address(), tiles);
  }
}

// C = row scale · (h · W').
cudaError_t launch_product(const NormGemm& p, cudaStream_t stream) {
  Operands operands{.m = p.rows,
                    .n = p.n,
                    .k = p.cols,
                    .tiles_k = ceil_div(p.cols, C::block_k),
                    .squares = squares_of(p),
                    .eps = p.eps};
  const auto* w = static_cast<const __nv_bfloat16*>(p.workspace);
  constexpr Swizzle swizzle = Swizzle::bytes128;
  cudaError_t error =
      ptx::make_tensor_map(&operands.a, p.h, p.rows, p.cols, C::block_m, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.b, w, p.cols, p.n, C::block_k, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.c, p.c, p.rows, p.n, warp_size, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error != cudaSuccess) return error;

  const Launch config(ceil_div(p.rows, C::tile_m) * ceil_div(p.n, C::tile_n), C::ctas, C::threads,
                      C::shared_bytes, stream);
  return cudaLaunchKernelEx(&config.config, gemm_kernel, operands);
}

cudaError_t launch(const NormGemm& p, cudaStream_t stream) {
  add_kernel<<<p.rows, add_threads, 0, stream>>>(p, squares_of(p));
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? launch_product(p, stream) : error;
}

Text rows_of_vectors(const NormGemm& p) {
  if (p.n % vector == 0 && p.cols % vector == 0) return {};
  return "n and cols must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}

constexpr Extension<NormGemm> folded{.workspace_bytes = workspace_bytes, .prepare = fold_gamma};

}  // namespace

Variants<NormGemm> norm_gemm() {
  return {{.name = "row_scales",
           .what = "h and its squares, then a product that scales rows",
           .unsupported = rows_of_vectors,
           .launch = launch,
           .extension = &folded}};
}

}  // namespace ladder::rung_09
