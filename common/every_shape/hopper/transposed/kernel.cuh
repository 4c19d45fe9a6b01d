// The kernel for every tile, and its launch. In the order of the data: design.cuh, what there is to choose;
// tiles.cuh, which tiles a CTA computes; mainloop.cuh, global -> shared -> accumulators; partial_sums.cuh,
// where k is divided; store.cuh, accumulators -> C.
#pragma once

#include <limits>

#include "common/every_shape/estimate/estimate.h"
#include "common/every_shape/hopper/transposed/partial_sums.cuh"
#include "common/every_shape/hopper/transposed/store.cuh"
#include "common/ptx/dependent_launch.cuh"

namespace ladder::every_shape::transposed {

template <class C>
__device__ void consume(typename C::Shared& shared, const Operands& p, Tiles<C> tiles, int rank, int warp) {
  constexpr bool ping_pong = C::design.ping_pong;
  const int self = warp / 4, warp_in_tile = ping_pong ? warp % 4 : warp;
  // What it computes of a tile: blocks of columns from `block` on, and rows from `top` on.
  const int block = C::design.by_rows ? 0 : warp_in_tile / 4 * C::design.blocks;
  const int top = C::design.by_rows ? warp_in_tile / 4 * C::rows_each : 0;
  const Peers peers{C::design.split ? Cluster{} : p.cluster, C::design.split ? 0 : rank};
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
    multiply<C>(accumulator, shared, peers, block, top, tiles.first(), tiles.end(), stage, [&] {
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
    } else if constexpr (C::adds_up) {
      if (!tiles.begins()) {
        hand_over<C>(accumulator, p, tiles.part() * p.cluster.size() + rank, warp_in_tile);
        continue;
      }
      if (!tiles.ends()) finish<C>(accumulator, p, tiles, rank, warp_in_tile);
    }
    if (!C::design.split && p.by_threads) {
      store_only<C>(accumulator, shared, p, tiles.row() + top, col, block, top, self);
      continue;
    }
#pragma unroll
    for (int i = 0; i < C::design.blocks; ++i) {
      if constexpr (C::threads_store) {
        store_by_threads<C>(accumulator[i], shared.boxes[self], p, tiles.row(),
                            col + i * mma_m + warp % 4 * 16, 0, C::groups);
      } else {
        store<C>(accumulator[i], shared.boxes[self], next_box, p.c, tiles.row() + top, col + i * mma_m, self);
      }
    }
  }
  if (!C::threads_store && threadIdx.x % warpgroup_size == 0)
    ptx::bulk_wait_group_read<0>();  // shared memory must outlive the reads
}

template <class C>
__global__ void __launch_bounds__(C::threads, C::design.per_sm)
    gemm_kernel(const __grid_constant__ Operands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);
  const int cluster = C::design.split ? p.parts : p.cluster.size(),
            rank = cluster > 1 ? ptx::cluster_rank() : 0;

  // The time before the first load is part of every launch. So a warp of the consumers initialises the
  // barriers, while the producer works out all that it can. Then the producer and the consumers wait for each
  // other, and where CTAs share operands, for the peers.
  auto meet = [&] {
    if (!C::design.split && cluster > 1) {
      ptx::cluster_arrive_relaxed();
      ptx::cluster_wait();
    } else {
      if (C::design.split && cluster > 1) ptx::cluster_arrive_relaxed();
      ptx::barrier_sync(15, (C::consumer_warps + 1) * warp_size);
    }
    ptx::let_next_grid_start();
    ptx::wait_for_previous_grid();
  };
  if (warp >= C::consumer_warps) {
    if constexpr (C::move_registers) ptx::give_back_registers<24>();
    if (warp == C::consumer_warps) {
      if (ptx::elect_one()) {
        ptx::prefetch_tensor_map(p.b);
        ptx::prefetch_tensor_map(p.a);
      }
      __syncwarp();
      produce<C>(shared, p, Tiles<C>(p), rank, meet);
    } else if (cluster > 1) {
      ptx::cluster_arrive_relaxed();
    }
  } else {
    if (warp == 0) {
      if (ptx::elect_one()) {
        initialise<C>(shared, p.cluster);
        if constexpr (C::design.split) expect_parts<C>(shared, rank, p.parts);
        ptx::fence_mbarrier_init();
      }
      __syncwarp();
    }
    if constexpr (C::move_registers) ptx::take_registers<240>();
    meet();
    consume<C>(shared, p, Tiles<C>(p), rank, warp);
  }
}

// The workspace of a design that streams or has its parts in memory: first the flags, zero before the first
// launch, then the partial accumulators of at most `most_ctas` CTAs.
constexpr int most_ctas = 256;
constexpr std::size_t flags_bytes = most_ctas * 16 * sizeof(unsigned);
template <Design d>
constexpr std::size_t workspace_bytes(int ctas = most_ctas) {
  return flags_bytes + std::size_t(ctas) * Config<d>::partial * sizeof(float4);
}

// Of a design that streams, the last two waves of tiles are shared out by k-tiles.
template <Design d>
cudaError_t launch(const Gemm& gemm, const Launch& how, void* workspace, cudaStream_t stream,
                   bool early_start) {
  using C = Config<d>;
  Operands p{};
  p.to = gemm.c;
  p.m = gemm.m;
  p.n = gemm.n;
  const Cluster cluster = p.cluster = d.split ? Cluster{} : how.cluster;
  int parts = how.parts;
  const int share_a = C::share_a(cluster);
  p.clusters_m = ceil_div(p.m, C::block_m * cluster.m);
  p.clusters_n = ceil_div(p.n, C::block_n * cluster.n);
  p.tiles_k = ceil_div(gemm.k, C::block_k);
  p.parts = parts;
  p.ready = static_cast<unsigned*>(workspace);
  p.partials = reinterpret_cast<float4*>(static_cast<char*>(workspace) + flags_bytes);
  auto* kernel = gemm_kernel<C>;
  constexpr int shared_bytes = sizeof(typename C::Shared) + 1024;  // to align it
  static_assert((shared_bytes + 1024) * d.per_sm <= 228 * 1024, "what an SM has");
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.a, gemm.a, p.m, gemm.k, share_a, C::block_k, Swizzle::bytes128);
  if (error == cudaSuccess && C::block_m != share_a * cluster.n)
    error =
        ptx::make_tensor_map(&p.less_of_a, gemm.a, p.m, gemm.k, share_a - 8, C::block_k, Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.b, gemm.b, gemm.k, p.n, C::load_b(cluster), mma_m, Swizzle::bytes128);
  if (error != cudaSuccess) return error;

  cudaLaunchAttribute attributes[2]{};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(cluster.n, cluster.m, d.split ? parts : 1);
  config.blockDim = C::threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = early_start ? 2 : 1;
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {config.gridDim.x, config.gridDim.y, config.gridDim.z};
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
    const long long at_most = workspace ? std::min(at_once, most_ctas / cluster.size()) / tiles : 1;
    parts = p.parts = int(std::clamp<long long>(parts, 1, std::clamp<long long>(at_most, 1, p.tiles_k)));
    clusters = parts > 1 ? tiles * parts : std::min<long long>(at_once, tiles);
    p.per_part = FastDivisor(int(tiles));
  }
  if constexpr (d.split || d.in_memory) {
    p.share = p.tiles_k / parts;
    p.longer = p.tiles_k % parts;
  } else {
    if (d.streamed) at_once = std::min(at_once, most_ctas / cluster.size());
    clusters = std::min<long long>(at_once, tiles);
    if (d.streamed && tiles % at_once != 0) {
      const long long streamed = tiles % at_once + (tiles > at_once ? at_once : 0);
      if (streamed * p.tiles_k < std::numeric_limits<int>::max()) {
        clusters = std::min<long long>(at_once, std::max<long long>(tiles, tiles * p.tiles_k / 4));
        p.streamed = int(streamed);
        p.share = int(streamed * p.tiles_k / clusters);
        p.longer = int(streamed * p.tiles_k % clusters);
      }
    }
  }
  p.by_threads = clusters >= tiles && p.streamed == 0 && p.n % 64 == 0;
  if constexpr (!C::threads_store) {
    error = ptx::make_tensor_map(&p.c, gemm.c, p.m, p.n, C::box_rows, mma_m, Swizzle::bytes128);
    if (error != cudaSuccess) return error;
  }
  order<C>(p, at_once, int(clusters));
  if (d.split) {
    config.gridDim = dim3(p.clusters_n * cluster.n, p.clusters_m * cluster.m, parts);
  } else {
    config.gridDim = dim3(cluster.n, cluster.m, unsigned(clusters));
  }
  if (cluster.size() == 1 && (!d.split || parts == 1)) {
    ++config.attrs;
    --config.numAttrs;
  }
  return cudaLaunchKernelEx(&config, kernel, p);
}

}  // namespace ladder::every_shape::transposed
