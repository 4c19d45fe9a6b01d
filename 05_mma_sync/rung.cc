#include "common/rung.h"

namespace ladder {
namespace rung_05 {
Variants<Gemm> minimal();
Variants<Gemm> pipelined_64x64();
Variants<Gemm> ablations();
Variants<Gemm> gemm();
Variants<Gemm> any_n_k();
Variants<FusedNorm> fused_norm();
}  // namespace rung_05

const Rung& rung() {
  static const Rung r{
      .name = "05_mma_sync",
      .title = "Tensor cores (mma.sync), fed by ordinary loads",
      .needs = {8, 0, Compatibility::newer},
      .gemm = with_excursions(
          join({rung_05::minimal(), rung_05::pipelined_64x64(), rung_05::ablations(), rung_05::gemm()}),
          {rung_05::any_n_k()}),
      .fused_norm = rung_05::fused_norm(),
  };
  return r;
}

}  // namespace ladder
