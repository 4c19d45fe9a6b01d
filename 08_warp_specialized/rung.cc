#include "common/extension.h"

namespace ladder {
namespace rung_08 {
Variants<Gemm> gemm();
Variants<Gemm> threads_store();
Variants<Gemm> persisting_b();
Variants<Gemm> swapped_operands();
Variants<Gemm> narrow_tiles();
Variants<Gemm> matrix_vector();
Variants<Gemm> shapes();
Variants<Gemm> any_n_k();
Variants<Gemm> fp8_promoted();
Variants<Gemm> fp8();
Variants<FusedNorm> fused_norm_ring();
Variants<FusedNorm> fused_norm_persistent();
Variants<FusedNorm> persisting_gamma();
Variants<FusedNorm> fused_norm_fp8();
Variants<FusedNorm> fused_norm_shapes();
Variants<FusedNorm> fused_norm();
Variants<FusedNorm> fusing();
Variants<RowOperator> layer_norm();
Variants<RowOperator> softmax();
Variants<NormGemm> norm_gemm();
Variants<GroupedGemm> grouped_gemm();
Variants<Linear> linear_bias();
Variants<Linear> linear_gated();
}  // namespace rung_08

const Rung& rung() {
  static const Rung r{
      .name = "08_warp_specialized",
      .title = "Warp specialisation, clusters, persistent CTAs",
      .needs = {9, 0, Compatibility::exact},
      .gemm = join({rung_08::gemm(), rung_08::threads_store(), rung_08::persisting_b(),
                    rung_08::fp8_promoted(), rung_08::fp8(),
                    with_excursions(rung_08::shapes(), {rung_08::swapped_operands(), rung_08::narrow_tiles(),
                                                        rung_08::matrix_vector(), rung_08::any_n_k()})}),
      .fused_norm =
          join({rung_08::fused_norm_ring(), rung_08::fused_norm_persistent(), rung_08::persisting_gamma(),
                with_excursions(rung_08::fused_norm(), {rung_08::fusing(), rung_08::fused_norm_fp8(),
                                                        rung_08::fused_norm_shapes()})}),
      .norm_gemm = rung_08::norm_gemm(),
      .grouped_gemm = rung_08::grouped_gemm(),
      .linear = join({rung_08::linear_bias(), rung_08::linear_gated()}),
      .row_operator = join({rung_08::layer_norm(), rung_08::softmax()}),
  };
  return r;
}

}  // namespace ladder
