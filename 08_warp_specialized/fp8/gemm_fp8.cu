// Operands of 8 bits: twice the products per byte and per cycle, accumulated by the tensor core alone, in 14
// bits. gemm_promoted.cu does better.
#include "08_warp_specialized/fp8/fp8.cuh"

namespace ladder::rung_08 {

Variants<Gemm> fp8() {
  Variants<Gemm> variants = {{.name = "fp8_e5m2",
                              .what = "A in e5m2, B in e4m3",
                              .launch = general::launch<fp8_ping_pong, Fp8<Precision::fp8_e5m2>>,
                              .extension = &quantised<Precision::fp8_e5m2>},
                             {.name = "fp8_e4m3_e5m2",
                              .what = "A in e4m3, B in e5m2",
                              .launch = general::launch<fp8_ping_pong, Fp8<Precision::fp8_e4m3_e5m2>>,
                              .extension = &quantised<Precision::fp8_e4m3_e5m2>},
                             {.name = "fp8_e5m2_e5m2",
                              .what = "A and B in e5m2",
                              .launch = general::launch<fp8_ping_pong, Fp8<Precision::fp8_e5m2_e5m2>>,
                              .extension = &quantised<Precision::fp8_e5m2_e5m2>},
                             {.name = "fp8_tensor",
                              .what = "e4m3 with a scale for A and one for B, accumulated by the tensor core",
                              .launch = general::launch<fp8_ping_pong, Fp8Tensor>,
                              .extension = &quantised<Precision::fp8_tensor>},
                             {.name = "fp8_128x256",
                              .what = "e4m3, 128x256 tiles, accumulated by the tensor core alone",
                              .launch = general::launch<general::tile_128x256, Fp8<Precision::fp8>>,
                              .extension = &quantised<Precision::fp8>},
                             {.name = "fp8",
                              .what = "e4m3, a 128x128 tile for each consumer, in turn",
                              .launch = general::launch<fp8_ping_pong, Fp8<Precision::fp8>>,
                              .extension = &quantised<Precision::fp8>}};
  for (Variant<Gemm>& variant : variants) variant.unsupported = rows_of_words;
  return variants;
}

}  // namespace ladder::rung_08
