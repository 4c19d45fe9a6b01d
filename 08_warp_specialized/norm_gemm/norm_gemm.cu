// The norm disappears. Its scale is a factor of a row of C, gamma a factor of a row of W: what is left before
// the product is h = x + residual. In two kernels, the first adds and leaves the rows' sums of squares, the
// second is the general gemm, which scales C's rows as it stores them. In one kernel, the gemm adds as well:
// add_rows.cuh.
#include "08_warp_specialized/norm_gemm/sum.cuh"

namespace ladder::rung_08 {
namespace {

using general::Design;

// product_early: the product starts while the add still runs.
template <bool product_early>
cudaError_t launch_two_kernels(const NormGemm& p, cudaStream_t stream) {
  const NormOperands norm = operands_of_two_kernels(p);
  const cudaError_t error = launch_add(p, norm.squares, stream, false);
  if (error != cudaSuccess) return error;
  return general::launch<general::tile_128x256, ScaleRows>(product(p), stream, norm, product_early);
}

template <Design strips>
cudaError_t launch_one_kernel(const NormGemm& p, cudaStream_t stream) {
  return general::launch<strips, AddRows>(product(p), stream, operands_of_one_kernel(p), false);
}
cudaError_t launch_strips(const NormGemm& p, cudaStream_t stream) {
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  return wants_high_strips(p.n, sms) ? launch_one_kernel<high_strips>(p, stream)
                                     : launch_one_kernel<low_strips>(p, stream);
}

}  // namespace

Variants<NormGemm> norm_gemm() {
  Variants<NormGemm> variants = {
      {.name = "late_start",
       .what = "the residual add, and a product that scales rows and starts when the add has ended",
       .launch = launch_two_kernels<false>},
      {.name = "row_scales",
       .what = "the residual add, and a product that scales rows and starts while the add still runs",
       .launch = launch_two_kernels<true>},
      {.name = "high_strips",
       .what = "one kernel: the product's producers add, in strips as high as the gemm's",
       .launch = launch_one_kernel<high_strips>},
      {.name = "one_kernel",
       .what = "one kernel, in strips as high as what the GPU multiplies at a time",
       .launch = launch_strips}};
  for (Variant<NormGemm>& variant : variants) {
    variant.unsupported = rows_of_vectors;
    variant.extension = &with_workspace;
  }
  return variants;
}

}  // namespace ladder::rung_08
