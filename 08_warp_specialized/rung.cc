#include "08_warp_specialized/variants.h"

namespace ladder {
const Rung& rung() {
  static const Rung r{
      .name = "08_warp_specialized",
      .title = "warps with different work, CTAs that share",
      .needs = {9, 0, true},
      .gemm = {{"no_cluster", "every CTA reads all of its B itself", rung_08::rows_of_vectors,
                rung_08::gemm_no_cluster},
               {"cluster_of_4", "four CTAs share B", rung_08::rows_of_vectors, rung_08::gemm_cluster_of_4},
               {"128x128", "CTA tiles half as wide, six stages", rung_08::rows_of_vectors,
                rung_08::gemm_128x128},
               {"3_stages", "three stages", rung_08::rows_of_vectors, rung_08::gemm_3_stages},
               {"row_by_row", "pairs of CTA tiles in the order of rows", rung_08::rows_of_vectors,
                rung_08::gemm_row_by_row},
               {"warp_specialized", "128x256 tiles, four stages, two CTAs share B", rung_08::rows_of_vectors,
                rung_08::gemm_warp_specialized}},
      .fused_norm = {{"1_stage", "rows fetched one batch ahead", any_shape, rung_08::fused_norm_1_stage},
                     {"2_stages", "two batches ahead", any_shape, rung_08::fused_norm_2_stages},
                     {"warp_specialized", "a warp that fetches, three batches ahead of those that compute",
                      any_shape, rung_08::fused_norm_warp_specialized}},
  };
  return r;
}

}  // namespace ladder
