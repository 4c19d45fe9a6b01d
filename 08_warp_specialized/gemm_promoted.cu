// Operands of 8 bits, and sums that leave the tensor core every few k-tiles: promotion.cuh says how.
#include "08_warp_specialized/kernel.cuh"
#include "08_warp_specialized/variants.h"

namespace ladder::rung_08 {
namespace {

constexpr Design promoted(Design design, int k_tiles) {
  design.precision = Precision::fp8;
  design.promote = k_tiles;
  return design;
}
// A stage less: scales take its place.
constexpr Design scaled(Design design) {
  design = promoted(design, 1);
  design.precision = Precision::fp8_block;
  --design.stages;
  return design;
}

}  // namespace

cudaError_t gemm_fp8_promoted_128x128(const Gemm& p, cudaStream_t stream) {
  return launch<promoted(tile_128x128, 1)>(p, stream);
}
cudaError_t gemm_fp8_promoted_512(const Gemm& p, cudaStream_t stream) {
  return launch<promoted(tile_128x128, 4)>(p, stream);
}
cudaError_t gemm_fp8_promoted(const Gemm& p, cudaStream_t stream) {
  return launch<promoted(tile_128x256, 1)>(p, stream);
}
cudaError_t gemm_fp8_block(const Gemm& p, cudaStream_t stream) {
  return launch_fastest<scaled(tile_64x128_share_b), scaled(tile_128x128), scaled(tile_128x256)>(p, stream);
}

}  // namespace ladder::rung_08
