// What rung.cc lists: the launches of this rung's variants. The kernels are in gemm.cu and fused_norm.cu;
// the division below is what both need to count CTAs.
#pragma once

#include "common/rung.h"

namespace ladder::rung_05 {

constexpr int ceil_div(int x, int y) {
  return x / y + (x % y != 0);
}

cudaError_t gemm_halfwords(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_words(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_unpadded(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_128x256(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_mma_sync(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_mma_sync_traced(const Gemm& p, const Timeline& timeline, cudaStream_t stream);
cudaError_t fused_norm_fma_sum(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_mma_sync(const FusedNorm& p, cudaStream_t stream);

}  // namespace ladder::rung_05
