#include <string>
#include <utility>

#include "04_cp_async/variants.h"

namespace ladder {
namespace {

std::string whole_vectors(const Gemm& p) {
  for (const auto& [name, size] : {std::pair{"n", p.n}, {"k", p.k}})
    if (size % 8 != 0)
      return "n and k must be multiples of 8, for 16-byte copies: " + std::string(name) + " is " +
             std::to_string(size);
  return {};
}

}  // namespace

const Rung& rung() {
  static const Rung r{
      .name = "04_cp_async",
      .title = "copies that no thread waits for",
      .needs = {8, 0, Compatibility::newer},
      .gemm = {{"bf16_tiles", "4 stages that are the tiles, bf16: widened after every read", whole_vectors,
                rung_04::gemm_bf16_tiles},
               {"blocking", "copied, waited for, widened once into fp32 tiles", whole_vectors,
                rung_04::gemm_blocking},
               {"1_stage", "the next k-tile arrives meanwhile", whole_vectors, rung_04::gemm_1_stage},
               {"2_stages", "the next two k-tiles", whole_vectors, rung_04::gemm_2_stages},
               {"3_stages", "the next three", whole_vectors, rung_04::gemm_3_stages},
               {"through_l1", "the next four, copies pass through L1 (.ca)", whole_vectors,
                rung_04::gemm_through_l1},
               {"cp_async", "the next four, copies pass L1 by (.cg)", whole_vectors, rung_04::gemm_cp_async,
                Precision::bf16, nullptr, nullptr, rung_04::gemm_cp_async_traced}},
      .fused_norm =
          {{"no_ring", "one row per CTA, loaded into registers", any_shape, rung_04::fused_norm_no_ring},
           {"1_stage", "a CTA stays, the next row arrives meanwhile", any_shape, rung_04::fused_norm_1_stage},
           {"2_stages", "the next two rows arrive meanwhile", any_shape, rung_04::fused_norm_2_stages},
           {"cp_async", "the next three rows", any_shape, rung_04::fused_norm_cp_async}},
  };
  return r;
}

}  // namespace ladder
