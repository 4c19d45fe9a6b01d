#include "01_coalesced/variants.h"

namespace ladder {

const Rung& rung() {
  static const Rung r{
      .name = "01_coalesced",
      .title = "neighbouring lanes on neighbouring addresses",
      .needs = {8, 0, Compatibility::newer},
      .gemm = {{"coalesced", "one thread per element of C, threadIdx.x along n", any_shape, rung_01::gemm}},
      .fused_norm = {{"warp_per_row", "a warp per row, shuffles only", any_shape, rung_01::fused_norm_warp},
                     {"cta_per_row", "a CTA per row, shuffles and shared memory", any_shape,
                      rung_01::fused_norm_cta}},
  };
  return r;
}

}  // namespace ladder
