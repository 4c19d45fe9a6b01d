#include "common/rung.h"

namespace ladder {
namespace rung_02 {
Variants<Gemm> gemm();
Variants<FusedNorm> fused_norm();
}  // namespace rung_02

const Rung& rung() {
  static const Rung r{
      .name = "02_smem_tiling",
      .title = "Shared-memory tiles and register tiles",
      .needs = {8, 0, Compatibility::newer},
      .gemm = rung_02::gemm(),
      .fused_norm = rung_02::fused_norm(),
  };
  return r;
}

}  // namespace ladder
