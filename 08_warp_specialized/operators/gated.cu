// C = act(A·Gate) ⊙ (A·B): SwiGLU and GEGLU in one pass over A. A stage of the ring buffer has 128 columns of
// B and beside them the same 128 of Gate. To the tensor cores they are one tile of 256 columns, so the
// mainloop is the rung's, and so is what an MMA and a byte of shared memory cost. A thread ends with the
// accumulators of both products for the same elements of C, and combines them in registers.
//
// Two CTAs form a cluster, one above the other: the upper one loads B and the lower one Gate, for both.
// In the order of the data: produce(), multiply() of pipeline.cuh, store().
#include <algorithm>

#include "08_warp_specialized/general/epilogue.cuh"
#include "08_warp_specialized/operators/activation.cuh"
#include "common/extension.h"
#include "common/ptx/dependent_launch.cuh"

namespace ladder::rung_08 {
namespace {

struct Multiply {  // what multiply() needs of a design
  bool first_mma_sets = true;
};

// As in gemm.cu, but for what a tile's columns are.
struct Gated {
  static constexpr Multiply design{};
  static constexpr int block_m = 128, block_k = 64, stages = 4, cluster_m = 2;
  static constexpr int block_n = 256;  // of a stage: half of them B's, half of them Gate's
  static constexpr int consumers = 2, threads = (1 + consumers) * warpgroup_size;
  static constexpr int producer_registers = 40, consumer_registers = 232;
  static constexpr int row = 128, box_cols = row / element;  // bytes, elements of a box's row
  static constexpr int box_b = block_k * row, boxes_b = block_n / box_cols, share_b = boxes_b / cluster_m;
  static constexpr int tile_a = block_m * row, tile_b = boxes_b * box_b, stage_bytes = tile_a + tile_b;
  static constexpr int box_c = 16 * row;  // a warp's 16 rows

  struct Shared {
    alignas(1024) unsigned char buffer[stages][stage_bytes];
    alignas(1024) unsigned char boxes[consumers * 4][2][box_c];
    ptx::Mbarrier full[stages], empty[stages];
  };
  static constexpr int shared_bytes = sizeof(Shared) + 1024;  // to align it
  static_assert(shared_bytes <= 227 * 1024, "what a CTA may have");
};
using C = Gated;

// C's tiles, which have half as many columns as a stage.
struct TileOfC {
  static constexpr int block_m = C::block_m, block_n = C::block_n / 2, row = C::row;
  static constexpr int cluster_m = C::cluster_m, cluster_n = 1, cluster = cluster_m, group = 8;
  static constexpr general::Order order = general::Order::supertile;
};
using Tiles = general::Tiles<TileOfC>;

struct Operands {
  CUtensorMap a, weights[2], c;  // weights: B, Gate
  int m, n, k;
};

// Global -> shared, by the producer warp, as in pipeline.cuh. What lies past the edges arrives as zeros.
__device__ void produce(C::Shared& shared, const Operands& p, Tiles tiles, int rank, int tiles_k) {
  constexpr unsigned short both_ctas = 3;
  const CUtensorMap& weights = p.weights[rank];
  Stage<C> stage;
  for (; tiles.valid(); tiles.advance()) {
    for (int t = 0; t < tiles_k; ++t) {
      const SharedAddress full = ptx::shared_address(&shared.full[stage.index]);
      const SharedAddress to_a = ptx::shared_address(shared.buffer[stage.index]), to_b = to_a + C::tile_a;
      // Until the consumers of both CTAs have read the stage, since this CTA's boxes go to both.
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[stage.index]), stage.parity ^ 1);
      if (ptx::elect_one()) {
        ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes);  // with what the peer sends
        ptx::tma_load(to_a, p.a, t * C::block_k, tiles.row(), full);
#pragma unroll
        for (int i = 0; i < C::share_b; ++i)
          ptx::tma_load_multicast(to_b + (rank * C::share_b + i) * C::box_b, weights,
                                  tiles.col() + i * C::box_cols, t * C::block_k, full, both_ctas);
      }
      __syncwarp();
      stage.advance();
    }
  }
  // The peer's consumers arrive at this CTA's barriers: it may not exit before all of its stages are empty.
  for (int s = 0; s < C::stages; ++s) {
    ptx::mbarrier_wait(ptx::shared_address(&shared.empty[stage.index]), stage.parity ^ 1);
    stage.advance();
  }
}

struct Unscaled {
  __device__ float scaled(float x, int, int) const { return x; }
};

// Registers -> shared -> C, by a warp: its 16 rows, of which TMA does not store what lies past the edges of
// C. It fills one box while TMA reads the other.
__device__ void store(const float (&c)[TileOfC::block_n / 8][4], unsigned char (&boxes)[2][C::box_c],
                      int& next_box, const CUtensorMap& map, int row, int col) {
  const Unscaled unscaled;
  const bool first_lane = threadIdx.x % warp_size == 0;
#pragma unroll
  for (int box = 0; box < TileOfC::block_n / C::box_cols; ++box) {
    const SharedAddress to = ptx::shared_address(boxes[next_box]);
    if (first_lane) ptx::bulk_wait_group_read<1>();  // all copies but the newest, which is the other box's
    __syncwarp();
    general::store_box<TileOfC>(c, 0, box, unscaled, to);
    ptx::fence_proxy_async();  // threads have written, TMA will read
    __syncwarp();              // the box is complete
    if (first_lane) {
      ptx::tma_store(map, col + box * C::box_cols, row, to);
      ptx::bulk_commit_group();
    }
    next_box ^= 1;
  }
}

template <class Activation>
__device__ void consume(C::Shared& shared, const Operands& p, Tiles tiles, int tiles_k, int warp) {
  constexpr int groups = TileOfC::block_n / 8;  // of 8 columns
  const Activation activation;
  ptx::Track<Operands> track(p, Role::consumer, false);
  Stage<C> stage;
  int next_box = 0;
  for (; tiles.valid(); tiles.advance()) {
    float products[2 * groups][4], c[groups][4];  // A·B, then A·Gate
    multiply<C>(products, shared, warp / 4, tiles_k, stage, track);
#pragma unroll
    for (int j = 0; j < groups; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) c[j][i] = activation(products[groups + j][i]) * products[j][i];
    store(c, shared.boxes[warp], next_box, p.c, tiles.row() + warp * 16, tiles.col());
  }
  if (threadIdx.x % warp_size == 0) ptx::bulk_wait_group_read<0>();  // shared memory must outlive the reads
}

template <class Activation>
__global__ void __launch_bounds__(C::threads, 1) gated_kernel(const __grid_constant__ Operands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared =
      *reinterpret_cast<C::Shared*>(unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0), rank = ptx::cluster_rank();
  const Tiles tiles(p.m, p.n, rank);
  if (threadIdx.x == 0) {
    for (const CUtensorMap* map : {&p.a, &p.weights[rank]}) ptx::prefetch_tensor_map(*map);
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(ptx::shared_address(&shared.full[s]), 1);
      ptx::mbarrier_init(ptx::shared_address(&shared.empty[s]), C::cluster_m * C::consumers * 4);
    }
    ptx::fence_mbarrier_init();
  }
  ptx::cluster_sync_relaxed();  // both CTAs' barriers are initialised before one arrives or sends
  const int tiles_k = ceil_div(p.k, C::block_k);
  if (warp < 4) {
    ptx::give_back_registers<C::producer_registers>();
    if (warp == 0) produce(shared, p, tiles, rank, tiles_k);
  } else {
    ptx::take_registers<C::consumer_registers>();
    consume<Activation>(shared, p, tiles, tiles_k, warp - 4);
  }
}

template <class Activation>
cudaError_t launch(const Linear& p, cudaStream_t stream) {
  constexpr auto swizzle = Swizzle::bytes128;
  const auto kernel = gated_kernel<Activation>;
  Operands operands{};
  operands.m = p.m;
  operands.n = p.n;
  operands.k = p.k;
  cudaError_t error = ptx::make_tensor_map(&operands.a, p.a, p.m, p.k, C::block_m, C::box_cols, swizzle);
  for (int i = 0; i < 2 && error == cudaSuccess; ++i)
    error = ptx::make_tensor_map(&operands.weights[i], i == 0 ? p.b : p.gate, p.k, p.n, C::block_k,
                                 C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.c, p.c, p.m, p.n, 16, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error != cudaSuccess) return error;

  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {C::cluster_m, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = C::cluster_m;
  config.blockDim = C::threads;
  config.dynamicSmemBytes = C::shared_bytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int at_once = 0;  // not always SMs / 2: the CTAs of a cluster share a GPC
  error = cudaOccupancyMaxActiveClusters(&at_once, kernel, &config);
  if (error != cudaSuccess) return error;
  const long long clusters = 1ll * ceil_div(p.m, C::block_m * C::cluster_m) * ceil_div(p.n, TileOfC::block_n);
  config.gridDim = unsigned(std::min<long long>(at_once, clusters)) * C::cluster_m;
  return cudaLaunchKernelEx(&config, kernel, operands);
}

Text rows_of_vectors(const Linear& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8";
}

constexpr Extension<Linear> computes_geglu{.epilogue = Epilogue::geglu};
constexpr Extension<Linear> computes_swiglu{.epilogue = Epilogue::swiglu};

}  // namespace

Variants<Linear> linear_gated() {
  return {{.name = "geglu",
           .what = "gelu(A·Gate) ⊙ (A·B), one pass over A",
           .unsupported = rows_of_vectors,
           .launch = launch<Gelu>,
           .extension = &computes_geglu},
          {.name = "swiglu",
           .what = "silu(A·Gate) ⊙ (A·B), one pass over A",
           .unsupported = rows_of_vectors,
           .launch = launch<Silu>,
           .extension = &computes_swiglu}};
}

}  // namespace ladder::rung_08
