// Operands of 8 bits, and accumulators that leave the tensor core every few k-tiles: promotion.cuh says how.
#include "08_warp_specialized/fp8/promotion.cuh"

namespace ladder::rung_08 {

Variants<Gemm> fp8_promoted() {
  using general::launch;
  Variants<Gemm> variants = {
      {.name = "fp8_tensor_promoted",
       .what = "e4m3 with a scale for A and one for B, every 128 of k accumulated in fp32",
       .launch = launch<promoted, InTurn<Fp8Tensor>>,
       .extension = &quantised<Precision::fp8_tensor>},
      {.name = "fp8_block",
       .what = "e4m3, a scale for each 1x128 of A and 128x128 of B",
       .launch = launch<with_scales(promoted), InTurn<Fp8Block>>,
       .extension = &quantised<Precision::fp8_block>},
      {.name = "fp8_one_part",
       .what = "e4m3, every 128 of k accumulated in fp32, with no MMAs in flight meanwhile",
       .launch = launch<promoted, Promoted<Fp8<Precision::fp8>, 1>>,
       .extension = &quantised<Precision::fp8>},
      {.name = "fp8_every_512",
       .what = "e4m3, every 512 of k accumulated in fp32, with no MMAs in flight meanwhile",
       .launch = launch<promoted, Promoted<Fp8<Precision::fp8>, 4>>,
       .extension = &quantised<Precision::fp8>},
      {.name = "fp8_promoted",
       .what = "e4m3, every 128 of k accumulated in fp32 while the MMAs of the next 128 run",
       .launch = launch<promoted, InTurn<Fp8<Precision::fp8>>>,
       .extension = &quantised<Precision::fp8>}};
  for (Variant<Gemm>& variant : variants) variant.unsupported = rows_of_words;
  return variants;
}

}  // namespace ladder::rung_08
