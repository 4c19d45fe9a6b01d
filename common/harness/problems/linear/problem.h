// What the harness has to know of linear.
#pragma once

#include "common/harness/problems/linear/shape.h"
#include "common/harness/problems/linear/workload.h"
#include "common/harness/problems/problem.h"

namespace ladder {

template <>
struct ProblemInfo<Linear> : ProblemDefaults {
  static constexpr const char* name = "linear";
  static constexpr const char* what =
      "C = f(A B + bias) or act(A Gate) (A B), by variant: some rungs have it";
  static constexpr const char* unit = "TFLOPS";
  static constexpr const char* score_field = "tflops";
  static constexpr const char* rival = "unfused";
  static constexpr Beside beside = Beside::chain;
  using Workload = LinearWorkload;

  static std::vector<Dimension<Linear>> dimensions() {
    return {{"m", &Linear::m}, {"n", &Linear::n}, {"k", &Linear::k}};
  }
  static const Variants<Linear>& variants(const Rung& rung) { return rung.linear; }
  static Linear default_shape(DeviceKind device) {
    return device == DeviceKind::gpu ? linear_shape(8192, 14336, 4096) : linear_shape(256, 256, 256);
  }
  static std::vector<Linear> verify_shapes() { return linear_verify_shapes(); }
  static std::vector<Linear> sweep_shapes() { return linear_sweep_shapes(); }
  static double score(const Extension<Linear>& e, const Linear& p, double us) {
    return ladder::score(p, e.precision, us) * (is_gated(e.epilogue) ? 2 : 1);
  }
};

Baselines baselines(const Variant<Linear>& variant, const std::vector<Linear>& sets);

}  // namespace ladder
