// What the harness has to know of row_operator.
#pragma once

#include "common/harness/problems/problem.h"
#include "common/harness/problems/row_operator/shape.h"
#include "common/harness/problems/row_operator/workload.h"

namespace ladder {

template <>
struct ProblemInfo<RowOperator> : ProblemDefaults {
  static constexpr const char* name = "row_operator";
  static constexpr const char* what =
      "y = LayerNorm(x) or softmax(x), row by row, by variant: 01, 03 and every_shape have it";
  static constexpr const char* unit = "GB/s";
  static constexpr const char* score_field = "gbps";
  static constexpr const char* rival = "copy";
  static constexpr Beside beside = Beside::copy;
  using Workload = RowOperatorWorkload;

  static std::vector<Dimension<RowOperator>> dimensions() {
    return {{"rows", &RowOperator::rows}, {"cols", &RowOperator::cols}};
  }
  static const Variants<RowOperator>& variants(const Rung& rung) { return rung.row_operator; }
  static RowOperator default_shape(DeviceKind device) {
    return device == DeviceKind::gpu ? row_operator_shape(16384, 8192) : row_operator_shape(64, 8192);
  }
  static std::vector<RowOperator> verify_shapes() { return row_operator_verify_shapes(); }
  static std::vector<RowOperator> sweep_shapes() { return row_operator_sweep_shapes(); }
  static double score(const Extension<RowOperator>& e, const RowOperator& p, double us) {
    return ladder::score(p, e.operation, us);
  }
};

Baselines baselines(const Variant<RowOperator>& variant, const std::vector<RowOperator>& sets);

}  // namespace ladder
