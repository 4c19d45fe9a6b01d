// The kernel for every tile shape, precision and problem: it gives its warps their work, and the host
// launches it.
#pragma once

#include <algorithm>

#include "08_warp_specialized/general/bf16.cuh"
#include "common/ptx/dependent_launch.cuh"

namespace ladder::rung_08::general {

// Shared -> C, by a warpgroup: its rows of every tile, or in ping-pong every second tile.
template <class C>
__device__ void consume(typename C::Shared& shared, const typename C::Operands& p, Peers<C> peers,
                        Tiles<C> tiles, Part part, int warp) {
  using Policy = typename C::Policy;
  constexpr bool ping_pong = C::design.ping_pong;
  const int self = warp / warps_per_group;
  const int first = ping_pong ? 0 : self * C::rows_each * mma_m;
  const Releases<C> releases(shared, peers);
  typename Policy::template Scales<C> scales;
  scales.load(p);
  Stage<C> stage;
  if (ping_pong && self == 1) {
    tiles.advance();
    skip(stage, part.tiles);
  }
  int next_box = 0, parity = self == 0;  // parity 1: it is the first one's turn
  while (tiles.valid()) {
    const int row0 = tiles.row() + first + warp % warps_per_group * 16, col0 = tiles.col();
    Accumulator<C> accumulator;
    // Not only for order: a wait names the parity of a phase alone, so no consumer may fall two phases behind
    // the ring buffer.
    if constexpr (ping_pong) {
      ptx::mbarrier_wait(ptx::shared_address(&shared.turn[self]), parity);
      parity ^= 1;
    }
    Policy::template mainloop<C>(accumulator, shared, p, releases, part.tiles, first, col0, stage, [&] {
      scales.load_of_rows(p, row0);
      scales.load_of_columns(p, col0);
    });
    tiles.advance();
    if constexpr (ping_pong) tiles.advance();
    if constexpr (C::cluster_k == 1) {
      Policy::template epilogue<C>(accumulator, scales, shared.out.of_warp[warp], p, row0, col0, next_box);
    } else {
      combine<C>(accumulator, scales, shared, p, part.index, row0, col0,
                 warp * warp_size + threadIdx.x % warp_size);
    }
  }
  if (C::cluster_k == 1 && threadIdx.x % warp_size == 0)
    ptx::bulk_wait_group_read<0>();  // shared memory lives until then
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1) gemm_kernel(const __grid_constant__ typename C::Operands p) {
  using Policy = typename C::Policy;
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  const int warp =
      __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);  // the compiler sees: equal in all lanes
  const int rank = C::cluster > 1 ? ptx::cluster_rank() : 0;
  const Peers<C> peers{rank % C::sharers};
  const Tiles<C> tiles(p.m, p.n, peers.rank);
  const Part part(ceil_div(p.k, C::block_k), rank / C::sharers, C::cluster_k);

  if (threadIdx.x == 0) {
    ptx::prefetch_tensor_map(p.map_a);
    ptx::prefetch_tensor_map(p.map_b);
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(ptx::shared_address(&shared.full[s]), 1);
      ptx::mbarrier_init(ptx::shared_address(&shared.empty[s]), C::fillers * C::readers * warps_per_group);
    }
    for (auto& turn : shared.turn) ptx::mbarrier_init(ptx::shared_address(&turn), warps_per_group);
    if constexpr (C::cluster_k > 1) {
      const SharedAddress combined = ptx::shared_address(&shared.combined);
      ptx::mbarrier_init(combined, 1);
      ptx::mbarrier_arrive_expect_bytes(combined, C::partial_bytes);
    }
    ptx::fence_mbarrier_init();
  }
  // The barriers of all CTAs of the cluster exist before a CTA sends anything to another.
  if constexpr (C::cluster == 1) {
    __syncthreads();
  } else {
    ptx::cluster_sync_relaxed();
  }
  ptx::let_next_grid_start();
  ptx::wait_for_previous_grid();  // it may have written A, B and their scales, and read C

  if (warp < warps_per_group) {
    if constexpr (C::move_registers) ptx::give_back_registers<Policy::producer_registers>();
    if (warp == 0) produce<C>(shared, p, peers, tiles, part);
    Policy::template after_loads<C>(p, warp);
  } else {
    if constexpr (C::move_registers) ptx::take_registers<Policy::consumer_registers>();
    consume<C>(shared, p, peers, tiles, part, warp - warps_per_group);
  }
}

template <Design d, class P = Bf16>
cudaError_t launch(const Gemm& gemm, cudaStream_t stream, const typename P::Parameters& extra,
                   bool early_start) {
  using C = Config<d, P>;
  typename C::Operands p{};
  p.c = gemm.c;
  p.m = gemm.m;
  p.n = gemm.n;
  p.k = gemm.k;
  p.extra = extra;
  cudaError_t error =
      cudaFuncSetAttribute(gemm_kernel<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error == cudaSuccess) error = P::template map_operands<C>(&p, gemm);
  if (error == cudaSuccess) error = P::template map_output<C>(&p, gemm);
  if (error != cudaSuccess) return error;

  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {C::cluster, 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = C::cluster;
  config.blockDim = C::threads;
  config.dynamicSmemBytes = C::shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = early_start ? 2 : 1;
  int at_once = 0;  // not always SMs / cluster: a cluster lies within a GPC
  error = cudaOccupancyMaxActiveClusters(&at_once, gemm_kernel<C>, &config);
  if (error != cudaSuccess) return error;
  const long long clusters =
      1ll * ceil_div(p.m, C::block_m * C::cluster_m) * ceil_div(p.n, C::block_n * C::cluster_n);
  config.gridDim = unsigned(d.persistent ? std::min<long long>(at_once, clusters) : clusters) * C::cluster;
  return cudaLaunchKernelEx(&config, gemm_kernel<C>, p);
}

// TMA only takes matrices whose rows are multiples of 16 bytes.
template <class Problem>
Text rows_of_vectors(const Problem& p) {
  return p.n % 8 == 0 && p.k % 8 == 0 ? Text() : Text("n and k must be multiples of 8");
}

template <Design d, class P = Bf16>
cudaError_t launch(const Gemm& gemm, cudaStream_t stream) {
  return launch<d, P>(gemm, stream, {}, false);
}

}  // namespace ladder::rung_08::general
