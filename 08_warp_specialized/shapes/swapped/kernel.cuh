// The kernel for every tile, and its launch. In the order of the data: design.cuh, what there is to choose;
// tiles.cuh, which tiles a CTA computes; mainloop.cuh, global -> shared -> accumulators; partial_sums.cuh,
// where k is divided; store.cuh, accumulators -> C.
#pragma once

#include <limits>

#include "08_warp_specialized/shapes/swapped/partial_sums.cuh"
#include "08_warp_specialized/shapes/swapped/store.cuh"
#include "common/ptx/dependent_launch.cuh"

namespace ladder::rung_08::swapped {

template <class C>
__device__ void consume(typename C::Shared& shared, const Operands& p, Tiles<C> tiles, int rank, int warp) {
  constexpr bool ping_pong = C::design.ping_pong;
  const int self = warp / 4, warp_in_tile = ping_pong ? warp % 4 : warp;
  const int block = warp_in_tile / 4 * C::design.blocks;
  const Peers<C> peers{rank};
  Stage<C> stage;
  int next_box = 0, turn = 0, parity = self == 0;  // parity 1: it is the first one's turn
  for (; tiles.valid(); tiles.advance()) {
    if constexpr (ping_pong) {
      if (turn++ % 2 != self) {  // the other one's
        const int on = stage.index + tiles.end() - tiles.first();
        stage.parity ^= on / C::stages & 1;
        stage.index = on % C::stages;
        continue;
      }
      // Not only for order: a wait names the parity of a phase alone, so no consumer may fall two phases
      // behind.
      ptx::mbarrier_wait(ptx::shared_address(&shared.turn[self]), parity);
      parity ^= 1;
    }
    Accumulator<C> accumulator;
    multiply<C>(accumulator, shared, peers, block, tiles.first(), tiles.end(), stage, [&] {
      if (ping_pong && threadIdx.x % warp_size == 0)
        ptx::mbarrier_arrive(ptx::shared_address(&shared.turn[self ^ 1]));
    });
    const int col = tiles.col() + block * mma_m;
    if constexpr (C::design.split) {
      if (p.parts > 1) {
        combine<C>(accumulator[0], shared, rank, p.parts);
        store_by_threads<C>(accumulator[0], shared.boxes[self], p, tiles.row(), col + warp % 4 * 16,
                            first_group<C>(rank, p.parts), first_group<C>(rank + 1, p.parts));
        continue;
      }
    } else {
      if (!tiles.begins()) {
        hand_over<C>(accumulator, p, tiles.cluster() * C::sharers + rank, warp_in_tile);
        continue;
      }
      if (!tiles.ends()) finish<C>(accumulator, p, tiles, rank, warp_in_tile);
    }
#pragma unroll
    for (int i = 0; i < C::design.blocks; ++i) {
      if constexpr (C::threads_store) {
        store_by_threads<C>(accumulator[i], shared.boxes[self], p, tiles.row(),
                            col + i * mma_m + warp % 4 * 16, 0, C::groups);
      } else {
        store<C>(accumulator[i], shared.boxes[self], next_box, p.c, tiles.row(), col + i * mma_m, self);
      }
    }
  }
  if (!C::threads_store && threadIdx.x % warpgroup_size == 0)
    ptx::bulk_wait_group_read<0>();  // shared memory must outlive the reads
}

// By a thread of the producer.
template <class C>
__device__ void initialise(typename C::Shared& shared, const Operands& p, int rank) {
  const int used = C::design.split ? min(C::stages, p.share + 1) : C::stages;
  for (int s = 0; s < used; ++s) {
    ptx::mbarrier_init(ptx::shared_address(&shared.full[s]), 1);
    ptx::mbarrier_init(ptx::shared_address(&shared.empty[s]), C::releases);
  }
  if constexpr (C::design.ping_pong)
    for (auto& turn : shared.turn) ptx::mbarrier_init(ptx::shared_address(&turn), 4);
  if constexpr (C::design.split) {
    if (p.parts > 1) {
      ptx::mbarrier_init(ptx::shared_address(&shared.combined), 1);
      const int own = first_group<C>(rank + 1, p.parts) - first_group<C>(rank, p.parts);
      ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&shared.combined),
                                        (p.parts - 1) * own * C::tile_threads * int(sizeof(float4)));
    }
  }
  ptx::fence_mbarrier_init();
}

template <class C>
__global__ void __launch_bounds__(C::threads, C::design.per_sm)
    gemm_kernel(const __grid_constant__ Operands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);
  const int cluster = C::design.split ? p.parts : C::sharers, rank = cluster > 1 ? ptx::cluster_rank() : 0;

  // The producer goes on to load as soon as the barriers are initialised. The consumers wait for that at a
  // barrier of the CTA, and where CTAs share operands, all wait for the peers' barriers, too.
  constexpr int started = 15, waiting = (C::consumer_warps + 1) * warp_size;
  if (warp == C::consumer_warps) {
    if (ptx::elect_one()) {
      ptx::prefetch_tensor_map(p.b);
      ptx::prefetch_tensor_map(p.a);
      initialise<C>(shared, p, rank);
    }
    __syncwarp();
  }
  if (cluster > 1) ptx::cluster_arrive_relaxed();
  if constexpr (C::sharers > 1) {
    ptx::cluster_wait();
  } else if (warp == C::consumer_warps) {
    ptx::barrier_arrive(started, waiting);
  } else if (warp < C::consumer_warps) {
    ptx::barrier_sync(started, waiting);
  }
  ptx::let_next_grid_start();
  ptx::wait_for_previous_grid();

  if (warp >= C::consumer_warps) {
    if constexpr (C::move_registers) ptx::give_back_registers<24>();
    if (warp == C::consumer_warps) produce<C>(shared, p, Tiles<C>(p, rank), rank);
  } else {
    if constexpr (C::move_registers) ptx::take_registers<240>();
    consume<C>(shared, p, Tiles<C>(p, rank), rank, warp);
  }
}

// Of the workspace of a design that streams or has its parts in memory: first the flags, zero before the
// first launch, then the partial sums of at most so many CTAs.
constexpr int most_ctas = 256;
constexpr std::size_t flags_bytes = most_ctas * 16 * sizeof(unsigned);
template <Design d>
constexpr std::size_t workspace_bytes(int ctas = most_ctas) {
  return flags_bytes + std::size_t(ctas) * Config<d>::partial * sizeof(float4);
}

// parts: of k, of a design that has them. `waves`: of one that streams, how many last waves of tiles are
// shared out by k-tiles, 0 for none.
template <Design d>
cudaError_t launch(const Gemm& gemm, int parts, int waves, void* workspace, cudaStream_t stream,
                   bool early_start) {
  using C = Config<d>;
  Operands p{};
  p.to = gemm.c;
  p.m = gemm.m;
  p.n = gemm.n;
  p.clusters_m = ceil_div(p.m, C::block_m * C::cluster_m);
  p.clusters_n = ceil_div(p.n, C::block_n * C::cluster_n);
  p.tiles_k = ceil_div(gemm.k, C::block_k);
  p.parts = parts;
  p.ready = static_cast<unsigned*>(workspace);
  p.partials = reinterpret_cast<float4*>(static_cast<char*>(workspace) + flags_bytes);
  auto* kernel = gemm_kernel<C>;
  constexpr int shared_bytes = sizeof(typename C::Shared) + 1024;  // to align it
  static_assert((shared_bytes + 1024) * d.per_sm <= 228 * 1024, "what an SM has");
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.a, gemm.a, p.m, gemm.k, C::share_a, C::block_k, Swizzle::bytes128);
  if (error == cudaSuccess && C::block_m != C::share_a * C::cluster_n)
    error = ptx::make_tensor_map(&p.less_of_a, gemm.a, p.m, gemm.k, C::share_a - 8, C::block_k,
                                 Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.b, gemm.b, gemm.k, p.n, C::load_b, mma_m, Swizzle::bytes128);
  if (error == cudaSuccess && !C::threads_store)
    error = ptx::make_tensor_map(&p.c, gemm.c, p.m, p.n, C::box_rows, mma_m, Swizzle::bytes128);
  if (error != cudaSuccess) return error;

  cudaLaunchAttribute attributes[2]{};
  const int cluster = d.split ? parts : C::sharers;
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(cluster);
  config.blockDim = C::threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = early_start ? 2 : 1;
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {unsigned(cluster), 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  int at_once = 0;  // not always SMs / cluster: the CTAs of a cluster share a GPC
  error = cudaOccupancyMaxActiveClusters(&at_once, kernel, &config);
  if (error == cudaSuccess && at_once == 0) error = cudaErrorInvalidConfiguration;
  if (error != cudaSuccess) return error;
  const long long tiles = 1ll * p.clusters_m * p.clusters_n;
  long long clusters = tiles;
  if constexpr (d.in_memory) {
    // The first part waits for the others, so all run at the same time. Where they cannot there are fewer.
    const long long at_most = workspace ? std::min(at_once, most_ctas / C::sharers) / tiles : 1;
    parts = p.parts = int(std::clamp<long long>(parts, 1, std::clamp<long long>(at_most, 1, p.tiles_k)));
    clusters = tiles * parts;
  }
  if constexpr (d.split || d.in_memory) {
    p.share = p.tiles_k / parts;
    p.longer = p.tiles_k % parts;
  } else {
    if (waves > 0) at_once = std::min(at_once, most_ctas / C::sharers);
    clusters = std::min<long long>(at_once, tiles);
    if (waves > 0 && tiles % at_once != 0) {
      long long streamed = tiles % at_once;
      if (tiles > at_once && (waves > 1 || streamed * p.tiles_k < 4 * at_once)) streamed += at_once;
      if (streamed * p.tiles_k < std::numeric_limits<int>::max()) {
        clusters = std::min<long long>(at_once, std::max<long long>(tiles, tiles * p.tiles_k / 4));
        p.streamed = int(streamed);
        p.share = int(streamed * p.tiles_k / clusters);
        p.longer = int(streamed * p.tiles_k % clusters);
      }
    }
  }
  order<C>(p, at_once, int(clusters));
  config.gridDim = unsigned(clusters * cluster);
  if (cluster == 1) {
    ++config.attrs;
    --config.numAttrs;
  }
  return cudaLaunchKernelEx(&config, kernel, p);
}

}  // namespace ladder::rung_08::swapped
