#include "common/extension.h"

namespace ladder {
namespace rung_08 {
Variants<Gemm> gemm();
Variants<Gemm> general_variants();
Variants<Gemm> fp8();
Variants<FusedNorm> fused_norm();
Variants<FusedNorm> fused_norm_ring();
Variants<FusedNorm> fused_norm_persistent();
Variants<FusedNorm> fused_norm_fp8();
Variants<NormGemm> norm_gemm();
Variants<Linear> linear_bias();
Variants<Linear> linear_gated();
}  // namespace rung_08

const Rung& rung() {
  static const Rung r{
      .name = "08_warp_specialized",
      .title = "Warp specialisation, clusters, persistent CTAs",
      .needs = {9, 0, Compatibility::exact},
      .gemm = with_excursions(rung_08::gemm(), {rung_08::general_variants(), rung_08::fp8()}),
      .fused_norm = with_excursions(
          rung_08::fused_norm(),
          {rung_08::fused_norm_ring(), rung_08::fused_norm_persistent(), rung_08::fused_norm_fp8()}),
      .norm_gemm = rung_08::norm_gemm(),
      .linear = join({rung_08::linear_bias(), rung_08::linear_gated()}),
  };
  return r;
}

}  // namespace ladder
