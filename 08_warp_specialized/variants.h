// What rung.cc lists: the launches of this rung's variants. The kernels are in gemm.cu and fused_norm.cu;
// the division below is what both need to count tiles.
#pragma once

#include "common/rung.h"

namespace ladder::rung_08 {

__host__ __device__ constexpr int ceil_div(int x, int y) {
  return x / y + (x % y != 0);
}

// Why gemm, and why the norm's ring of bulk copies, cannot run a shape.
std::string rows_of_vectors(const Gemm& p);
std::string rows_in_ring(const FusedNorm& p);

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
cudaError_t gemm_warp_specialized(const Gemm& p, cudaStream_t stream);
cudaError_t fused_norm_ring_1_stage(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_ring(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_ring_3_stages(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_persistent(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_streaming(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_late_h(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_late_start(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_no_clusters(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_row_in_cluster(const FusedNorm& p, cudaStream_t stream);

}  // namespace ladder::rung_08
