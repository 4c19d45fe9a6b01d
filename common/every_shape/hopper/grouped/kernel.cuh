// The kernel for products in groups, and its launch. From the transposed product (../transposed) it has the
// tiles' shapes, the ring buffer and both its ends; its own are the walk over tiles (tiles.cuh) and the
// epilogue, which stops where the group does (store.cuh).
#pragma once

#include <cmath>

#include "common/every_shape/hopper/grouped/store.cuh"
#include "common/every_shape/hopper/grouped/tiles.cuh"

namespace ladder::every_shape::grouped {

using transposed::Config, transposed::Design;

template <class C>
__device__ void consume(typename C::Shared& shared, const Operands& p, Tiles<C> tiles, int rank, int warp) {
  const int self = warp / 4, block = self * C::design.blocks;
  const transposed::Peers peers{p.cluster, rank};
  Stage<C> stage;
  int next_box = 0;
  for (; tiles.valid(); tiles.advance()) {
    transposed::Accumulator<C> accumulator;
    transposed::multiply<C>(accumulator, shared, peers, block, 0, tiles.first(), tiles.end(), stage, [] {});
#pragma unroll
    for (int i = 0; i < C::design.blocks; ++i) {
      const int col = tiles.col() + (block + i) * mma_m;
      store<C>(accumulator[i], shared.boxes[self], next_box, p, tiles.row(), col, tiles.bottom(), self);
    }
  }
  if (threadIdx.x % warpgroup_size == 0)
    ptx::bulk_wait_group_read<0>();  // shared memory must outlive the reads
}

template <class C>
__global__ void __launch_bounds__(C::threads, C::design.per_sm)
    grouped_gemm_kernel(const __grid_constant__ Operands p, const __grid_constant__ GroupedGemm problem) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);
  const int cluster = p.cluster.size(), rank = cluster > 1 ? ptx::cluster_rank() : 0;

  // The barriers of all CTAs of the cluster are initialised before a CTA arrives at or sends to another.
  auto meet = [&] {
    if (cluster > 1) {
      ptx::cluster_sync_relaxed();
    } else {
      ptx::barrier_sync(15, (C::consumer_warps + 1) * warp_size);
    }
  };
  if (warp >= C::consumer_warps) {
    if constexpr (C::move_registers) ptx::give_back_registers<24>();
    if (warp == C::consumer_warps) {
      if (ptx::elect_one()) {
        ptx::prefetch_tensor_map(p.a);
        ptx::prefetch_tensor_map(p.b);
      }
      __syncwarp();
      transposed::produce<C>(shared, p, Tiles<C>(problem, p, rank), rank, meet);
    } else if (cluster > 1) {
      ptx::cluster_arrive_relaxed();
    }
  } else {
    if (warp == 0) {
      if (ptx::elect_one()) {
        transposed::initialise<C>(shared, p.cluster);
        ptx::fence_mbarrier_init();
      }
      __syncwarp();
    }
    if constexpr (C::move_registers) ptx::take_registers<240>();
    meet();
    consume<C>(shared, p, Tiles<C>(problem, p, rank), rank, warp);
  }
}

template <Design d, Cluster together = Cluster{}>
cudaError_t launch(const GroupedGemm& problem, cudaStream_t stream) {
  using C = Config<d>;
  static_assert(together.m == 1, "a group's rows may not be enough for a cluster");
  static_assert(d.consumers > 1 && !d.ping_pong && !d.split, "this kernel has none of these");
  Operands p{};
  p.to = problem.c;
  p.m = problem.m;
  p.n = problem.n;
  p.cluster = together;
  constexpr int share_a = C::share_a(together);
  auto* kernel = grouped_gemm_kernel<C>;
  constexpr int shared_bytes = sizeof(typename C::Shared) + 1024;  // to align it
  static_assert((shared_bytes + 1024) * d.per_sm <= 228 * 1024, "what an SM has");
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  // A box of A may go on in the next group's rows. They are multiplied, and not stored.
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.a, problem.a, p.m, problem.k, share_a, C::block_k, Swizzle::bytes128);
  if (error == cudaSuccess && C::block_m != share_a * together.n)
    error = ptx::make_tensor_map(&p.less_of_a, problem.a, p.m, problem.k, share_a - 8, C::block_k,
                                 Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.b, problem.b, problem.k, p.n, C::load_b(together), mma_m,
                                 Swizzle::bytes128, 0, problem.groups);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.c, problem.c, p.m, p.n, C::box_rows, mma_m, Swizzle::bytes128);
  if (error != cudaSuccess) return error;

  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {unsigned(together.size()), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(together.size());
  config.blockDim = C::threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int at_once = 0;  // not always SMs / cluster: the CTAs of a cluster share a GPC
  error = cudaOccupancyMaxActiveClusters(&at_once, kernel, &config);
  if (error != cudaSuccess) return error;
  // The host does not know the groups' rows, but each has at most one tile that is not full. A CTA for which
  // there is no tile exits.
  const long long most = (1ll * ceil_div(p.m, C::block_m) + std::min(problem.groups, p.m)) *
                         ceil_div(p.n, C::block_n * together.n);
  // The tiles that run at once are about a square of C.
  p.group = std::max(1, int(std::sqrt(double(at_once) * C::block_n * together.n / C::block_m) + 0.5));
  config.gridDim = unsigned(std::min<long long>(at_once, most) * together.size());
  return cudaLaunchKernelEx(&config, kernel, p, problem);
}

}  // namespace ladder::every_shape::grouped
