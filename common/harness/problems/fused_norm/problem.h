// What the harness has to know of fused_norm.
#pragma once

#include "common/harness/problems/fused_norm/partial.h"
#include "common/harness/problems/fused_norm/shape.h"
#include "common/harness/problems/fused_norm/workload.h"
#include "common/harness/problems/problem.h"

namespace ladder {

template <>
struct ProblemInfo<FusedNorm> : ProblemDefaults {
  static constexpr const char* name = "fused_norm";
  static constexpr const char* what = "h = x + residual; y = RMSNorm(h) gamma, row by row, bf16";
  static constexpr const char* unit = "GB/s";
  static constexpr const char* score_field = "gbps";
  static constexpr const char* rival = "copy";
  static constexpr Beside beside = Beside::copy;
  static constexpr bool runs_unnamed = true;
  static constexpr bool has_types = true;
  using Partial = PartialNorm;
  using Workload = NormWorkload;

  static std::vector<Dimension<FusedNorm>> dimensions() {
    return {{"rows", &FusedNorm::rows}, {"cols", &FusedNorm::cols}};
  }
  static const Variants<FusedNorm>& variants(const Rung& rung) { return rung.fused_norm; }
  static FusedNorm default_shape(DeviceKind device) {
    return device == DeviceKind::gpu ? norm_shape(16384, 8192) : norm_shape(64, 8192);
  }
  static std::vector<FusedNorm> verify_shapes() { return fused_norm_verify_shapes(); }
  static std::vector<FusedNorm> sweep_shapes() { return fused_norm_sweep_shapes(); }
  static double score(const Extension<FusedNorm>& e, const FusedNorm& p, double us) {
    return ladder::score(p, e.precision, us);
  }
};

Baselines baselines(const Variant<FusedNorm>& variant, const std::vector<FusedNorm>& sets);

}  // namespace ladder
