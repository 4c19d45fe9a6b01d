#include "08_warp_specialized/variants.h"

namespace ladder {
const Rung& rung() {
  static const Rung r{
      .name = "08_warp_specialized",
      .title = "warps with different work, CTAs that share",
      .needs = {9, 0, true},
      .gemm =
          {{"no_cluster", "every CTA reads all of its B itself", rung_08::rows_of_vectors,
            rung_08::gemm_no_cluster},
           {"shared_a", "pairs beside each other, which share A", rung_08::rows_of_vectors,
            rung_08::gemm_shared_a},
           {"cluster_of_4", "two by two CTAs share A and B", rung_08::rows_of_vectors,
            rung_08::gemm_cluster_of_4},
           {"cluster_barriers", "barriers of the whole cluster that order all memory, before and after",
            rung_08::rows_of_vectors, rung_08::gemm_cluster_barriers},
           {"128x128", "CTA tiles half as wide, six stages", rung_08::rows_of_vectors, rung_08::gemm_128x128},
           {"ping_pong", "a 128x128 tile for each consumer, in turn", rung_08::rows_of_vectors,
            rung_08::gemm_ping_pong},
           {"2_stages", "two stages", rung_08::rows_of_vectors, rung_08::gemm_2_stages},
           {"3_stages", "three stages", rung_08::rows_of_vectors, rung_08::gemm_3_stages},
           {"row_by_row", "tiles in the order of rows", rung_08::rows_of_vectors, rung_08::gemm_row_by_row},
           {"hilbert", "tiles along Hilbert curves", rung_08::rows_of_vectors, rung_08::gemm_hilbert},
           {"one_tile_each", "a CTA for each tile", rung_08::rows_of_vectors, rung_08::gemm_one_tile_each},
           {"even_registers", "168 registers for every thread", rung_08::rows_of_vectors,
            rung_08::gemm_even_registers},
           {"add_to_zeros", "sums cleared by threads, not by the first wgmma", rung_08::rows_of_vectors,
            rung_08::gemm_add_to_zeros},
           {"threads_store", "C stored by threads, 16 bytes each, not by TMA", rung_08::rows_of_vectors,
            rung_08::gemm_threads_store},
           {"late_start", "a grid starts when the one before has ended", rung_08::rows_of_vectors,
            rung_08::gemm_late_start},
           {"64x64", "64x64 tiles, one consumer, eight stages", rung_08::rows_of_vectors,
            rung_08::gemm_64x64},
           {"64x128", "64x128 tiles, one consumer, eight stages", rung_08::rows_of_vectors,
            rung_08::gemm_64x128},
           {"64x128_pairs", "the same, two CTAs share B", rung_08::rows_of_vectors,
            rung_08::gemm_64x128_pairs},
           {"128x256", "128x256 tiles, four stages, two CTAs share B: the rung at large sizes",
            rung_08::rows_of_vectors, rung_08::gemm_128x256},
           {"warp_specialized", "whichever of the last four the estimate finds fastest",
            rung_08::rows_of_vectors, rung_08::gemm_warp_specialized}},
      .fused_norm = {{"1_stage", "rows fetched one batch ahead", any_shape, rung_08::fused_norm_1_stage},
                     {"2_stages", "two batches ahead", any_shape, rung_08::fused_norm_2_stages},
                     {"warp_specialized", "a warp that fetches, three batches ahead of those that compute",
                      any_shape, rung_08::fused_norm_warp_specialized}},
  };
  return r;
}

}  // namespace ladder
