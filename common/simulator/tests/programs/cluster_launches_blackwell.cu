// Cluster launch control: kernels with one cluster for each tile, of which those that run take over the tiles
// of those that have not been launched.
#include <cuda/ptx>

#include "program.h"

namespace ptx = cuda::ptx;

constexpr int tile = 64;  // elements, one for each thread

__device__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}
__device__ void wait(uint64_t* mbarrier, uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(mbarrier, parity)) {
  }
}

// Every block is a cluster; a grid of two dimensions. launched: how many blocks have begun.
__global__ void increment_tiles(uint32_t* data, uint32_t* launched) {
  __shared__ alignas(16) int4 response;
  __shared__ uint64_t mbarrier;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&mbarrier, 1);
    atomicAdd(launched, 1);
  }
  __syncthreads();
  uint32_t x = blockIdx.x, y = blockIdx.y, phase = 0;
  for (;;) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &mbarrier,
                                     sizeof response);
      ptx::clusterlaunchcontrol_try_cancel(&response, &mbarrier);
    }
    data[(y * gridDim.x + x) * tile + threadIdx.x] += 1;
    wait(&mbarrier, phase);
    phase ^= 1;
    const int4 answer = response;
    if (!ptx::clusterlaunchcontrol_query_cancel_is_canceled(answer)) break;
    x = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<uint32_t>(answer);
    y = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_y<uint32_t>(answer);
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
  }
}

// Clusters of two blocks, of which one requests for both, as in the PTX ISA's example (9.7.13.17).
__global__ void __cluster_dims__(2, 1, 1) increment_pairs(uint32_t* data) {
  __shared__ alignas(16) int4 response;
  __shared__ uint64_t mbarrier;
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&mbarrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  uint32_t x = blockIdx.x, phase = 0;
  for (;;) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_shared, &mbarrier,
                                     sizeof response);
      if (rank == 0) ptx::clusterlaunchcontrol_try_cancel_multicast(&response, &mbarrier);
    }
    data[x * tile + threadIdx.x] += 1;
    asm volatile(
        "{ .reg .pred done; WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1; "
        "@!done bra "
        "WAIT; }" ::"r"(shared_address(&mbarrier)),
        "r"(phase)
        : "memory");
    phase ^= 1;
    const int4 answer = response;
    if (!ptx::clusterlaunchcontrol_query_cancel_is_canceled(answer)) break;
    uint32_t first[4];
    ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid(first, answer);
    x = first[0] + rank;
    asm volatile(
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\n"
        "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n"
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;" ::
            : "memory");
  }
}

int main() {
  for (const dim3 grid : {dim3(1, 1), dim3(7, 3), dim3(40, 25)}) {
    Buffer<uint32_t> data(size_t{grid.x} * grid.y * tile), launched(1);
    increment_tiles<<<grid, tile>>>(data, launched);
    LAUNCHED();
    bool once = true;
    for (const uint32_t value : data.download()) once &= value == 1;
    expect(once, "every tile once");
    expect(launched.download()[0] <= grid.x * grid.y, "no more blocks than tiles");
  }
  for (const uint32_t blocks : {2u, 18u, 600u}) {
    Buffer<uint32_t> data(size_t{blocks} * tile);
    increment_pairs<<<blocks, tile>>>(data);
    LAUNCHED();
    bool once = true;
    for (const uint32_t value : data.download()) once &= value == 1;
    expect(once, "every tile of a pair once");
  }
  return finish();
}
