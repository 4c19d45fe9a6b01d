// The kernel: it hands its warps out to those who load, multiply and store, and the host launches it.
#pragma once

#include <iterator>

#include "08_warp_specialized/add_rows.cuh"
#include "08_warp_specialized/epilogue.cuh"
#include "08_warp_specialized/promotion.cuh"
#include "common/ptx/dependent_launch.cuh"

namespace ladder::rung_08 {

// Shared -> C, by a warpgroup: its rows of every tile, or in ping-pong every second tile.
template <class C>
__device__ void consume(typename C::Shared& shared, const Operands& p, Peers<C> peers, Tiles<C> tiles,
                        Part part, Track<C> track, int warp) {
  constexpr bool ping_pong = C::design.ping_pong;
  const int self = warp / warps_per_group;
  const int first = ping_pong ? 0 : self * C::rows_each * mma_m;
  const Releases<C> slots(shared, peers);
  Scales<C> scales;
  if constexpr (C::tensor_scaled) scales.load_of_tensors(p);
  Slot<C> slot;
  if (ping_pong && self == 1) {
    tiles.advance();
    slot.skip(part.tiles);
  }
  int buffer = 0, parity = self == 0;  // parity 1: it is the first one's turn
  while (tiles.valid()) {
    const int tile_row = tiles.row(), tile_col = tiles.col();
    float sum[C::rows_each][C::block_n / 8][4];
    // Not only for order: a barrier tells a phase from the next one only, so nobody may fall a round behind
    // the ring.
    if constexpr (ping_pong) {
      ptx::mbarrier_wait(ptx::shared_address(&shared.turn[self]), parity);
      parity ^= 1;
    }
    const int warp_row = tile_row + first + warp % warps_per_group * 16;
    if constexpr (C::promote == 0) {
      multiply<C>(sum, shared, slots, track, part.tiles, first, slot, [&] {
        // Where the squares are this grid's: whoever waited for A's last columns has seen them all, and so
        // has this thread, which waited for what that one then loaded.
        if constexpr (C::design.scale_rows) scales.load_of_rows(p, warp_row);
      });
    } else if constexpr (C::design.two_parts) {
      multiply_in_turn<C>(sum, shared, p, slots, part.tiles, first, tile_col, slot);
    } else {
      multiply_promoted<C>(sum, shared, slots, track, part.tiles, first, slot);
    }
    tiles.advance();
    if constexpr (ping_pong) tiles.advance();
    if constexpr (C::cluster_k == 1) {
      store<C>(sum, scales, shared.out.of_warp[warp], p, warp_row, tile_col, buffer);
    } else {
      combine<C>(sum, scales, shared, p, part.index, warp_row, tile_col,
                 warp * warp_size + threadIdx.x % warp_size);
    }
    track.mark(Doing::store);
    track.next_tile();
  }
  track.end();
  if (C::cluster_k == 1 && C::design.tma_store && threadIdx.x % warp_size == 0)
    ptx::bulk_wait_group_read<0>();  // shared memory lives until then
}

// Parameters: Operands, or where it is traced Traced<Operands>.
template <class C, class Parameters>
__global__ void __launch_bounds__(C::threads, 1) gemm_kernel(const __grid_constant__ Parameters p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  const int warp =
      __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);  // the compiler shall know it is the same for all
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
  // The peers' barriers are there, too, before anything is sent to them.
  if constexpr (C::cluster == 1) {
    __syncthreads();
  } else if constexpr (C::design.relaxed_cluster) {
    ptx::cluster_sync_relaxed();
  } else {
    ptx::cluster_sync();
  }
  if constexpr (C::design.early_start) {
    ptx::let_next_grid_start();
    ptx::wait_for_previous_grid();  // it may have written A, B and their scales, and read C
  }

  if (warp < warps_per_group) {
    if constexpr (C::move_registers) ptx::give_back_registers<C::producer_registers>();
    if (warp == 0) {
      produce<C>(shared, p, peers, tiles, part, Track<C>(p, Role::producer), [&](int row, int k) {
        if constexpr (C::design.add_rows) {
          if (k % part_columns == 0) wait_for_rows<C>(p, row, k);
        }
      });
    } else if constexpr (C::design.add_rows) {
      add_rows<C>(p);
    }
    if constexpr (C::design.add_rows) forget_progress<C>(p, warp);
  } else {
    if constexpr (C::move_registers) ptx::take_registers<C::consumer_registers>();
    // What one warp of a warpgroup does the others do.
    const Track<C> track(p, Role::consumer, warp % warps_per_group == 0);
    consume<C>(shared, p, peers, tiles, part, track, warp - warps_per_group);
  }
  if constexpr (C::cluster > 1 && !C::design.relaxed_cluster) ptx::cluster_sync();
}

// How many clusters of this kernel run at once. Not always SMs / cluster: a cluster lies within a GPC, whose
// SMs need not be a multiple of 4.
template <class C>
cudaError_t clusters_at_once(cudaLaunchConfig_t config, int* clusters) {
  config.gridDim = C::cluster;
  return cudaOccupancyMaxActiveClusters(clusters, gemm_kernel<C, Parameters<C>>, &config);
}

// A and B as TMA sees them: as they come, or what prepare() has rounded them to.
template <class C>
cudaError_t map_operands(Operands* p, const Gemm& gemm) {
  constexpr Swizzle swizzle = Swizzle::bytes128;
  if constexpr (C::eight_bits) {
    const Workspace w(C::design.precision, gemm);
    const cudaError_t error = ptx::make_tensor_map(&p->map_a, w.a_elements, p->m, p->k, C::share_a,
                                                   C::block_k, swizzle, w.a.pitch());
    if (error != cudaSuccess) return error;
    if constexpr (C::scaled) {
      p->scales_b = w.b_scales;
      const cudaError_t scales_error =
          ptx::make_tensor_map(&p->map_scales_a, w.a_scales, w.scales_a.blocks, p->m, 1, C::block_m,
                               Swizzle::none, w.scales_a.pitch());
      if (scales_error != cudaSuccess) return scales_error;
    }
    if constexpr (C::tensor_scaled) {
      p->scale_a = w.a_scales;
      p->scales_b = w.b_scales;
    }
    return ptx::make_tensor_map(&p->map_b, w.b_elements, p->n, p->k, C::box_n, C::block_k, swizzle,
                                w.b.pitch());
  } else {
    const cudaError_t error =
        ptx::make_tensor_map(&p->map_a, gemm.a, p->m, p->k, C::share_a, C::block_k, swizzle);
    if (error != cudaSuccess) return error;
    return ptx::make_tensor_map(&p->map_b, gemm.b, p->k, p->n, C::block_k, C::box_n, swizzle);
  }
}

template <Design d>
cudaError_t launch(const Gemm& gemm, cudaStream_t stream, const NormOperands& norm,
                   const Timeline& timeline) {
  using C = Config<d>;
  Parameters<C> p{};
  if constexpr (d.traced) p.timeline = timeline;
  p.c = gemm.c;
  p.m = gemm.m;
  p.n = gemm.n;
  p.k = gemm.k;
  p.norm = norm;
  cudaError_t error = cudaFuncSetAttribute(gemm_kernel<C, Parameters<C>>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error == cudaSuccess) error = map_operands<C>(&p, gemm);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.map_c, gemm.c, p.m, p.n, 16, row / element, Swizzle::bytes128);
  if (error != cudaSuccess) return error;

  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {C::cluster, 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.blockDim = C::threads;
  config.dynamicSmemBytes = C::shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = d.early_start ? 2 : 1;
  const long long clusters =
      1ll * ceil_div(p.m, C::block_m * C::cluster_m) * ceil_div(p.n, C::block_n * C::cluster_n);
  int at_once = 0;
  error = clusters_at_once<C>(config, &at_once);
  if (error != cudaSuccess) return error;
  config.gridDim = unsigned(d.persistent ? std::min<long long>(at_once, clusters) : clusters) * C::cluster;
  return cudaLaunchKernelEx(&config, gemm_kernel<C, Parameters<C>>, p);
}

template <Design d>
cudaError_t launch(const Gemm& gemm, cudaStream_t stream, const NormOperands& norm) {
  return launch<d>(gemm, stream, norm, Timeline{});
}
template <Design d>
cudaError_t launch(const Gemm& gemm, cudaStream_t stream) {
  return launch<d>(gemm, stream, NormOperands{});
}
template <Design d>
cudaError_t launch_traced(const Gemm& gemm, const Timeline& timeline, cudaStream_t stream) {
  constexpr Design noting = [] {
    Design design = d;
    design.traced = true;
    return design;
  }();
  return launch<noting>(gemm, stream, NormOperands{}, timeline);
}

inline cudaError_t count_sms(int* sms) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  return error != cudaSuccess ? error : cudaDeviceGetAttribute(sms, cudaDevAttrMultiProcessorCount, device);
}

struct Choice {
  double cycles;  // by the estimate
  cudaError_t (*launch)(const Gemm&, cudaStream_t, const NormOperands&);
};

// Whichever of the designs the estimate finds fastest.
template <Design... designs>
Choice fastest(const Gemm& p, int sms) {
  const Choice choices[] = {Choice{estimate<designs>(p, sms), launch<designs>}...};
  return *std::min_element(std::begin(choices), std::end(choices),
                           [](const Choice& a, const Choice& b) { return a.cycles < b.cycles; });
}

template <Design... designs>
cudaError_t launch_fastest(const Gemm& p, cudaStream_t stream) {
  int sms = 0;
  const cudaError_t error = count_sms(&sms);
  if (error != cudaSuccess) return error;
  return fastest<designs...>(p, sms).launch(p, stream, {});
}

}  // namespace ladder::rung_08
