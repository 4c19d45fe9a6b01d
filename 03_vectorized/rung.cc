#include "common/extension.h"

namespace ladder {
namespace rung_03 {
Variants<Gemm> gemm();
Variants<Gemm> precisions();
Variants<FusedNorm> fused_norm();
Variants<FusedNorm> fusing();
Variants<RowOperator> layer_norm();
Variants<RowOperator> softmax();
}  // namespace rung_03

const Rung& rung() {
  static const Rung r{
      .name = "03_vectorized",
      .title = "16-byte accesses (vectorised loads and stores)",
      .needs = {8, 0, Compatibility::newer},
      .gemm = with_excursions(rung_03::gemm(), {rung_03::precisions()}),
      .fused_norm = with_excursions(rung_03::fused_norm(), {rung_03::fusing()}),
      .row_operator = join({rung_03::layer_norm(), rung_03::softmax()}),
  };
  return r;
}

}  // namespace ladder
