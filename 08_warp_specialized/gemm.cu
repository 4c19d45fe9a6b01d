// Warps with different work. A producer warp issues the TMA loads, two consumer warpgroups issue the MMAs and
// store C, and each has the registers that its work needs. The CTAs are persistent: while the consumers store
// one tile of C, the producer already loads the next one's operands. Two CTAs form a cluster, with their
// tiles one above the other: each loads half of their columns of B, and multicast delivers it to both.
//
// In the order of the data: produce() and multiply() of pipeline.cuh, store_accumulator(), and the kernel
// that gives them to its warps.
#include <algorithm>

#include "08_warp_specialized/pipeline.cuh"
#include "common/ptx/ldmatrix.cuh"
#include "common/rung.h"

namespace ladder::rung_08 {
namespace {

// The rung as it stands; an ablation changes a field.
struct Design {
  int stages = 4;
  int cluster_m = 2;            // CTAs of a cluster: they lie one above the other and share B
  int group_m = 8;              // rows of cluster tiles that neighbouring clusters share
  bool persistent = true;       // as many CTAs as run at once, instead of one for each tile
  bool move_registers = true;   // from the producer's warpgroup to the consumers'
  bool first_mma_sets = true;   // the accumulator, instead of adding to zeros
  bool relaxed_cluster = true;  // cluster barriers that do not order memory
};

template <Design d>
struct Config {
  static constexpr Design design = d;
  static constexpr int block_m = 128, block_n = 256, block_k = 64, stages = d.stages;
  static constexpr int cluster_m = d.cluster_m, group_m = d.group_m;
  static constexpr int consumers = block_m / mma_m, threads = (1 + consumers) * warpgroup_size;
  // At the launch each of the 384 threads has 168 of the SM's 65536 registers.
  static constexpr int producer_registers = 40, consumer_registers = 232;
  static constexpr int row = 128, box_cols = row / element;  // bytes, elements of a box's row
  static constexpr int box_b = block_k * row, boxes_b = block_n / box_cols;
  static constexpr int share_b = boxes_b / cluster_m;  // boxes that each CTA of a cluster loads, for all
  static constexpr int tile_a = block_m * row, tile_b = boxes_b * box_b, stage_bytes = tile_a + tile_b;
  static constexpr int box_c = 16 * row;  // a warp's 16 rows

  struct Shared {                                             // 227 KiB at most
    alignas(1024) unsigned char buffer[stages][stage_bytes];  // the swizzle's pattern is 1024 bytes
    alignas(1024) unsigned char boxes[consumers * 4][2][box_c];
    ptx::Mbarrier full[stages], empty[stages];
  };
  static_assert(block_k == box_cols, "A's tile is one box");
  static_assert(boxes_b % cluster_m == 0, "the CTAs of a cluster load equally many boxes of B");
  static_assert(producer_registers + consumers * consumer_registers <= (1 + consumers) * 168,
                "the consumers take what the producer gives back");
};

struct TensorMaps {
  CUtensorMap a, b, c;
};

// The tiles of C that a CTA computes, one after the other. A cluster's tiles come in the order of rung 06's
// CTA tiles: down `group_m` rows of them, then on to the next column.
template <class C>
struct Tiles {
  const int clusters_m, tiles_n, rank;  // rank: of the CTA in its cluster, from the top
  int index = int(blockIdx.x) / C::cluster_m, row = 0, col = 0;  // of the tile, and of its first element

  __device__ Tiles(int m, int n, int rank_of_cta)
      : clusters_m(ceil_div(m, C::block_m * C::cluster_m)),
        tiles_n(ceil_div(n, C::block_n)),
        rank(rank_of_cta) {
    find();
  }
  __device__ bool valid() const { return index < clusters_m * tiles_n; }
  __device__ void advance() {
    index += int(gridDim.x) / C::cluster_m;
    find();
  }

 private:
  __device__ void find() {
    if (!valid()) return;
    const int per_group = C::group_m * tiles_n, above = index / per_group * C::group_m;
    const int rows = min(clusters_m - above, C::group_m), i = index % per_group;
    row = ((above + i % rows) * C::cluster_m + rank) * C::block_m;
    col = i / rows * C::block_n;
  }
};

// The epilogue of a warp: its 16 rows of accumulators, in bf16, to `row`, `col` of C. They pass through
// shared memory in boxes of 64 columns, swizzled so that stmatrix has no bank conflicts; TMA does not store
// what lies past the edges of C. The warp has two boxes and uses them in turn: it fills one while TMA reads
// the other, and does not wait for the last two before its next tile.
template <class C>
__device__ void store_accumulator(const float (&accumulator)[C::block_n / 8][4],
                                  unsigned char (&boxes)[2][C::box_c], int& next_box, const CUtensorMap& c,
                                  int row, int col) {
  const int lane = threadIdx.x % warp_size, row_of_lane = lane % 16;
#pragma unroll
  for (int i = 0; i < C::block_n / C::box_cols; ++i) {
    const SharedAddress box = ptx::shared_address(boxes[next_box]);
    // All copies of this lane but the newest, which is the other box's, have read their box.
    if (lane == 0) ptx::bulk_wait_group_read<1>();
    __syncwarp();
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
      unsigned packed[4];
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const float* const from = &accumulator[i * 8 + j + q / 2][q % 2 * 2];
        const __nv_bfloat162 pair = __floats2bfloat162_rn(from[0], from[1]);
        packed[q] = reinterpret_cast<const unsigned&>(pair);
      }
      const int chunk = j + lane / 16;  // of 16 bytes
      ptx::stmatrix_x4(box + row_of_lane * C::row + (chunk ^ row_of_lane % 8) * 16, packed);
    }
    // TMA reads through the async proxy: every lane fences what it wrote, then one issues the copy.
    ptx::fence_proxy_async();
    __syncwarp();
    if (lane == 0) {
      ptx::tma_store(c, col + i * C::box_cols, row, box);
      ptx::bulk_commit_group();
    }
    next_box ^= 1;
  }
}

// The consumers' part of all tiles of a CTA: `warp` counts their warps, each of which stores 16 rows. A
// warpgroup cannot issue MMAs while it runs its epilogue; the loads of its next tile run meanwhile.
template <class C, class Maps>
__device__ void consume(typename C::Shared& shared, const Maps& maps, Tiles<C> tiles, int tiles_k, int warp) {
  ptx::Track<Maps> track(maps, Role::consumer, warp % 4 == 0);  // a warp of each warpgroup
  Stage<C> stage;
  int next_box = 0;
  for (; tiles.valid(); tiles.advance()) {
    float accumulator[C::block_n / 8][4];
    multiply<C>(accumulator, shared, warp / 4, tiles_k, stage, track);
    store_accumulator<C>(accumulator, shared.boxes[warp], next_box, maps.c, tiles.row + warp * 16, tiles.col);
    track.mark(Doing::store);
    track.next_tile();
  }
  track.end();
  if (threadIdx.x % warp_size == 0) ptx::bulk_wait_group_read<0>();  // shared memory must outlive the reads
}

template <class C, class Maps>
__global__ void __launch_bounds__(C::threads, 1)
    gemm_kernel(const __grid_constant__ Maps maps, int m, int n, int k) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  // The shuffle changes nothing, but from it the compiler knows that the lanes agree.
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);
  const int rank = C::cluster_m > 1 ? ptx::cluster_rank() : 0;
  const Tiles<C> tiles(m, n, rank);

  // A stage is full when its bytes have landed, and empty when each consumer warp of the cluster has arrived:
  // the stage takes boxes of B from all CTAs, and each loads its own into the stages of all.
  if (threadIdx.x == 0) {
    ptx::prefetch_tensor_map(maps.a);
    ptx::prefetch_tensor_map(maps.b);
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(ptx::shared_address(&shared.full[s]), 1);
      ptx::mbarrier_init(ptx::shared_address(&shared.empty[s]), C::cluster_m * C::consumers * 4);
    }
    ptx::fence_mbarrier_init();
  }
  // The barriers of all CTAs of the cluster are initialised before a CTA arrives or multicasts to another.
  if constexpr (C::cluster_m == 1) {
    __syncthreads();
  } else if constexpr (C::design.relaxed_cluster) {
    ptx::cluster_sync_relaxed();
  } else {
    ptx::cluster_sync();
  }

  if (warp < 4) {  // setmaxnreg is for whole warpgroups: the three warps beside the producer have no work
    if constexpr (C::design.move_registers) ptx::give_back_registers<C::producer_registers>();
    if (warp == 0) produce<C>(shared, maps, tiles, ceil_div(k, C::block_k));
  } else {
    if constexpr (C::design.move_registers) ptx::take_registers<C::consumer_registers>();
    consume<C>(shared, maps, tiles, ceil_div(k, C::block_k), warp - 4);
  }
  if constexpr (C::cluster_m > 1 && !C::design.relaxed_cluster) ptx::cluster_sync();
}

template <Design d, class Maps>
cudaError_t launch_kernel(const Gemm& p, Maps maps, cudaStream_t stream) {
  using C = Config<d>;
  constexpr int shared_bytes = sizeof(typename C::Shared) + 1024;  // to align it
  static_assert(shared_bytes <= 227 * 1024, "what a CTA may have");
  auto* kernel = gemm_kernel<C, Maps>;
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.a, p.a, p.m, p.k, C::block_m, C::box_cols, Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.b, p.b, p.k, p.n, C::block_k, C::box_cols, Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.c, p.c, p.m, p.n, 16, C::box_cols, Swizzle::bytes128);
  if (error != cudaSuccess) return error;

  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {C::cluster_m, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = C::cluster_m;
  config.blockDim = C::threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int at_once = 0;  // not always SMs / cluster: the CTAs of a cluster share a GPC
  error = cudaOccupancyMaxActiveClusters(&at_once, kernel, &config);
  if (error != cudaSuccess) return error;
  const long long clusters = 1ll * ceil_div(p.m, C::block_m * C::cluster_m) * ceil_div(p.n, C::block_n);
  config.gridDim = unsigned(d.persistent ? std::min<long long>(at_once, clusters) : clusters) * C::cluster_m;
  return cudaLaunchKernelEx(&config, kernel, maps, p.m, p.n, p.k);
}

template <Design d>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  return launch_kernel<d>(p, TensorMaps{}, stream);
}

cudaError_t launch_traced(const Gemm& p, const Timeline& to, cudaStream_t stream) {
  return launch_kernel<Design{}>(p, Traced<TensorMaps>{{}, to}, stream);
}

Text unsupported(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8 (every_shape takes others)";
}

template <Design d>
Variant<Gemm> ablation(const char* name, const char* what) {
  return {.name = name, .what = what, .unsupported = unsupported, .launch = launch<d>};
}

}  // namespace

Variants<Gemm> gemm() {
  return {ablation<Design{.cluster_m = 1, .group_m = 16}>("no_cluster",
                                                          "no cluster: every CTA loads all of its B itself"),
          ablation<Design{.relaxed_cluster = false}>(
              "cluster_barriers", "barriers of the whole cluster that order all memory, before and after"),
          ablation<Design{.stages = 2}>("2_stages", "two stages"),
          ablation<Design{.stages = 3}>("3_stages", "three stages"),
          ablation<Design{.group_m = 1}>("row_by_row", "tiles in the order of rows"),
          ablation<Design{.persistent = false}>("one_tile_each", "a CTA for each tile"),
          ablation<Design{.move_registers = false}>("even_registers", "168 registers for every thread"),
          ablation<Design{.first_mma_sets = false}>("add_to_zeros",
                                                    "accumulator cleared by threads, not by the first wgmma"),
          {.name = "warp_specialized",
           .what = "128x256 tiles, four stages, pairs of CTAs share B",
           .unsupported = unsupported,
           .launch = launch<Design{}>,
           .traced = launch_traced}};
}

}  // namespace ladder::rung_08
