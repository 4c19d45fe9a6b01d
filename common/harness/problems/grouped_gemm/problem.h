// What the harness has to know of grouped_gemm.
#pragma once

#include "common/harness/problems/grouped_gemm/shape.h"
#include "common/harness/problems/grouped_gemm/workload.h"
#include "common/harness/problems/problem.h"

namespace ladder {

template <>
struct ProblemInfo<GroupedGemm> : ProblemDefaults {
  static constexpr const char* name = "grouped_gemm";
  static constexpr const char* what =
      "G products with a B each, that share out the rows of A: every_shape has it";
  static constexpr const char* unit = "TFLOPS";
  static constexpr const char* score_field = "tflops";
  static constexpr const char* rival = "cuBLAS";
  static constexpr Beside beside = Beside::library;
  using Workload = GroupedWorkload;

  static std::vector<Dimension<GroupedGemm>> dimensions() {
    return {{"groups", &GroupedGemm::groups, false},
            {"m", &GroupedGemm::m},
            {"n", &GroupedGemm::n},
            {"k", &GroupedGemm::k}};
  }
  static const Variants<GroupedGemm>& variants(const Rung& rung) { return rung.grouped_gemm; }
  static GroupedGemm default_shape(DeviceKind device) {
    return device == DeviceKind::gpu ? grouped_shape(8, 4096, 14336, 4096) : grouped_shape(8, 256, 256, 256);
  }
  static std::vector<GroupedGemm> verify_shapes() { return grouped_gemm_verify_shapes(); }
  static std::vector<GroupedGemm> sweep_shapes() { return grouped_gemm_sweep_shapes(); }
  static double score(const Extension<GroupedGemm>& e, const GroupedGemm& p, double us) {
    return ladder::score(p, e.precision, us);
  }
};

Baselines baselines(const Variant<GroupedGemm>& variant, const std::vector<GroupedGemm>& sets);

}  // namespace ladder
