// What rung.cc lists: the launches of this rung's variants. The kernels are in gemm.cu and fused_norm.cu;
// what stands first here is what both need.
#pragma once

#include "common/rung.h"

namespace ladder::rung_08 {

constexpr int warp_size = 32;

__host__ __device__ constexpr int ceil_div(int x, int y) {
  return x / y + (x % y != 0);
}

// What a gemm with operands of 8 bits multiplies, in the workspace: A [m, k] and B transposed [n, k],
// rounded; of fp8_block their scales; of fp8_tensor one for each, and what they are made of.
struct Workspace {
  QuantisedLayout a, b;
  BlockScales scales_a, scales_b;
  unsigned char *a_elements, *b_elements;
  float *a_scales = nullptr, *b_scales = nullptr;
  unsigned* largest = nullptr;  // |a|, then |b|: floats from 0 on, which are ordered as their bits are
  std::size_t bytes = 0;

  Workspace(Precision precision, const Gemm& p)
      : a(precision, p.m, p.k),
        b(precision, p.n, p.k),
        scales_a(BlockScales::of_a(p.m, p.k)),
        scales_b(BlockScales::of_b(p.n, p.k)) {
    auto take = [&](std::size_t size) {
      unsigned char* const part = static_cast<unsigned char*>(p.workspace) + bytes;
      bytes += (size + 255) / 256 * 256;
      return part;
    };
    a_elements = take(a.element_bytes());
    b_elements = take(b.element_bytes());
    if (precision == Precision::fp8_block) {
      a_scales = reinterpret_cast<float*>(take(scales_a.count() * sizeof(float)));
      b_scales = reinterpret_cast<float*>(take(scales_b.count() * sizeof(float)));
    } else if (precision == Precision::fp8_tensor) {
      a_scales = reinterpret_cast<float*>(take(sizeof(float)));
      b_scales = reinterpret_cast<float*>(take(sizeof(float)));
      largest = reinterpret_cast<unsigned*>(take(2 * sizeof(unsigned)));
    }
  }
};
template <Precision precision>
std::size_t workspace_bytes(const Gemm& p) {
  return Workspace(precision, p).bytes;
}
// Fills the workspace.
template <Precision precision>
cudaError_t quantise(const Gemm& p, cudaStream_t stream);

// Why gemm, and why the norm's ring of bulk copies, cannot run a shape.
std::string rows_of_vectors(const Gemm& p);
std::string rows_of_words(const Gemm& p);  // of 8 bits
std::string rows_in_ring(const FusedNorm& p);
std::string rows_in_registers(const FusedNorm& p);
std::string norm_gemm_rows_of_vectors(const NormGemm& p);

// norm_gemm's workspace, and what fills it: W' and room for the sums of squares; for one_kernel the progress,
// too.
std::size_t norm_gemm_workspace_bytes(const NormGemm& p);
cudaError_t fold_gamma(const NormGemm& p, cudaStream_t stream);

cudaError_t gemm_no_cluster(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_shared_a(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_cluster_of_4(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_cluster_barriers(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_ping_pong(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_2_stages(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_3_stages(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_row_by_row(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_hilbert(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_one_tile_each(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_even_registers(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_add_to_zeros(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_threads_store(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_late_start(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_64x128_alone(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_64x128_down(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_64x64(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_split_2(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_split_4(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_split_8(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_64x128_share_a(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_64x128_share_b(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_128x128(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_128x192(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_128x256(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_128x256_traced(const Gemm& p, const Timeline& timeline, cudaStream_t stream);
cudaError_t gemm_warp_specialized(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_fp8_128x256(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_fp8_ping_pong(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_fp8_one_part(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_fp8_every_512(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_fp8_promoted(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_fp8_e5m2(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_fp8_e4m3_e5m2(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_fp8_e5m2_e5m2(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_fp8_tensor_promoted(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_fp8_tensor(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_fp8_block(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_fp8(const Gemm& p, cudaStream_t stream);
cudaError_t norm_gemm_late_start(const NormGemm& p, cudaStream_t stream);
cudaError_t norm_gemm_row_scales(const NormGemm& p, cudaStream_t stream);
cudaError_t norm_gemm_high_strips(const NormGemm& p, cudaStream_t stream);
cudaError_t norm_gemm_one_kernel(const NormGemm& p, cudaStream_t stream);
cudaError_t norm_gemm_no_norm(const NormGemm& p, cudaStream_t stream);
cudaError_t fused_norm_ring_1_stage(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_ring(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_ring_3_stages(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_persistent(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_streaming(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_late_h(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_interleaved(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_late_start(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_no_clusters(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_fp8_block(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_row_in_cluster(const FusedNorm& p, cudaStream_t stream);

}  // namespace ladder::rung_08
