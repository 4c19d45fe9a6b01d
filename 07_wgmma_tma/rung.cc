#include "common/rung.h"

namespace ladder {
namespace rung_07 {
Variants<Gemm> gemm();
Variants<FusedNorm> fused_norm();
}  // namespace rung_07

const Rung& rung() {
  static const Rung r{
      .name = "07_wgmma_tma",
      .title = "TMA and wgmma",
      .needs = {9, 0, Compatibility::exact},
      .gemm = rung_07::gemm(),
      .fused_norm = rung_07::fused_norm(),
  };
  return r;
}

}  // namespace ladder
