// Rung 08's products of 8-bit operands, in the tile that the estimate takes for a shape.
#include "08_warp_specialized/fp8/promotion.cuh"
#include "common/every_shape/hopper/by_shape.cuh"

namespace ladder::every_shape {
namespace {

using rung_08::Fp8, rung_08::Fp8Block, rung_08::Fp8Tensor, rung_08::InTurn, rung_08::quantised;

template <Precision precision, class Policy, Design... designs>
struct Fp8Variant {
  static cudaError_t launch(const Gemm& p, cudaStream_t stream) {
    return launch_by_shape<Policy, designs...>(p, stream);
  }
  static constexpr Extension<Gemm> extension = [] {
    Extension<Gemm> with_kernel = quantised<precision>;
    with_kernel.kernel = kernel_by_shape<Policy, designs...>;
    return with_kernel;
  }();
};
template <Precision precision, class Policy>
using Unpromoted = Fp8Variant<precision, Policy, tile_64x64, split_2, split_4, split_8, tile_64x128_share_a,
                              tile_64x128_share_b, rung_08::fp8_ping_pong>;

using Block = Fp8Variant<Precision::fp8_block, InTurn<Fp8Block>, rung_08::with_scales(tile_64x128_share_b),
                         rung_08::with_scales(rung_08::promoted)>;
using Tensor = Unpromoted<Precision::fp8_tensor, Fp8Tensor>;
using Plain = Unpromoted<Precision::fp8, Fp8<Precision::fp8>>;

}  // namespace

Variants<Gemm> fp8() {
  Variants<Gemm> variants = {
      {.name = "fp8_block",
       .what = "e4m3, a scale for each 1x128 of A and 128x128 of B, in 64 or 128 rows",
       .launch = Block::launch,
       .extension = &Block::extension},
      {.name = "fp8_tensor",
       .what = "e4m3 with a scale for A and one for B, in the tile that the estimate takes",
       .launch = Tensor::launch,
       .extension = &Tensor::extension},
      {.name = "fp8",
       .what = "e4m3, in the tile that the estimate takes",
       .launch = Plain::launch,
       .extension = &Plain::extension}};
  for (Variant<Gemm>& variant : variants) variant.unsupported = rung_08::rows_of_words;
  return variants;
}

}  // namespace ladder::every_shape
