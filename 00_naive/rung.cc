#include "common/rung.h"

namespace ladder {
namespace rung_00 {
Variants<Gemm> gemm();
Variants<FusedNorm> fused_norm();
}  // namespace rung_00

const Rung& rung() {
  static const Rung r{
      .name = "00_naive",
      .title = "One thread per output, uncoalesced",
      .needs = {8, 0, Compatibility::newer},
      .gemm = rung_00::gemm(),
      .fused_norm = rung_00::fused_norm(),
  };
  return r;
}

}  // namespace ladder
