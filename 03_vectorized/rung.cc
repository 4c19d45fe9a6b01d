#include "03_vectorized/variants.h"

namespace ladder {

const Rung& rung() {
  static const Rung r{
      .name = "03_vectorized",
      .title = "16 bytes per access",
      .needs = {8, 0, Compatibility::newer},
      .gemm = {{"scalar_global", "2-byte global accesses, 16-byte shared ones", any_shape,
                rung_03::gemm_scalar_global},
               {"single_buffer", "16-byte accesses, no prefetch", any_shape, rung_03::gemm_single_buffer},
               {"fp32", "fp32 all the way: the type of the CUDA cores", any_shape, rung_03::gemm_fp32,
                Precision::fp32},
               {"dp4a", "four products of 8 bits in an instruction", rung_03::sums_in_s32, rung_03::gemm_dp4a,
                Precision::s8, rung_03::packed_bytes, rung_03::pack},
               {"vectorized", "16-byte accesses, next tile prefetched", any_shape, rung_03::gemm_vectorized}},
      .fused_norm = {{"reread", "16-byte accesses, h is read back from L2", any_shape,
                      rung_03::fused_norm_reread},
                     {"interleaved", "row in registers, read and written vector by vector", any_shape,
                      rung_03::fused_norm_interleaved},
                     {"gamma_late", "x and residual read before any write", any_shape,
                      rung_03::fused_norm_gamma_late},
                     {"vectorized", "gamma read ahead of the reduction, too", any_shape,
                      rung_03::fused_norm_vectorized}},
  };
  return r;
}

}  // namespace ladder
