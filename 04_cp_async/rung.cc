#include "common/rung.h"

namespace ladder {
namespace rung_04 {
Variants<Gemm> ablations();
Variants<Gemm> gemm();
Variants<Gemm> any_n_k();
Variants<FusedNorm> fused_norm();
}  // namespace rung_04

const Rung& rung() {
  static const Rung r{
      .name = "04_cp_async",
      .title = "Asynchronous copies (cp.async) and a multistage pipeline",
      .needs = {8, 0, Compatibility::newer},
      .gemm = with_excursions(join({rung_04::ablations(), rung_04::gemm()}), {rung_04::any_n_k()}),
      .fused_norm = rung_04::fused_norm(),
  };
  return r;
}

}  // namespace ladder
