#include "common/rung.h"

namespace ladder {
namespace rung_02 {
Variants<Gemm> gemm();
Variants<FusedNorm> fused_norm();
}  // namespace rung_02

const Rung& rung() {
  static const Rung r{
      .name = "02_smem_tiling",
      .title = "tiles in shared memory, a tile of C in registers",
      .needs = {8, 0, Compatibility::newer},
      .gemm = rung_02::gemm(),
      .fused_norm = rung_02::fused_norm(),
  };
  return r;
}

}  // namespace ladder
