// The product of row_scales.cuh, launched early, with its first loads before it waits for the add: until then
// its CTAs would hold empty stages. B, the weights, is not written by the add; A = h and the squares are. So
// the producer loads B into as many stages as there are, waits for the grid before, and loads A after it.
//
// Before the wait it may only read what no kernel writes that could still be running then. That is more than
// the grid before: had that one been launched early, too, it could be running beside the one before *it*, and
// so could this one. Here the add is an ordinary launch: whatever wrote the weights has completed when it
// begins.
#include <array>

#include "common/every_shape/hopper/norm_gemm/launches.h"
#include "common/every_shape/hopper/norm_gemm/scaled_tiles.cuh"
#include "common/every_shape/hopper/norm_gemm/weights_first.cuh"

namespace ladder::every_shape {
namespace {

using rung_08::warp_size;

// Once per CTA, by one thread; as in general::gemm_kernel().
template <class C>
__device__ void initialise_barriers(typename C::Shared& shared) {
  for (int s = 0; s < C::stages; ++s) {
    ptx::mbarrier_init(ptx::shared_address(&shared.full[s]), 1);
    ptx::mbarrier_init(ptx::shared_address(&shared.empty[s]),
                       C::fillers * C::readers * general::warps_per_group);
  }
  if constexpr (C::cluster_k > 1) {
    ptx::mbarrier_init(ptx::shared_address(&shared.combined), 1);
    ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&shared.combined), C::partial_bytes);
  }
  ptx::fence_mbarrier_init();
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1)
    weights_first_kernel(const __grid_constant__ typename C::Operands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);
  const int rank = C::cluster > 1 ? ptx::cluster_rank() : 0;
  const Peers<C> peers{rank % C::sharers};
  const Tiles<C> tiles(p.m, p.n, peers.rank);
  const Part part(ceil_div(p.k, C::block_k), rank / C::sharers, C::cluster_k);
  if (threadIdx.x == 0) initialise_barriers<C>(shared);
  // The barriers of all CTAs of the cluster exist before B is multicast to any of them.
  if constexpr (C::cluster == 1) {
    __syncthreads();
  } else {
    ptx::cluster_sync_relaxed();
  }
  ptx::let_next_grid_start();

  if (warp < general::warps_per_group) {
    if constexpr (C::move_registers) ptx::give_back_registers<ScaleRows::producer_registers>();
    if (warp == 0) produce_weights_first<C>({shared, p, peers}, tiles, part);
  } else {
    if constexpr (C::move_registers) ptx::take_registers<ScaleRows::consumer_registers>();
    ptx::wait_for_previous_grid();  // it wrote the squares, which these threads read, and may have read C
    general::consume<C>(shared, p, peers, tiles, part, warp - general::warps_per_group);
  }
}

// As general::launch(), always early.
template <Design d>
cudaError_t launch(const Gemm& gemm, cudaStream_t stream, const NormOperands& norm) {
  using C = general::Config<d, ScaleRows>;
  const auto kernel = weights_first_kernel<C>;
  typename C::Operands p{};
  p.c = gemm.c;
  p.m = gemm.m, p.n = gemm.n, p.k = gemm.k;
  p.extra = norm;
  cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error == cudaSuccess) error = ScaleRows::map_operands<C>(&p, gemm);
  if (error == cudaSuccess) error = ScaleRows::map_output<C>(&p, gemm);
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
  config.numAttrs = 2;
  int at_once = 0;
  error = cudaOccupancyMaxActiveClusters(&at_once, kernel, &config);
  if (error != cudaSuccess) return error;
  const long long clusters =
      1ll * ceil_div(p.m, C::block_m * C::cluster_m) * ceil_div(p.n, C::block_n * C::cluster_n);
  config.gridDim = unsigned(d.persistent ? std::min<long long>(at_once, clusters) : clusters) * C::cluster;
  return cudaLaunchKernelEx(&config, kernel, p);
}

template <Design... designs>
constexpr auto launches_of(Designs<designs...>) {
  return std::array{launch<designs>...};
}

}  // namespace

// The same choice as of row_scales. norm.parts is 1.
cudaError_t launch_weights_first(const Gemm& p, cudaStream_t stream, const NormOperands& norm) {
  static constexpr auto launches = launches_of(ScaledTiles());
  int which = 0;
  const cudaError_t error = choose_scaled(p, &which);
  return error != cudaSuccess ? error : launches[which](p, stream, norm);
}

}  // namespace ladder::every_shape
