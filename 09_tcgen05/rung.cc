#include "common/rung.h"

namespace ladder {
namespace rung_09 {
Variants<Gemm> gemm();
Variants<Gemm> ablations();
Variants<Gemm> block_scaled_gemm();
Variants<Gemm> sparse();
Variants<FusedNorm> fused_norm();
Variants<FusedNorm> block_scaled_norm();
Variants<NormGemm> norm_gemm();
Variants<Linear> linear();
}  // namespace rung_09

const Rung& rung() {
  static const Rung r{
      .name = "09_tcgen05",
      .title = "tcgen05 and tensor memory",
      .needs = {10, 0, Compatibility::family},
      .gemm = join({rung_09::ablations(),
                    with_excursions(rung_09::gemm(), {rung_09::sparse(), rung_09::block_scaled_gemm()})}),
      .fused_norm = with_excursions(rung_09::fused_norm(), {rung_09::block_scaled_norm()}),
      .norm_gemm = rung_09::norm_gemm(),
      .linear = rung_09::linear(),
  };
  return r;
}

}  // namespace ladder
