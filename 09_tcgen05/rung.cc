#include "09_tcgen05/variants.h"

namespace ladder {
namespace {

// A gemm in a precision that rounds its operands first.
template <Precision precision>
Variant<Gemm> rounded(const char* name, const char* what, cudaError_t (*launch)(const Gemm&, cudaStream_t)) {
  return {name,
          what,
          rung_09::whole_blocks<precision>,
          launch,
          precision,
          rung_09::workspace_bytes<precision>,
          rung_09::quantise<precision>};
}

}  // namespace

const Rung& rung() {
  static const Rung r{
      .name = "09_tcgen05",
      .title = "one thread multiplies, the sums have memory of their own",
      .needs = {10, 0, Compatibility::family},
      .gemm = {{"one_stage", "one CTA, one thread, one stage: nothing overlaps", rung_09::rows_of_vectors,
                rung_09::gemm_one_stage},
               {"pipelined", "the same thread loads four stages ahead", rung_09::rows_of_vectors,
                rung_09::gemm_pipelined},
               {"warp_specialized", "a warp loads, another multiplies", rung_09::rows_of_vectors,
                rung_09::gemm_warp_specialized},
               {"two_ctas", "two CTAs multiply together, each with half of B", rung_09::rows_of_vectors,
                rung_09::gemm_two_ctas},
               {"persistent", "a tile is multiplied while the last one is stored", rung_09::rows_of_vectors,
                rung_09::gemm_persistent},
               rounded<Precision::fp8>("fp8", "the rung with e4m3 operands", rung_09::gemm_fp8),
               rounded<Precision::mxfp8>("mxfp8", "e4m3, and a scale for every 32 elements",
                                         rung_09::gemm_mxfp8),
               rounded<Precision::nvfp4>("nvfp4", "e2m1, and a scale for every 16", rung_09::gemm_nvfp4),
               {"launch_control", "clusters take over the tiles of those that have not started",
                rung_09::rows_of_vectors, rung_09::gemm_launch_control}},
      .fused_norm = {{"16_bytes", "16 bytes per access", any_shape, rung_09::fused_norm_16_bytes},
                     {"mxfp8", "y in e4m3 with a scale for every 32 elements",
                      rung_09::whole_blocks<Precision::mxfp8>, rung_09::fused_norm_mxfp8, Precision::mxfp8},
                     {"nvfp4", "y in e2m1 with a scale for every 16", rung_09::whole_blocks<Precision::nvfp4>,
                      rung_09::fused_norm_nvfp4, Precision::nvfp4},
                     {"32_bytes", "32 bytes per access", any_shape, rung_09::fused_norm_32_bytes}},
      .norm_gemm = {rung_09::norm_gemm_row_scales()},
  };
  return r;
}

}  // namespace ladder
