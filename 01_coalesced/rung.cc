#include "common/rung.h"

namespace ladder {
namespace rung_01 {
Variants<Gemm> gemm();
Variants<FusedNorm> fused_norm();
}  // namespace rung_01

const Rung& rung() {
  static const Rung r{
      .name = "01_coalesced",
      .title = "Coalesced global memory access",
      .needs = {8, 0, Compatibility::newer},
      .gemm = rung_01::gemm(),
      .fused_norm = rung_01::fused_norm(),
  };
  return r;
}

}  // namespace ladder
