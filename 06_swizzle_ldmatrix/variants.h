// What rung.cc lists: the launches of this rung's variants. The kernels are in gemm.cu and fused_norm.cu;
// what stands first here is what both need.
#pragma once

#include "common/rung.h"

namespace ladder::rung_06 {

constexpr int warp_size = 32;

__host__ __device__ constexpr int ceil_div(int x, int y) {
  return x / y + (x % y != 0);
}

// Why gemm cannot run a shape, and the same for padded rows, which want more shared memory.
std::string rows_of_vectors(const Gemm& p);
std::string rows_of_vectors_padded(const Gemm& p);

cudaError_t gemm_unswizzled(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_padded(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_single_buffer(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_straight(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_compiler_offsets(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_row_by_row(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_tile_per_cta(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_stores_later(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_swizzle_ldmatrix(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_swizzle_ldmatrix_traced(const Gemm& p, const Timeline& timeline, cudaStream_t stream);
Variant<Gemm> gemm_f16();
Variant<Gemm> gemm_f16_f16();
Variant<Gemm> gemm_tf32();
Variant<Gemm> gemm_s8();
Variant<Gemm> gemm_s8_stores_at_once();
Variant<Gemm> gemm_fp8();
Variant<Gemm> gemm_fp8_e5m2();
Variant<Gemm> gemm_bf16_sparse();
Variant<NormGemm> norm_gemm_row_scales();
cudaError_t fused_norm_unswizzled(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_swizzle_ldmatrix(const FusedNorm& p, cudaStream_t stream);

}  // namespace ladder::rung_06
