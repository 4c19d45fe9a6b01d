// The same kernel with operands of 8 bits: twice the products per byte and per cycle. What is new is in
// promotion.cuh.
#include "08_warp_specialized/kernel.cuh"
#include "08_warp_specialized/variants.h"

namespace ladder::rung_08 {
namespace {

constexpr Design fp8{.precision = Precision::fp8};
constexpr Design fp8_128x128{
    .precision = Precision::fp8, .block_n = 128, .stages = 6, .cluster_m = 1, .cluster_n = 2, .group = 32};
constexpr Design promoted(Design design, int k_tiles) {
  design.promote = k_tiles;
  return design;
}
// A stage less: scales take its place.
constexpr Design scaled(Design design) {
  design.precision = Precision::fp8_block;
  --design.stages;
  return promoted(design, 1);
}
constexpr Design of_e5m2{.precision = Precision::fp8_e5m2};

}  // namespace

cudaError_t gemm_fp8_128x128(const Gemm& p, cudaStream_t stream) {
  return launch<fp8_128x128>(p, stream);
}
cudaError_t gemm_fp8_promoted_128x128(const Gemm& p, cudaStream_t stream) {
  return launch<promoted(fp8_128x128, 1)>(p, stream);
}
cudaError_t gemm_fp8_promoted_512(const Gemm& p, cudaStream_t stream) {
  return launch<promoted(fp8_128x128, 4)>(p, stream);
}
cudaError_t gemm_fp8_promoted(const Gemm& p, cudaStream_t stream) {
  return launch<promoted(fp8, 1)>(p, stream);
}
cudaError_t gemm_fp8_e5m2(const Gemm& p, cudaStream_t stream) {
  return launch<of_e5m2>(p, stream);
}
cudaError_t gemm_fp8_block_128x128(const Gemm& p, cudaStream_t stream) {
  return launch<scaled(fp8_128x128)>(p, stream);
}
cudaError_t gemm_fp8_block(const Gemm& p, cudaStream_t stream) {
  return launch<scaled(fp8)>(p, stream);
}
cudaError_t gemm_fp8(const Gemm& p, cudaStream_t stream) {
  return launch<fp8>(p, stream);
}

}  // namespace ladder::rung_08
