// Operands of 8 bits: twice the products per byte and per cycle, accumulated by the tensor core alone, in 14
// bits. gemm_promoted.cu does better.
#include "08_warp_specialized/fp8/fp8.cuh"

namespace ladder::rung_08 {
namespace {

// A tile's epilogue weighs twice what it does in bf16: here the other consumer's tile hides it.
constexpr Design ping_pong{.rows_each = 2,
                           .block_n = 128,
                           .stages = 6,
                           .cluster_m = 1,
                           .cluster_n = 2,
                           .group = 16,
                           .ping_pong = true};

// The rung's choice among its tiles, with these operands.
template <class Policy>
cudaError_t launch_fastest(const Gemm& p, cudaStream_t stream) {
  return general::launch_fastest<Policy, general::tile_64x64, general::split_2, general::split_4,
                                 general::split_8, general::tile_64x128_share_a, general::tile_64x128_share_b,
                                 general::tile_128x128, general::tile_128x192, general::tile_128x256,
                                 ping_pong>(p, stream);
}

}  // namespace

Variants<Gemm> fp8() {
  Variants<Gemm> variants = {{.name = "fp8_e5m2",
                              .what = "A in e5m2, B in e4m3",
                              .launch = launch_fastest<Fp8<Precision::fp8_e5m2>>,
                              .extension = &quantised<Precision::fp8_e5m2>},
                             {.name = "fp8_e4m3_e5m2",
                              .what = "A in e4m3, B in e5m2",
                              .launch = launch_fastest<Fp8<Precision::fp8_e4m3_e5m2>>,
                              .extension = &quantised<Precision::fp8_e4m3_e5m2>},
                             {.name = "fp8_e5m2_e5m2",
                              .what = "A and B in e5m2",
                              .launch = launch_fastest<Fp8<Precision::fp8_e5m2_e5m2>>,
                              .extension = &quantised<Precision::fp8_e5m2_e5m2>},
                             {.name = "fp8_tensor",
                              .what = "e4m3 with a scale for A and one for B, accumulated by the tensor core",
                              .launch = launch_fastest<Fp8Tensor>,
                              .extension = &quantised<Precision::fp8_tensor>},
                             {.name = "fp8_128x256",
                              .what = "e4m3, 128x256 tiles, accumulated by the tensor core alone",
                              .launch = general::launch<general::tile_128x256, Fp8<Precision::fp8>>,
                              .extension = &quantised<Precision::fp8>},
                             {.name = "fp8_ping_pong",
                              .what = "a 128x128 tile for each consumer, in turn",
                              .launch = general::launch<ping_pong, Fp8<Precision::fp8>>,
                              .extension = &quantised<Precision::fp8>},
                             {.name = "fp8",
                              .what = "e4m3, by size one of the tile shapes: the estimate's choice",
                              .launch = launch_fastest<Fp8<Precision::fp8>>,
                              .extension = &quantised<Precision::fp8>}};
  for (Variant<Gemm>& variant : variants) variant.unsupported = rows_of_words;
  return variants;
}

}  // namespace ladder::rung_08
