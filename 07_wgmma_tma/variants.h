// What rung.cc lists: the launches of this rung's variants. The kernels are in gemm.cu and fused_norm.cu;
// the division below is what both need to count tiles.
#pragma once

#include "common/rung.h"

namespace ladder::rung_07 {

__host__ __device__ constexpr int ceil_div(int x, int y) {
  return x / y + (x % y != 0);
}

// Why gemm cannot run a shape.
std::string rows_of_vectors(const Gemm& p);

cudaError_t gemm_no_swizzle(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_swizzle_32(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_swizzle_64(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_128x128(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_2_stages(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_3_stages(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_wgmma_tma(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_wgmma_tma_traced(const Gemm& p, const Timeline& timeline, cudaStream_t stream);
cudaError_t fused_norm_no_ring(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_1_stage(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_2_stages(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_wgmma_tma(const FusedNorm& p, cudaStream_t stream);

}  // namespace ladder::rung_07
