// CUTLASS's GEMM as it is written for Ampere: cp.async into a multistage buffer, ldmatrix and mma.sync, one
// tile of C for each CTA. What rungs 04 to 06 are built from. (CUTLASS 2.x API)
#include <cutlass/epilogue/thread/linear_combination.h>
#include <cutlass/gemm/device/gemm_universal.h>

#include "common/cutlass/configurations.h"

namespace ladder::beside {
namespace {

// A CTA's tile, a warp's, and the stages of the multistage buffer. Neighbouring CTAs share up to 8 rows of
// tiles.
template <int m, int n, int k, int warp_m, int warp_n, int stages>
using Multistage = cutlass::gemm::device::GemmUniversal<
    Element, Row, Element, Row, Element, Row, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<m, n, k>, cutlass::gemm::GemmShape<warp_m, warp_n, k>,
    cutlass::gemm::GemmShape<16, 8, 16>,
    cutlass::epilogue::thread::LinearCombination<Element, elements_of_16_bytes, float, float,
                                                 cutlass::epilogue::thread::ScaleType::Nothing>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>, stages, elements_of_16_bytes,
    elements_of_16_bytes>;

template <class Kernel>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  const typename Kernel::Arguments arguments(cutlass::gemm::GemmUniversalMode::kGemm, {p.m, p.n, p.k}, 1, {},
                                             p.a, p.b, p.c, p.c, 0, 0, 0, 0, p.k, p.n, p.n, p.n);
  Kernel kernel;
  if (kernel.initialize(arguments, nullptr, stream) != cutlass::Status::kSuccess) return failed();
  return kernel.run(stream) == cutlass::Status::kSuccess ? cudaSuccess : failed();
}

template <int m, int n, int k, int warp_m, int warp_n, int stages>
Variant<Gemm> variant(const char* name, const char* what) {
  using Kernel = Multistage<m, n, k, warp_m, warp_n, stages>;
  return {.name = name, .what = what, .unsupported = whole_vectors, .launch = launch<Kernel>};
}

}  // namespace

Variants<Gemm> sm80() {
  return {variant<128, 128, 32, 64, 64, 4>("sm80_128x128x32", "mma.sync, 4 warps of 64x64, 4 stages"),
          variant<128, 256, 32, 64, 64, 3>("sm80_128x256x32", "mma.sync, 8 warps of 64x64, 3 stages"),
          variant<256, 128, 32, 64, 64, 3>("sm80_256x128x32", "mma.sync, 8 warps of 64x64, 3 stages"),
          variant<128, 128, 64, 64, 64, 3>("sm80_128x128x64", "mma.sync, 4 warps of 64x64, 3 stages"),
          variant<128, 256, 64, 64, 64, 3>("sm80_128x256x64", "mma.sync, 8 warps of 64x64, 3 stages")};
}

}  // namespace ladder::beside
