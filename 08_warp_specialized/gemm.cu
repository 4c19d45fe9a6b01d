// Warps with different work. A producer warp issues the TMA loads, two consumer warpgroups issue the MMAs and
// store C, and each has the registers that its work needs. The CTAs are persistent: while the consumers store
// one tile of C, the producer already loads the next one's operands. Two CTAs form a cluster, with their
// tiles below each other: each loads half of their columns of B, and multicast delivers it to both.
#include <algorithm>

#include "08_warp_specialized/pipeline.cuh"
#include "common/extension.h"
#include "common/ptx/dependent_launch.cuh"
#include "common/ptx/ldmatrix.cuh"

namespace ladder::rung_08 {
namespace {

// The rung as it stands; an ablation changes a field.
struct Design {
  int stages = 4;
  int cluster_m = 2;            // CTAs of a cluster: they lie below each other and share B
  int group = 8;                // rows of clusters that neighbouring clusters share
  bool persistent = true;       // as many CTAs as run at once, instead of one for each tile
  bool move_registers = true;   // from the producer's warpgroup to the consumers'
  bool first_mma_sets = true;   // the accumulator, instead of adding to zeros
  bool relaxed_cluster = true;  // cluster barriers that do not order memory
  bool early_start = true;      // while the grid before still runs
};

// Shared memory of a CTA: 227 KiB at most.
template <Design d>
struct Config {
  static constexpr Design design = d;
  static constexpr int block_m = 128, block_n = 256, block_k = 64, stages = d.stages, cluster_m = d.cluster_m;
  static constexpr int consumers = block_m / mma_m, threads = (1 + consumers) * warpgroup_size;
  // Of the SM's 65536 registers each of 384 threads has 168 at the launch.
  static constexpr int producer_registers = 40, consumer_registers = 232;
  static constexpr int row = 128;  // bytes of a box's row, and of the swizzle
  static constexpr int box_b = block_k * row, boxes_b = block_n * element / row;
  static constexpr int boxes_each = boxes_b / cluster_m;  // of B, that each CTA of the cluster loads for all
  static constexpr int tile_a = block_m * row, tile_b = boxes_b * box_b, stage_bytes = tile_a + tile_b;
  static constexpr int box_c = 16 * row;  // what a warp stores at once: 16 rows of 64 columns
  static constexpr int group = d.group;

  struct Shared {
    alignas(1024) unsigned char ring[stages][stage_bytes];  // where the pattern of the swizzle repeats
    alignas(1024) unsigned char of_warp[consumers * 4][2][box_c];
    ptx::Mbarrier full[stages], empty[stages];
  };
  static_assert(block_k * element == row, "a box of A is as wide as the k-tile");
  static_assert(boxes_b % cluster_m == 0, "the CTAs of a cluster load equally many boxes of B");
  static_assert(producer_registers + consumers * consumer_registers <= (1 + consumers) * 168,
                "the consumers take what the producer gives back");
};

struct TensorMaps {
  CUtensorMap a, b, c;
};

// The tiles of C that a CTA computes, one after the other. The order of the clusters' tiles is that of rung
// 06: down `group` rows of them, then on to the next column.
template <class C>
struct Tiles {
  int clusters_m, tiles_n, rank;  // rank: of the CTA in its cluster, from the top

  __device__ static int first() { return int(blockIdx.x) / C::cluster_m; }
  __device__ static int step() { return int(gridDim.x) / C::cluster_m; }
  __device__ int end() const { return clusters_m * tiles_n; }
  __device__ int2 row_and_col(int index) const {  // of the tile's first element
    const int per_group = C::group * tiles_n, above = index / per_group * C::group;
    const int rows = min(clusters_m - above, C::group), i = index % per_group;
    return make_int2(((above + i % rows) * C::cluster_m + rank) * C::block_m, i / rows * C::block_n);
  }
};

// Accumulator -> shared -> C, in bf16, by a warp: its 16 rows, in boxes of 64 columns, through two buffers in
// turn: while TMA reads one, the warp fills the other. It does not wait for the last two before the next
// tile. The boxes are swizzled: stmatrix fills them without bank conflicts. TMA stores what lies inside of C.
template <class C>
__device__ void store(const float (&accumulator)[C::block_n / 8][4], unsigned char (&buffers)[2][C::box_c],
                      const CUtensorMap& map_c, int row0, int col0, int& buffer) {
  const int lane = threadIdx.x % 32, row = lane % 16;
#pragma unroll
  for (int box = 0; box < C::block_n / 64; ++box) {
    const SharedAddress to = ptx::shared_address(buffers[buffer]);
    // Of this lane's stores all but the newest have read their buffer: that one is the other buffer's.
    if (lane == 0) ptx::bulk_wait_group_read<1>();
    __syncwarp();
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
      unsigned both[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&from)[4] = accumulator[box * 8 + j + i / 2];
        const __nv_bfloat162 pair = __floats2bfloat162_rn(from[i % 2 * 2], from[i % 2 * 2 + 1]);
        both[i] = reinterpret_cast<const unsigned&>(pair);
      }
      const int chunk = j + lane / 16;
      ptx::stmatrix_x4(to + row * C::row + (chunk ^ row % 8) * 16, both);
    }
    ptx::fence_proxy_async();  // TMA reads through another proxy what each lane has written
    __syncwarp();
    if (lane == 0) {
      ptx::tma_store(map_c, col0 + box * 64, row0, to);
      ptx::bulk_commit_group();
    }
    buffer ^= 1;
  }
}

// The tiles of a CTA, by a consumer warpgroup: `warp` counts the consumers' warps, each of which stores 16
// rows. A warpgroup cannot issue MMAs while it runs its epilogue; the loads of its next tile run meanwhile.
template <class C, class Maps>
__device__ void consume(typename C::Shared& shared, const Maps& maps, const Tiles<C>& tiles, int tiles_k,
                        int warp) {
  ptx::Track<Maps> track(maps, Role::consumer, warp % 4 == 0);  // a warp of each warpgroup
  Stage<C> stage;
  int buffer = 0;
  for (int i = tiles.first(); i < tiles.end(); i += tiles.step()) {
    const int2 tile = tiles.row_and_col(i);
    float accumulator[C::block_n / 8][4];
    multiply<C>(accumulator, shared, warp / 4, tiles_k, stage, track);
    store<C>(accumulator, shared.of_warp[warp], maps.c, tile.x + warp * 16, tile.y, buffer);
    track.mark(Doing::store);
    track.next_tile();
  }
  track.end();
  if (threadIdx.x % 32 == 0) ptx::bulk_wait_group_read<0>();  // shared memory lives until then
}

template <class C, class Maps>
__global__ void __launch_bounds__(C::threads, 1)
    gemm_kernel(const __grid_constant__ Maps maps, int m, int n, int k) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / 32, 0);  // so the compiler knows that lanes agree
  const int rank = C::cluster_m > 1 ? ptx::cluster_rank() : 0;
  const Tiles<C> tiles{ceil_div(m, C::block_m * C::cluster_m), ceil_div(n, C::block_n), rank};

  if (threadIdx.x == 0) {
    ptx::prefetch_tensor_map(maps.a);
    ptx::prefetch_tensor_map(maps.b);
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(ptx::shared_address(&shared.full[s]), 1);
      ptx::mbarrier_init(ptx::shared_address(&shared.empty[s]), C::cluster_m * C::consumers * 4);
    }
    ptx::fence_mbarrier_init();
  }
  // The barriers of all CTAs of the cluster exist before a CTA arrives or multicasts to another.
  if constexpr (C::cluster_m == 1) {
    __syncthreads();
  } else if constexpr (C::design.relaxed_cluster) {
    ptx::cluster_sync_relaxed();
  } else {
    ptx::cluster_sync();
  }
  if constexpr (C::design.early_start) {
    ptx::let_next_grid_start();
    ptx::wait_for_previous_grid();  // it may have written A and B, and read C
  }

  if (warp < 4) {  // the producer's warpgroup: setmaxnreg is for all four warps, but one has work
    if constexpr (C::design.move_registers) ptx::give_back_registers<C::producer_registers>();
    if (warp == 0) produce<C>(shared, maps, tiles, ceil_div(k, C::block_k));
  } else {
    if constexpr (C::design.move_registers) ptx::take_registers<C::consumer_registers>();
    consume<C>(shared, maps, tiles, ceil_div(k, C::block_k), warp - 4);
  }
  if constexpr (C::cluster_m > 1 && !C::design.relaxed_cluster) ptx::cluster_sync();
}

template <Design d, class Maps>
cudaError_t launch(const Gemm& p, cudaStream_t stream, Maps maps) {
  using C = Config<d>;
  constexpr int shared_bytes = sizeof(typename C::Shared) + 1024;  // to align it
  static_assert(shared_bytes <= 227 * 1024, "what a CTA may have");
  auto* kernel = gemm_kernel<C, Maps>;
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.a, p.a, p.m, p.k, C::block_m, C::block_k, Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.b, p.b, p.k, p.n, C::block_k, C::row / element, Swizzle::bytes128);
  if (error == cudaSuccess) error = ptx::make_tensor_map(&maps.c, p.c, p.m, p.n, 16, 64, Swizzle::bytes128);
  if (error != cudaSuccess) return error;

  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {C::cluster_m, 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = C::cluster_m;
  config.blockDim = C::threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = d.early_start ? 2 : 1;
  int at_once = 0;  // not always SMs / cluster: the CTAs of a cluster share a GPC
  error = cudaOccupancyMaxActiveClusters(&at_once, kernel, &config);
  if (error != cudaSuccess) return error;
  const long long clusters = 1ll * ceil_div(p.m, C::block_m * C::cluster_m) * ceil_div(p.n, C::block_n);
  config.gridDim = unsigned(d.persistent ? std::min<long long>(at_once, clusters) : clusters) * C::cluster_m;
  return cudaLaunchKernelEx(&config, kernel, maps, p.m, p.n, p.k);
}

template <Design d>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  return launch<d>(p, stream, TensorMaps{});
}
cudaError_t launch_traced(const Gemm& p, const Timeline& timeline, cudaStream_t stream) {
  return launch<Design{}>(p, stream, Traced<TensorMaps>{{}, timeline});
}

}  // namespace

std::string rows_of_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}

cudaError_t launch_128x256(const Gemm& p, cudaStream_t stream) {
  return launch<Design{}>(p, stream);
}

Variants<Gemm> gemm() {
  static constexpr Extension<Gemm> timeline{.traced = launch_traced};
  Variants<Gemm> variants = {
      {.name = "no_cluster",
       .what = "every CTA loads all of its B itself",
       .launch = launch<Design{.cluster_m = 1, .group = 16}>},
      {.name = "cluster_barriers",
       .what = "barriers of the whole cluster that order all memory, before and after",
       .launch = launch<Design{.relaxed_cluster = false}>},
      {.name = "2_stages", .what = "two stages", .launch = launch<Design{.stages = 2}>},
      {.name = "3_stages", .what = "three stages", .launch = launch<Design{.stages = 3}>},
      {.name = "row_by_row", .what = "tiles in the order of rows", .launch = launch<Design{.group = 1}>},
      {.name = "one_tile_each", .what = "a CTA for each tile", .launch = launch<Design{.persistent = false}>},
      {.name = "even_registers",
       .what = "168 registers for every thread",
       .launch = launch<Design{.move_registers = false}>},
      {.name = "add_to_zeros",
       .what = "accumulator cleared by threads, not by the first wgmma",
       .launch = launch<Design{.first_mma_sets = false}>},
      {.name = "late_start",
       .what = "a grid starts when the one before has ended",
       .launch = launch<Design{.early_start = false}>},
      {.name = "128x256",
       .what = "128x256 tiles, four stages, pairs of CTAs share B: the rung at large sizes",
       .launch = launch<Design{}>,
       .extension = &timeline}};
  for (Variant<Gemm>& variant : variants) variant.unsupported = rows_of_vectors;
  return variants;
}

}  // namespace ladder::rung_08
