#include "common/rung.h"

#include "common/extension.h"

namespace ladder {
namespace rung_06 {
Variants<Gemm> four_stages();
Variants<Gemm> tricks();
Variants<Gemm> with_timeline(Variants<Gemm> table);
Variants<Gemm> gemm();
Variants<Gemm> any_n_k();
Variants<Gemm> precisions();
Variants<Gemm> fp64();
Variants<Gemm> fp8();
Variants<Gemm> sparse();
Variants<FusedNorm> fused_norm();
Variants<NormGemm> norm_gemm();
Variants<Linear> linear();
}  // namespace rung_06

const Rung& rung() {
  static const Rung r{
      .name = "06_swizzle_ldmatrix",
      .title = "Swizzled shared memory, ldmatrix and register double buffering",
      .needs = {8, 0, Compatibility::newer},
      .gemm = with_excursions(
          join({rung_06::four_stages(), rung_06::tricks(), rung_06::with_timeline(rung_06::gemm())}),
          {rung_06::any_n_k(), rung_06::precisions(), rung_06::fp64(), rung_06::fp8(), rung_06::sparse()}),
      .fused_norm = rung_06::fused_norm(),
      .norm_gemm = rung_06::norm_gemm(),
      .linear = rung_06::linear(),
  };
  return r;
}

}  // namespace ladder
