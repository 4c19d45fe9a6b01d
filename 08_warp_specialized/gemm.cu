// Warps with different work. One warp of the CTA does nothing but ask TMA for boxes, one or two warpgroups do
// nothing but multiply and store, and each has the registers that its work needs. CTAs stay for many tiles:
// while one is stored, the next is on its way. Two CTAs form a cluster, whose tiles lie below each other, and
// share what they read of B.
//
// In the order of the data: design.cuh, what there is to choose; tiles.cuh, which tiles a CTA works on;
// mainloop.cuh, global -> shared -> sums; epilogue.cuh, sums -> C. Here the kernel hands its warps out to
// them, and the host launches it.
#include <iterator>

#include "08_warp_specialized/epilogue.cuh"
#include "08_warp_specialized/variants.h"
#include "common/ptx/dependent_launch.cuh"

namespace ladder::rung_08 {
namespace {

// Shared -> C, by a warpgroup: its rows of every tile, or in ping-pong every second tile.
template <class C>
__device__ void consume(typename C::Shared& shared, const Operands& p, Peers<C> peers, Tiles<C> tiles,
                        Part part, int warp) {
  constexpr bool ping_pong = C::design.ping_pong;
  const int self = warp / warps_per_group;
  const int first = ping_pong ? 0 : self * C::rows_each * mma_m;
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
    multiply<C>(sum, shared, peers, part.tiles, first, slot);
    tiles.advance();
    if constexpr (ping_pong) tiles.advance();
    const int warp_row = tile_row + first + warp % warps_per_group * 16;
    if constexpr (C::cluster_k == 1) {
      store<C>(sum, shared.out.of_warp[warp], p, warp_row, tile_col, buffer);
    } else {
      combine<C>(sum, shared, p, part.index, warp_row, tile_col, warp * warp_size + threadIdx.x % warp_size);
    }
  }
  if (C::cluster_k == 1 && C::design.tma_store && threadIdx.x % warp_size == 0)
    ptx::bulk_wait_group_read<0>();  // shared memory lives until then
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1) gemm_kernel(const __grid_constant__ Operands p) {
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
    ptx::wait_for_previous_grid();  // it may have written A and B, and read C
  }

  if (warp < warps_per_group) {
    if constexpr (C::move_registers) ptx::give_back_registers<C::producer_registers>();
    if (warp == 0) produce<C>(shared, p, peers, tiles, part);
  } else {
    if constexpr (C::move_registers) ptx::take_registers<C::consumer_registers>();
    consume<C>(shared, p, peers, tiles, part, warp - warps_per_group);
  }
  if constexpr (C::cluster > 1 && !C::design.relaxed_cluster) ptx::cluster_sync();
}

// How many clusters of this kernel run at once. Not always SMs / cluster: a cluster lies within a GPC, whose
// SMs need not be a multiple of 4.
template <class C>
cudaError_t clusters_at_once(cudaLaunchConfig_t config, int* clusters) {
  config.gridDim = C::cluster;
  return cudaOccupancyMaxActiveClusters(clusters, gemm_kernel<C>, &config);
}

template <Design d>
cudaError_t launch(const Gemm& gemm, cudaStream_t stream) {
  using C = Config<d>;
  Operands p{};
  p.c = gemm.c;
  p.m = gemm.m;
  p.n = gemm.n;
  p.k = gemm.k;
  cudaError_t error =
      cudaFuncSetAttribute(gemm_kernel<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.map_a, gemm.a, p.m, p.k, C::share_a, C::block_k, Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.map_b, gemm.b, p.k, p.n, C::block_k, row / element, Swizzle::bytes128);
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
  return cudaLaunchKernelEx(&config, gemm_kernel<C>, p);
}

struct Choice {
  double cycles;
  cudaError_t (*launch)(const Gemm&, cudaStream_t);
};
template <Design d>
Choice choice(const Gemm& p, int sms) {
  return {estimate<d>(p, sms), launch<d>};
}

}  // namespace

std::string rows_of_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}

cudaError_t gemm_no_cluster(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.cluster_m = 1, .group = 16}>(p, stream);
}
cudaError_t gemm_shared_a(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.cluster_m = 1, .cluster_n = 2, .group = 16}>(p, stream);
}
cudaError_t gemm_cluster_of_4(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.cluster_n = 2}>(p, stream);
}
cudaError_t gemm_cluster_barriers(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.relaxed_cluster = false}>(p, stream);
}
cudaError_t gemm_ping_pong(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.rows_each = 2, .block_n = 128, .stages = 6, .ping_pong = true}>(p, stream);
}
cudaError_t gemm_2_stages(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.stages = 2}>(p, stream);
}
cudaError_t gemm_3_stages(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.stages = 3}>(p, stream);
}
cudaError_t gemm_row_by_row(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.order = Order::rows}>(p, stream);
}
cudaError_t gemm_hilbert(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.order = Order::hilbert}>(p, stream);
}
cudaError_t gemm_one_tile_each(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.persistent = false}>(p, stream);
}
cudaError_t gemm_even_registers(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.move_registers = false}>(p, stream);
}
cudaError_t gemm_add_to_zeros(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.first_mma_sets = false}>(p, stream);
}
cudaError_t gemm_threads_store(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.tma_store = false}>(p, stream);
}
cudaError_t gemm_late_start(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.early_start = false}>(p, stream);
}
cudaError_t gemm_64x128_alone(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.consumers = 1, .block_n = 128, .stages = 8, .cluster_m = 1, .group = 32}>(p, stream);
}
cudaError_t gemm_64x128_down(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.consumers = 1, .block_n = 128, .stages = 8, .group = 32}>(p, stream);
}
cudaError_t gemm_64x64(const Gemm& p, cudaStream_t stream) {
  return launch<tile_64x64>(p, stream);
}
cudaError_t gemm_split_2(const Gemm& p, cudaStream_t stream) {
  return launch<split_2>(p, stream);
}
cudaError_t gemm_split_4(const Gemm& p, cudaStream_t stream) {
  return launch<split_4>(p, stream);
}
cudaError_t gemm_split_8(const Gemm& p, cudaStream_t stream) {
  return launch<split_8>(p, stream);
}
cudaError_t gemm_64x128_share_a(const Gemm& p, cudaStream_t stream) {
  return launch<tile_64x128_share_a>(p, stream);
}
cudaError_t gemm_64x128_share_b(const Gemm& p, cudaStream_t stream) {
  return launch<tile_64x128_share_b>(p, stream);
}
cudaError_t gemm_128x128(const Gemm& p, cudaStream_t stream) {
  return launch<tile_128x128>(p, stream);
}
cudaError_t gemm_128x192(const Gemm& p, cudaStream_t stream) {
  return launch<tile_128x192>(p, stream);
}
cudaError_t gemm_128x256(const Gemm& p, cudaStream_t stream) {
  return launch<tile_128x256>(p, stream);
}

cudaError_t gemm_warp_specialized(const Gemm& p, cudaStream_t stream) {
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  const Choice choices[] = {choice<tile_64x64>(p, sms),
                            choice<split_2>(p, sms),
                            choice<split_4>(p, sms),
                            choice<split_8>(p, sms),
                            choice<tile_64x128_share_a>(p, sms),
                            choice<tile_64x128_share_b>(p, sms),
                            choice<tile_128x128>(p, sms),
                            choice<tile_128x192>(p, sms),
                            choice<tile_128x256>(p, sms)};
  return std::min_element(std::begin(choices), std::end(choices),
                          [](const Choice& a, const Choice& b) { return a.cycles < b.cycles; })
      ->launch(p, stream);
}

}  // namespace ladder::rung_08
