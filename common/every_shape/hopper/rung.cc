#include "common/extension.h"

namespace ladder {
namespace every_shape {
Variants<Gemm> straight_tiles();
Variants<Gemm> transposed_tiles();
Variants<Gemm> narrow_tiles();
Variants<Gemm> matrix_vector();
Variants<Gemm> persisting_b();
Variants<Gemm> fp8();
Variants<Gemm> every_shape();
Variants<FusedNorm> fusing();
Variants<FusedNorm> persisting_gamma();
Variants<FusedNorm> every_width();
Variants<NormGemm> norm_gemm();
Variants<GroupedGemm> grouped_gemm();
Variants<Linear> linear();
Variants<RowOperator> layer_norm();
Variants<RowOperator> softmax();
}  // namespace every_shape

// Not a rung of the course, but the harness treats it as one.
const Rung& rung() {
  static const Rung r{
      .name = "every_shape",
      .title = "A kernel for every shape on Hopper",
      .needs = {9, 0, Compatibility::exact},
      .gemm = join({every_shape::fp8(), every_shape::persisting_b(), every_shape::straight_tiles(),
                    every_shape::transposed_tiles(), every_shape::narrow_tiles(),
                    every_shape::matrix_vector(), every_shape::every_shape()}),
      .fused_norm =
          join({every_shape::fusing(), every_shape::persisting_gamma(), every_shape::every_width()}),
      .norm_gemm = every_shape::norm_gemm(),
      .grouped_gemm = every_shape::grouped_gemm(),
      .linear = every_shape::linear(),
      .row_operator = join({every_shape::layer_norm(), every_shape::softmax()}),
  };
  return r;
}

}  // namespace ladder
