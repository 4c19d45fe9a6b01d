#include "05_mma_sync/variants.h"

namespace ladder {
namespace {

std::string unsupported(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8: rows are copied 16 bytes at a time";
}

}  // namespace

const Rung& rung() {
  static const Rung r{
      .name = "05_mma_sync",
      .title = "tensor cores, fed by ordinary loads",
      .needs = {8, 0, Compatibility::newer},
      .gemm = {{"halfwords", "B read 2 bytes at a time", unsupported, rung_05::gemm_halfwords},
               {"words", "B read 4 bytes at a time", unsupported, rung_05::gemm_words},
               {"unpadded", "no padding between the rows in shared memory", unsupported,
                rung_05::gemm_unpadded},
               {"128x256", "one CTA per SM with a tile twice as wide", unsupported, rung_05::gemm_128x256},
               {"mma_sync", "B read 16 bytes at a time", unsupported, rung_05::gemm_mma_sync, Precision::bf16,
                nullptr, nullptr, rung_05::gemm_mma_sync_traced}},
      .fused_norm = {{"fma_sum", "the row sum by FMAs and shuffles", any_shape, rung_05::fused_norm_fma_sum},
                     {"mma_sync", "the row sum by tensor cores", any_shape, rung_05::fused_norm_mma_sync}},
  };
  return r;
}

}  // namespace ladder
