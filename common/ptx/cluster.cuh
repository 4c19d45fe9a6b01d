// A cluster: CTAs that run at the same time on neighbouring SMs and can access each other's shared memory.
// PTX ISA, "Cluster of Cooperative Thread Arrays"; "barrier.cluster"; "mapa". sm_90 and newer.
//
// A CTA's shared memory exists only while the CTA runs: all CTAs must have started before the first access by
// a peer, and none may exit before the last.
#pragma once

#include "common/ptx/shared_address.cuh"

namespace ladder::ptx {

// The rank of this CTA in its cluster. (%cluster_ctarank)
__device__ __forceinline__ int cluster_rank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// A barrier of all threads of the cluster. What they wrote before it is visible to all of them after it.
// (barrier.cluster.arrive.release, barrier.cluster.wait.acquire)
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The same without memory ordering, and so without the fence to global memory that ordering costs. It is
// enough to know that all CTAs have started and, after fence_mbarrier_init(), that their mbarriers are
// initialised. Arrive and wait can stand apart, with other work in between.
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

// The address, in the cluster's window of shared memory, of what lies at `address` in that of CTA `rank`.
// (mapa)
__device__ __forceinline__ SharedAddress cluster_address(SharedAddress address, int rank) {
  SharedAddress there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

// Arrives at the mbarrier at this cluster_address(). (mbarrier.arrive.shared::cluster.b64)
__device__ __forceinline__ void mbarrier_arrive_in_cluster(SharedAddress barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Arrives at the mbarrier that lies at this address in the shared memory of CTA `rank` of the cluster. (mapa)
__device__ __forceinline__ void mbarrier_arrive(SharedAddress barrier, int rank) {
  mbarrier_arrive_in_cluster(cluster_address(barrier, rank));
}

// The same, and the phase expects `bytes` more from asynchronous copies.
// (mapa; mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64)
__device__ __forceinline__ void mbarrier_arrive_expect_bytes(SharedAddress barrier, int bytes, int rank) {
  asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(
                   cluster_address(barrier, rank)),
               "r"(bytes)
               : "memory");
}

// Stores 16 or 4 bytes asynchronously to address `to` in the shared memory of CTA `rank`. When they have
// landed, they count at the mbarrier at address `barrier` of the same CTA, which must expect them. `to` is a
// multiple of their size. The sender has nothing to wait for.
// (mapa; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{.v4}.f32)
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

// Changes the registers per thread of a warpgroup to `count`, a multiple of 8 from 24 to 256. All its warps
// execute it. An increase waits until the CTA has enough free registers.
// (setmaxnreg.{dec,inc}.sync.aligned.u32; sm_90a)
template <int count>
__device__ __forceinline__ void give_back_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

}  // namespace ladder::ptx
