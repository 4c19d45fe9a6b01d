// A cluster: CTAs that run at the same time on neighbouring SMs, and reach each other's shared memory. PTX
// ISA, "Cluster of Cooperative Thread Arrays"; "barrier.cluster"; "mapa". sm_90 and newer.
//
// A CTA's shared memory is there for its peers only as long as the CTA runs: before the first access all must
// have started, and none may leave before the last.
#pragma once

#include "common/ptx/shared_address.cuh"

namespace ladder::ptx {

// This CTA's number in its cluster. (%cluster_ctarank)
__device__ __forceinline__ int cluster_rank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// Arrives at the barrier of all threads of the cluster, and waits for the others. What they wrote before it
// is seen after it. (barrier.cluster.arrive.release, barrier.cluster.wait.acquire)
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The same without the order of memory, and so without the fence to global memory that it costs: enough to
// know that all CTAs have started, and, after fence_mbarrier_init(), that their mbarriers are there. In one,
// or in two halves with other work in between.
// (barrier.cluster.arrive.relaxed, barrier.cluster.wait)
__device__ __forceinline__ void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_sync_relaxed() {
  cluster_arrive_relaxed();
  cluster_wait();
}

// Where in the cluster's shared memory lies what has this address in that of its CTA `rank`. (mapa)
__device__ __forceinline__ SharedAddress cluster_address(SharedAddress address, int rank) {
  SharedAddress there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

// One arrival at the mbarrier that lies at this address in the shared memory of CTA `rank` of the cluster.
// (mapa; mbarrier.arrive.shared::cluster.b64)
__device__ __forceinline__ void mbarrier_arrive(SharedAddress barrier, int rank) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(cluster_address(barrier, rank))
               : "memory");
}

// The same, and the announcement of `bytes` that copies will write in this phase.
// (mapa; mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64)
__device__ __forceinline__ void mbarrier_arrive_expect_bytes(SharedAddress barrier, int bytes, int rank) {
  asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(
                   cluster_address(barrier, rank)),
               "r"(bytes)
               : "memory");
}

// Sends 16 or 4 bytes to this address in the shared memory of CTA `rank`, and tells the mbarrier at that
// address over there of them when they have landed. `to` is a multiple of their size. Nothing is to be waited
// for on this side. (mapa; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{.v4}.f32)
__device__ __forceinline__ void store_async(SharedAddress to, const float (&values)[4], SharedAddress barrier,
                                            int rank) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
          cluster_address(to, rank)),
      "f"(values[0]), "f"(values[1]), "f"(values[2]), "f"(values[3]), "r"(cluster_address(barrier, rank))
      : "memory");
}
__device__ __forceinline__ void store_async(SharedAddress to, float value, SharedAddress barrier, int rank) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(
                   cluster_address(to, rank)),
               "f"(value), "r"(cluster_address(barrier, rank))
               : "memory");
}

// A warpgroup's registers per thread, from now on. All its warps execute it; `count` is a multiple of 8, from
// 24 to 256. (setmaxnreg.{dec,inc}.sync.aligned.u32; sm_90a)
template <int count>
__device__ __forceinline__ void give_back_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

}  // namespace ladder::ptx
