// Warps with different work. One warp of the CTA does nothing but ask TMA for boxes, one or two warpgroups do
// nothing but multiply and store, and each has the registers that its work needs. CTAs stay for many tiles:
// while one is stored, the next is on its way. Two CTAs form a cluster, whose tiles lie below each other, and
// share what they read of B.
//
// In the order of the data: design.cuh, what there is to choose; tiles.cuh, which tiles a CTA works on;
// mainloop.cuh, global -> shared -> sums; epilogue.cuh, sums -> C; kernel.cuh hands its warps out to them.
// Here are the designs that are launched.
#include "08_warp_specialized/kernel.cuh"
#include "08_warp_specialized/variants.h"

namespace ladder::rung_08 {
std::string rows_of_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}

cudaError_t gemm_no_cluster(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.cluster_m = 1, .group = 16}>(p, stream);
}
cudaError_t gemm_shared_a(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.cluster_m = 1, .cluster_n = 2, .group = 16}>(p, stream);
}
cudaError_t gemm_cluster_of_4(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.cluster_n = 2}>(p, stream);
}
cudaError_t gemm_cluster_barriers(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.relaxed_cluster = false}>(p, stream);
}
cudaError_t gemm_ping_pong(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.rows_each = 2, .block_n = 128, .stages = 6, .ping_pong = true}>(p, stream);
}
cudaError_t gemm_2_stages(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.stages = 2}>(p, stream);
}
cudaError_t gemm_3_stages(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.stages = 3}>(p, stream);
}
cudaError_t gemm_row_by_row(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.order = Order::rows}>(p, stream);
}
cudaError_t gemm_hilbert(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.order = Order::hilbert}>(p, stream);
}
cudaError_t gemm_one_tile_each(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.persistent = false}>(p, stream);
}
cudaError_t gemm_even_registers(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.move_registers = false}>(p, stream);
}
cudaError_t gemm_add_to_zeros(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.first_mma_sets = false}>(p, stream);
}
cudaError_t gemm_threads_store(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.tma_store = false}>(p, stream);
}
cudaError_t gemm_late_start(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.early_start = false}>(p, stream);
}
cudaError_t gemm_64x128_alone(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.consumers = 1, .block_n = 128, .stages = 8, .cluster_m = 1, .group = 32}>(p, stream);
}
cudaError_t gemm_64x128_down(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.consumers = 1, .block_n = 128, .stages = 8, .group = 32}>(p, stream);
}
cudaError_t gemm_64x64(const Gemm& p, cudaStream_t stream) {
  return launch<tile_64x64>(p, stream);
}
cudaError_t gemm_split_2(const Gemm& p, cudaStream_t stream) {
  return launch<split_2>(p, stream);
}
cudaError_t gemm_split_4(const Gemm& p, cudaStream_t stream) {
  return launch<split_4>(p, stream);
}
cudaError_t gemm_split_8(const Gemm& p, cudaStream_t stream) {
  return launch<split_8>(p, stream);
}
cudaError_t gemm_64x128_share_a(const Gemm& p, cudaStream_t stream) {
  return launch<tile_64x128_share_a>(p, stream);
}
cudaError_t gemm_64x128_share_b(const Gemm& p, cudaStream_t stream) {
  return launch<tile_64x128_share_b>(p, stream);
}
cudaError_t gemm_128x128(const Gemm& p, cudaStream_t stream) {
  return launch<tile_128x128>(p, stream);
}
cudaError_t gemm_128x192(const Gemm& p, cudaStream_t stream) {
  return launch<tile_128x192>(p, stream);
}
cudaError_t gemm_128x256(const Gemm& p, cudaStream_t stream) {
  return launch<tile_128x256>(p, stream);
}
cudaError_t gemm_128x256_traced(const Gemm& p, const Timeline& timeline, cudaStream_t stream) {
  return launch_traced<tile_128x256>(p, timeline, stream);
}

cudaError_t gemm_warp_specialized(const Gemm& p, cudaStream_t stream) {
  return launch_fastest<tile_64x64, split_2, split_4, split_8, tile_64x128_share_a, tile_64x128_share_b,
                        tile_128x128, tile_128x192, tile_128x256>(p, stream);
}

}  // namespace ladder::rung_08
