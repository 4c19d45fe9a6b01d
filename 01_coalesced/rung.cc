#include "common/extension.h"

namespace ladder {
namespace rung_01 {
Variants<Gemm> gemm();
Variants<FusedNorm> fused_norm();
Variants<FusedNorm> fusing();
Variants<RowOperator> layer_norm();
Variants<RowOperator> softmax();
}  // namespace rung_01

const Rung& rung() {
  static const Rung r{
      .name = "01_coalesced",
      .title = "Coalesced global memory access",
      .needs = {8, 0, Compatibility::newer},
      .gemm = rung_01::gemm(),
      .fused_norm = with_excursions(rung_01::fused_norm(), {rung_01::fusing()}),
      .row_operator = join({rung_01::layer_norm(), rung_01::softmax()}),
  };
  return r;
}

}  // namespace ladder
