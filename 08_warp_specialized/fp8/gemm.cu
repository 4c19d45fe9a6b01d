// Operands of 8 bits: twice the products per byte and per cycle. Accumulated by the tensor core alone, in 14
// bits; or promoted every few k-tiles to fp32 in registers, promotion.cuh.
#include "08_warp_specialized/fp8/promotion.cuh"

namespace ladder::rung_08 {

Variants<Gemm> fp8() {
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
       .extension = &quantised<Precision::fp8>},
      {.name = "fp8_e5m2",
       .what = "A in e5m2, B in e4m3",
       .launch = launch<fp8_ping_pong, Fp8<Precision::fp8_e5m2>>,
       .extension = &quantised<Precision::fp8_e5m2>},
      {.name = "fp8_e4m3_e5m2",
       .what = "A in e4m3, B in e5m2",
       .launch = launch<fp8_ping_pong, Fp8<Precision::fp8_e4m3_e5m2>>,
       .extension = &quantised<Precision::fp8_e4m3_e5m2>},
      {.name = "fp8_e5m2_e5m2",
       .what = "A and B in e5m2",
       .launch = launch<fp8_ping_pong, Fp8<Precision::fp8_e5m2_e5m2>>,
       .extension = &quantised<Precision::fp8_e5m2_e5m2>},
      {.name = "fp8_tensor",
       .what = "e4m3 with a scale for A and one for B, accumulated by the tensor core",
       .launch = launch<fp8_ping_pong, Fp8Tensor>,
       .extension = &quantised<Precision::fp8_tensor>},
      {.name = "fp8_128x256",
       .what = "e4m3, 128x256 tiles, accumulated by the tensor core alone",
       .launch = launch<general::tile_128x256, Fp8<Precision::fp8>>,
       .extension = &quantised<Precision::fp8>},
      {.name = "fp8",
       .what = "e4m3, a 128x128 tile for each consumer, in turn",
       .launch = launch<fp8_ping_pong, Fp8<Precision::fp8>>,
       .extension = &quantised<Precision::fp8>}};
  for (Variant<Gemm>& variant : variants) variant.unsupported = rows_of_words;
  return variants;
}

}  // namespace ladder::rung_08
