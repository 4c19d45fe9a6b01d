#include "02_smem_tiling/variants.h"

namespace ladder {

const Rung& rung() {
  static const Rung r{
      .name = "02_smem_tiling",
      .title = "tiles in shared memory, a tile of C in registers",
      .needs = {8, 0, Compatibility::newer},
      .gemm = {{"one_output", "32x32 tile in shared memory, one output per thread", any_shape,
                rung_02::gemm_one_output},
               {"column", "128x32 tile, an 8x1 column of outputs per thread", any_shape,
                rung_02::gemm_column},
               {"register_tile", "128x128 tile, an 8x8 register tile per thread", any_shape,
                rung_02::gemm_register_tile}},
      .fused_norm = {{"reread", "h is read back from L2", any_shape, rung_02::fused_norm_reread},
                     {"parked_copy", "h is read back from shared memory", any_shape,
                      rung_02::fused_norm_copy},
                     {"parked", "and written only in the second pass: reads first, then writes", any_shape,
                      rung_02::fused_norm_parked}},
  };
  return r;
}

}  // namespace ladder
