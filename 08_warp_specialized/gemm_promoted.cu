// Operands of 8 bits, and sums that leave the tensor core every few k-tiles: promotion.cuh says how.
#include "08_warp_specialized/kernel.cuh"
#include "08_warp_specialized/variants.h"

namespace ladder::rung_08 {
namespace {

constexpr Design tile{.precision = Precision::fp8, .block_n = 128, .stages = 6, .group = 16};
constexpr Design one_part(int k_tiles) {
  Design design = tile;
  design.promote = k_tiles;
  return design;
}
constexpr Design in_turn(Design design) {
  design.promote = 1;
  design.two_parts = true;
  return design;
}
// A stage less: scales take its place.
constexpr Design scaled(Design design) {
  --design.stages;
  return in_turn(of(Precision::fp8_block, design));
}

}  // namespace

cudaError_t gemm_fp8_one_part(const Gemm& p, cudaStream_t stream) {
  return launch<one_part(1)>(p, stream);
}
cudaError_t gemm_fp8_every_512(const Gemm& p, cudaStream_t stream) {
  return launch<one_part(4)>(p, stream);
}
cudaError_t gemm_fp8_promoted(const Gemm& p, cudaStream_t stream) {
  return launch<in_turn(tile)>(p, stream);
}
cudaError_t gemm_fp8_tensor_promoted(const Gemm& p, cudaStream_t stream) {
  return launch<in_turn(of(Precision::fp8_tensor, tile))>(p, stream);
}
cudaError_t gemm_fp8_block(const Gemm& p, cudaStream_t stream) {
  return launch_fastest<scaled(tile_64x128_share_b), scaled(tile)>(p, stream);
}

}  // namespace ladder::rung_08
