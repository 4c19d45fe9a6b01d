// What rung.cc lists: the launches of this rung's variants. The kernels are in gemm.cu and fused_norm.cu;
// the division below is what both need to count CTAs.
#pragma once

#include "common/rung.h"

namespace ladder::rung_02 {

constexpr int ceil_div(int x, int y) {
  return x / y + (x % y != 0);
}

cudaError_t gemm_one_output(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_column(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_register_tile(const Gemm& p, cudaStream_t stream);
cudaError_t fused_norm_reread(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_copy(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_parked(const FusedNorm& p, cudaStream_t stream);

}  // namespace ladder::rung_02
