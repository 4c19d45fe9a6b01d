// What rung.cc lists: the launches of this rung's variants. The kernels are in gemm.cu, quantise.cu and
// fused_norm.cu; the division below is what all need to count tiles.
#pragma once

#include "common/rung.h"

namespace ladder::rung_09 {

constexpr int warp_size = 32;

__host__ __device__ constexpr int ceil_div(int x, int y) {
  return x / y + (x % y != 0);
}

// Why a shape cannot be run: the gemm's in bf16, and both in the precisions.
std::string rows_of_vectors(const Gemm& p);
template <Precision precision>
std::string whole_blocks(const Gemm& p);
template <Precision precision>
std::string whole_blocks(const FusedNorm& p);

cudaError_t gemm_one_stage(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_pipelined(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_warp_specialized(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_two_ctas(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_persistent(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_launch_control(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_fp8(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_mxfp8(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_nvfp4(const Gemm& p, cudaStream_t stream);

// The workspace of a gemm in such a precision: A [m, k] and B transposed [n, k], both with k along the rows.
struct Workspace {
  QuantisedLayout a, b;
  unsigned char *a_elements, *a_scales, *b_elements, *b_scales;
  std::size_t bytes;

  Workspace(Precision precision, const Gemm& p) : a(precision, p.m, p.k), b(precision, p.n, p.k), bytes(0) {
    auto* const start = static_cast<unsigned char*>(p.workspace);
    auto take = [&](std::size_t size) {
      unsigned char* const part = start + bytes;
      bytes += (size + 255) / 256 * 256;
      return part;
    };
    a_elements = take(a.element_bytes());
    a_scales = take(a.scale_bytes());
    b_elements = take(b.element_bytes());
    b_scales = take(b.scale_bytes());
  }
};
template <Precision precision>
std::size_t workspace_bytes(const Gemm& p) {
  return Workspace(precision, p).bytes;
}

// Fills the workspace.
template <Precision precision>
cudaError_t quantise(const Gemm& p, cudaStream_t stream);

Variant<NormGemm> norm_gemm_row_scales();

cudaError_t fused_norm_16_bytes(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_32_bytes(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_mxfp8(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_nvfp4(const FusedNorm& p, cudaStream_t stream);

}  // namespace ladder::rung_09
