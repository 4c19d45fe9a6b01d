// What the harness has to know of norm_gemm.
#pragma once

#include "common/harness/problems/norm_gemm/shape.h"
#include "common/harness/problems/norm_gemm/workload.h"
#include "common/harness/problems/problem.h"

namespace ladder {

template <>
struct ProblemInfo<NormGemm> : ProblemDefaults {
  static constexpr const char* name = "norm_gemm";
  static constexpr const char* what =
      "h = x + residual; C[rows,n] = RMSNorm(h) gamma W[cols,n]: some rungs have it";
  static constexpr const char* unit = "TFLOPS";
  static constexpr const char* score_field = "tflops";
  static constexpr const char* rival = "two steps";
  static constexpr Beside beside = Beside::chain;
  using Workload = NormGemmWorkload;

  static std::vector<Dimension<NormGemm>> dimensions() {
    return {{"rows", &NormGemm::rows}, {"cols", &NormGemm::cols}, {"n", &NormGemm::n}};
  }
  static const Variants<NormGemm>& variants(const Rung& rung) { return rung.norm_gemm; }
  static NormGemm default_shape(DeviceKind device) {
    return device == DeviceKind::gpu ? norm_gemm_shape(8192, 4096, 4096) : norm_gemm_shape(256, 256, 256);
  }
  static std::vector<NormGemm> verify_shapes() { return norm_gemm_verify_shapes(); }
  static std::vector<NormGemm> sweep_shapes() { return norm_gemm_sweep_shapes(); }
  static double score(const Extension<NormGemm>& e, const NormGemm& p, double us) {
    return ladder::score(p, e.precision, us);
  }
};

Baselines baselines(const Variant<NormGemm>& variant, const std::vector<NormGemm>& sets);

}  // namespace ladder
