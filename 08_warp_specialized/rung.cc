#include "08_warp_specialized/variants.h"

namespace ladder {
namespace {

// A gemm in a precision that rounds its operands first.
template <Precision precision>
Variant<Gemm> rounded(const char* name, const char* what, cudaError_t (*launch)(const Gemm&, cudaStream_t)) {
  return {name,
          what,
          rung_08::rows_of_words,
          launch,
          precision,
          rung_08::workspace_bytes<precision>,
          rung_08::quantise<precision>};
}

Variant<NormGemm> norm_gemm(const char* name, const char* what,
                            cudaError_t (*launch)(const NormGemm&, cudaStream_t)) {
  return {.name = name,
          .what = what,
          .unsupported = rung_08::norm_gemm_rows_of_vectors,
          .launch = launch,
          .workspace_bytes = rung_08::norm_gemm_workspace_bytes,
          .prepare = rung_08::fold_gamma};
}

}  // namespace

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
           {"64x128_alone", "64x128 tiles, one consumer, eight stages, no cluster", rung_08::rows_of_vectors,
            rung_08::gemm_64x128_alone},
           {"64x128_down", "64x128 tiles in pairs which share B and follow each other down B's columns",
            rung_08::rows_of_vectors, rung_08::gemm_64x128_down},
           {"64x64", "64x64 tiles, one consumer, eight stages", rung_08::rows_of_vectors,
            rung_08::gemm_64x64},
           {"split_2", "64x64 tiles, two CTAs add up half of k each", rung_08::rows_of_vectors,
            rung_08::gemm_split_2},
           {"split_4", "64x64 tiles, four CTAs add up a quarter of k each", rung_08::rows_of_vectors,
            rung_08::gemm_split_4},
           {"split_8", "64x64 tiles, eight CTAs add up an eighth of k each", rung_08::rows_of_vectors,
            rung_08::gemm_split_8},
           rounded<Precision::fp8_e5m2>("fp8_e5m2", "A in e5m2, B in e4m3", rung_08::gemm_fp8_e5m2),
           rounded<Precision::fp8_block>("fp8_block", "a scale for each 1x128 of A and 128x128 of B",
                                         rung_08::gemm_fp8_block),
           rounded<Precision::fp8>("fp8_one_part",
                                   "e4m3, every 128 of k added up in fp32, and nothing meanwhile",
                                   rung_08::gemm_fp8_one_part),
           rounded<Precision::fp8>("fp8_every_512", "the same every 512 of k", rung_08::gemm_fp8_every_512),
           rounded<Precision::fp8>("fp8_promoted", "every 128 of k, while the next 128 are multiplied",
                                   rung_08::gemm_fp8_promoted),
           rounded<Precision::fp8>("fp8_128x256", "128x256 tiles, added up by the tensor core alone",
                                   rung_08::gemm_fp8_128x256),
           rounded<Precision::fp8>("fp8_ping_pong", "a 128x128 tile for each consumer, in turn",
                                   rung_08::gemm_fp8_ping_pong),
           rounded<Precision::fp8>("fp8", "whichever tile the estimate finds fastest", rung_08::gemm_fp8),
           {"64x128_share_a", "64x128 tiles in pairs which share A and follow each other down B's columns",
            rung_08::rows_of_vectors, rung_08::gemm_64x128_share_a},
           {"64x128_share_b", "64x128 tiles in pairs which share B and follow each other along A's rows",
            rung_08::rows_of_vectors, rung_08::gemm_64x128_share_b},
           {"128x128", "128x128 tiles, two consumers, six stages, pairs share A", rung_08::rows_of_vectors,
            rung_08::gemm_128x128},
           {"128x192", "128x192 tiles, four stages, pairs share A", rung_08::rows_of_vectors,
            rung_08::gemm_128x192},
           {"128x256", "128x256 tiles, four stages, pairs share B: the rung at large sizes",
            rung_08::rows_of_vectors, rung_08::gemm_128x256, Precision::bf16, nullptr, nullptr,
            rung_08::gemm_128x256_traced},
           {"warp_specialized", "whichever of the last nine the estimate finds fastest",
            rung_08::rows_of_vectors, rung_08::gemm_warp_specialized}},
      .fused_norm =
          {{"ring_1_stage", "rows fetched by a warp's bulk copies, one batch ahead of those that compute",
            rung_08::rows_in_ring, rung_08::fused_norm_ring_1_stage},
           {"ring", "the same, two batches ahead", rung_08::rows_in_ring, rung_08::fused_norm_ring},
           {"ring_3_stages", "three batches ahead", rung_08::rows_in_ring, rung_08::fused_norm_ring_3_stages},
           {"persistent", "16-byte loads by all threads; a CTA for a row, and it stays for many", any_shape,
            rung_08::fused_norm_persistent},
           {"streaming", "a cluster for each row; loads past L1, stores that L2 evicts first", any_shape,
            rung_08::fused_norm_streaming},
           {"late_h", "reads before writes: h stored with y, when all of the row has been read", any_shape,
            rung_08::fused_norm_late_h},
           {"interleaved", "reads between writes: a vector of h stored before the thread reads the next",
            any_shape, rung_08::fused_norm_interleaved},
           {"late_start", "a grid starts when the one before has ended", any_shape,
            rung_08::fused_norm_late_start},
           {"no_clusters", "a CTA for each row, however wide", any_shape, rung_08::fused_norm_no_clusters},
           {"fp8_block", "y in e4m3 with a scale for every 128 elements", rung_08::rows_in_registers,
            rung_08::fused_norm_fp8_block, Precision::fp8_block},
           {"row_in_cluster", "a row in the registers of a cluster, h stored when a thread's loads have come",
            any_shape, rung_08::fused_norm_row_in_cluster}},
      .norm_gemm = {norm_gemm("late_start", "a sum, and a product that scales rows when the sum has ended",
                              rung_08::norm_gemm_late_start),
                    norm_gemm("row_scales", "the same, each starting while the one before still runs",
                              rung_08::norm_gemm_row_scales),
                    norm_gemm("high_strips", "the product's producers add, in strips as high as the gemm's",
                              rung_08::norm_gemm_high_strips),
                    norm_gemm("one_kernel", "the same, in strips as high as what is multiplied at a time",
                              rung_08::norm_gemm_one_kernel),
                    norm_gemm("no_norm", "row_scales or one_kernel, whichever is reckoned faster",
                              rung_08::norm_gemm_no_norm)},
  };
  return r;
}

}  // namespace ladder
