#include "06_swizzle_ldmatrix/variants.h"

namespace ladder {
const Rung& rung() {
  static const Rung r{
      .name = "06_swizzle_ldmatrix",
      .title = "fragments without bank conflicts",
      .needs = {8, 0, Compatibility::newer},
      .gemm = {{"unswizzled", "rows as they are: 8-way bank conflicts", rung_06::rows_of_vectors,
                rung_06::gemm_unswizzled},
               {"padded", "rows 16 bytes apart", rung_06::rows_of_vectors_padded, rung_06::gemm_padded},
               {"single_buffer", "fragments are loaded, then multiplied", rung_06::rows_of_vectors,
                rung_06::gemm_single_buffer},
               {"straight", "every row of mmas begins with the same fragment of B", rung_06::rows_of_vectors,
                rung_06::gemm_straight},
               {"compiler_offsets", "offsets in shared memory left to the compiler", rung_06::rows_of_vectors,
                rung_06::gemm_compiler_offsets},
               {"row_by_row", "CTA tiles in the order of rows", rung_06::rows_of_vectors,
                rung_06::gemm_row_by_row},
               {"tile_per_cta", "a CTA for each tile, which waits for its first copies and stores alone",
                rung_06::rows_of_vectors, rung_06::gemm_tile_per_cta},
               {"stores_later", "a tile of C is stored while the next is multiplied",
                rung_06::rows_of_vectors, rung_06::gemm_stores_later},
               rung_06::gemm_f16(),
               rung_06::gemm_f16_f16(),
               rung_06::gemm_tf32(),
               rung_06::gemm_s8_stores_at_once(),
               rung_06::gemm_s8(),
               rung_06::gemm_fp8(),
               rung_06::gemm_fp8_e5m2(),
               rung_06::gemm_bf16_sparse(),
               {"swizzle_ldmatrix", "swizzled rows, two sets of fragments, eight rows of CTA tiles at a time",
                rung_06::rows_of_vectors, rung_06::gemm_swizzle_ldmatrix, Precision::bf16, nullptr, nullptr,
                rung_06::gemm_swizzle_ldmatrix_traced}},
      .fused_norm = {{"unswizzled", "rows as they are: ldmatrix meets 8-way bank conflicts", any_shape,
                      rung_06::fused_norm_unswizzled},
                     {"swizzle_ldmatrix", "h in swizzled tiles, the row sum by ldmatrix and tensor cores",
                      any_shape, rung_06::fused_norm_swizzle_ldmatrix}},
      .norm_gemm = {rung_06::norm_gemm_row_scales()},
  };
  return r;
}

}  // namespace ladder
