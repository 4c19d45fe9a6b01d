// What rung.cc lists: the launches of this rung's variants. The kernels are in gemm.cu, gemm_bf16_tiles.cu
// and fused_norm.cu; the division below is what all need to count CTAs.
#pragma once

#include "common/rung.h"

namespace ladder::rung_04 {

constexpr int ceil_div(int x, int y) {
  return x / y + (x % y != 0);
}

cudaError_t gemm_bf16_tiles(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_blocking(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_1_stage(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_2_stages(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_3_stages(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_through_l1(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_cp_async(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_cp_async_traced(const Gemm& p, const Timeline& timeline, cudaStream_t stream);
cudaError_t fused_norm_no_ring(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_1_stage(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_2_stages(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_cp_async(const FusedNorm& p, cudaStream_t stream);

}  // namespace ladder::rung_04
