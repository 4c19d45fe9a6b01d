#include "common/rung.h"

namespace ladder {
namespace rung_07 {
Variants<Gemm> cp_async();
Variants<Gemm> register_a();
Variants<Gemm> gemm();
Variants<Gemm> any_n_k();
Variants<Gemm> mixed();
Variants<Gemm> sparse();
Variants<Gemm> fp64();
Variants<FusedNorm> fused_norm();
}  // namespace rung_07

const Rung& rung() {
  static const Rung r{
      .name = "07_wgmma_tma",
      .title = "TMA and wgmma",
      .needs = {9, 0, Compatibility::exact},
      .gemm = with_excursions(join({rung_07::cp_async(), rung_07::register_a(), rung_07::gemm()}),
                              {rung_07::any_n_k(), rung_07::mixed(), rung_07::sparse(), rung_07::fp64()}),
      .fused_norm = rung_07::fused_norm(),
  };
  return r;
}

}  // namespace ladder
