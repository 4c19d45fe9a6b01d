// Cluster launch control: a running cluster takes over the work of one that has not been launched. The grid
// has a cluster for every work item; the hardware launches as many as fit, and each of those cancels the
// launch of another when it is ready for more, so that a slow one gets less. PTX ISA,
// "clusterlaunchcontrol.try_cancel", "….query_cancel". sm_100 and newer; for clusters of several CTAs sm_100a
// and its family.
#pragma once

#include "common/ptx/shared_address.cuh"

namespace ladder::ptx {

// Tries to cancel the launch of a cluster that has not started yet. The response, 16 bytes, aligned to 16, is
// written through the async proxy to address `response` in every CTA of the cluster, and counts at the
// mbarrier at address `barrier` of each, which must expect 16 bytes. Issued by one thread of one CTA; not
// again after a response that none was left.
// (clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128, for several CTAs
// .multicast::cluster::all)
template <int ctas>
__device__ __forceinline__ void try_cancel(SharedAddress response, SharedAddress barrier) {
  if constexpr (ctas == 1) {
    asm volatile(
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::
            "r"(response),
        "r"(barrier)
        : "memory");
  } else {
    asm volatile(
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::"
        "all.b128 [%0], [%1];" ::"r"(response),
        "r"(barrier)
        : "memory");
  }
}

// Decodes a response: the blockIdx.x that the first CTA of the cancelled cluster would have had, or -1 where
// none was left. The response may be overwritten after a fence_proxy_async() and a barrier. (ld.shared.b128;
// clusterlaunchcontrol.query_cancel.is_canceled, ….get_first_ctaid::x)
__device__ __forceinline__ int canceled_cluster(SharedAddress response) {
  int first_cta;
  asm volatile(
      "{\n"
      ".reg .pred canceled;\n"
      ".reg .b128 response;\n"
      "ld.shared.b128 response, [%1];\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 canceled, response;\n"
      "mov.b32 %0, -1;\n"
      "@canceled clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %0, response;\n"
      "}\n"
      : "=r"(first_cta)
      : "r"(response)
      : "memory");
  return first_cta;
}

}  // namespace ladder::ptx
