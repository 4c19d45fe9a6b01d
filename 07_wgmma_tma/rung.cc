#include "07_wgmma_tma/variants.h"

namespace ladder {
const Rung& rung() {
  static const Rung r{
      .name = "07_wgmma_tma",
      .title = "tiles move and multiply by themselves",
      .needs = {9, 0, Compatibility::exact},
      .gemm = {{"no_swizzle", "core matrices one after the other: boxes of 16 bytes",
                rung_07::rows_of_vectors, rung_07::gemm_no_swizzle},
               {"swizzle_32", "boxes of 32 bytes", rung_07::rows_of_vectors, rung_07::gemm_swizzle_32},
               {"swizzle_64", "boxes of 64 bytes", rung_07::rows_of_vectors, rung_07::gemm_swizzle_64},
               {"128x128", "CTA tiles half as wide", rung_07::rows_of_vectors, rung_07::gemm_128x128},
               {"2_stages", "two stages", rung_07::rows_of_vectors, rung_07::gemm_2_stages},
               {"3_stages", "three stages", rung_07::rows_of_vectors, rung_07::gemm_3_stages},
               {"wgmma_tma", "128x256 tiles, four stages, boxes of 128 bytes", rung_07::rows_of_vectors,
                rung_07::gemm_wgmma_tma, Precision::bf16, nullptr, nullptr, rung_07::gemm_wgmma_tma_traced}},
      .fused_norm = {{"no_ring", "a row per CTA, loaded as on rung 03", any_shape,
                      rung_07::fused_norm_no_ring},
                     {"1_stage", "persistent CTAs, one row on its way", any_shape,
                      rung_07::fused_norm_1_stage},
                     {"2_stages", "two rows on their way", any_shape, rung_07::fused_norm_2_stages},
                     {"wgmma_tma", "whole rows by bulk copies, three on their way", any_shape,
                      rung_07::fused_norm_wgmma_tma}},
  };
  return r;
}

}  // namespace ladder
