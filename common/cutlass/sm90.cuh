// CUTLASS's GEMM as it is written for Hopper: a warp-specialised producer of TMA loads, multicast within a
// cluster, consumers of wgmma, persistent CTAs and a TMA-store epilogue. What rungs 07 and 08 are built from.
// (CUTLASS 3.x API)
#pragma once

#include <cutlass/gemm/device/gemm_universal_adapter.h>

#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

#include "common/cutlass/configurations.h"

namespace ladder::beside {

// A CTA's tile and the cluster; the schedules of mainloop and epilogue. As many stages as shared memory has
// room for beside the epilogue.
template <class Tile, class Cluster, class Mainloop, class Epilogue>
struct Sm90 {
  using CollectiveEpilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
      cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, Row, elements_of_16_bytes, Element,
      Row, elements_of_16_bytes, Epilogue>::CollectiveOp;
  using CollectiveMainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, Row, elements_of_16_bytes, Element, Row,
      elements_of_16_bytes, float, Tile, Cluster,
      cutlass::gemm::collective::StageCountAutoCarveout<int(
          sizeof(typename CollectiveEpilogue::SharedStorage))>,
      Mainloop>::CollectiveOp;
  using Kernel = cutlass::gemm::device::GemmUniversalAdapter<cutlass::gemm::kernel::GemmUniversal<
      cute::Shape<int, int, int, int>, CollectiveMainloop, CollectiveEpilogue>>;
};

// Set here, or CUTLASS queries all of the device's properties at each launch, which takes milliseconds.
inline int multiprocessors() {
  int device = 0, count = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}

template <class Kernel>
cudaError_t launch_sm90(const Gemm& p, cudaStream_t stream) {
  typename Kernel::Arguments arguments{};
  arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
  arguments.problem_shape = {p.m, p.n, p.k, 1};
  arguments.mainloop.ptr_A = reinterpret_cast<const Element*>(p.a);
  arguments.mainloop.dA = cute::make_stride(std::int64_t(p.k), cute::Int<1>{}, std::int64_t(0));
  arguments.mainloop.ptr_B = reinterpret_cast<const Element*>(p.b);
  arguments.mainloop.dB = cute::make_stride(cute::Int<1>{}, std::int64_t(p.n), std::int64_t(0));
  arguments.epilogue.ptr_D = reinterpret_cast<Element*>(p.c);
  arguments.epilogue.dD = cute::make_stride(std::int64_t(p.n), cute::Int<1>{}, std::int64_t(0));
  arguments.hw_info.sm_count = multiprocessors();
  // Neighbouring clusters share up to 8 rows or columns of tiles.
  arguments.scheduler.max_swizzle_size = 8;
  Kernel kernel;
  // The persistent scheduler without stream-K has no workspace.
  if (Kernel::get_workspace_size(arguments) != 0) return cudaErrorNotSupported;
  if (kernel.run(arguments, nullptr, stream) != cutlass::Status::kSuccess) return failed();
  return cudaSuccess;
}

template <class Configuration>
Variant<Gemm> sm90_variant(const char* name, const char* what) {
  return {.name = name,
          .what = what,
          .unsupported = whole_vectors,
          .launch = launch_sm90<typename Configuration::Kernel>};
}

}  // namespace ladder::beside
