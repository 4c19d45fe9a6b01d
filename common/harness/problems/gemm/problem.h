// What the harness has to know of gemm.
#pragma once

#include "common/harness/problems/gemm/model_shapes.h"
#include "common/harness/problems/gemm/partial.h"
#include "common/harness/problems/gemm/shape.h"
#include "common/harness/problems/gemm/workload.h"
#include "common/harness/problems/problem.h"

namespace ladder {

template <>
struct ProblemInfo<Gemm> : ProblemDefaults {
  static constexpr const char* name = "gemm";
  static constexpr const char* what = "C[m,n] = A[m,k] B[k,n], bf16, fp32 accumulation";
  static constexpr const char* unit = "TFLOPS";
  static constexpr const char* score_field = "tflops";
  static constexpr const char* rival = "cuBLAS";
  static constexpr Beside beside = Beside::library;
  static constexpr bool runs_unnamed = true;
  static constexpr bool has_types = true;
  static constexpr bool has_outlier = true;
  using Partial = PartialGemm;
  using Workload = GemmWorkload;

  static std::vector<Dimension<Gemm>> dimensions() {
    return {{"m", &Gemm::m}, {"n", &Gemm::n}, {"k", &Gemm::k}};
  }
  static const Variants<Gemm>& variants(const Rung& rung) { return rung.gemm; }
  static Gemm default_shape(DeviceKind device) {
    return device == DeviceKind::gpu ? gemm_shape(4096, 4096, 4096) : gemm_shape(256, 256, 256);
  }
  static std::vector<Gemm> verify_shapes() { return gemm_verify_shapes(); }
  static std::vector<Gemm> sweep_shapes() { return gemm_sweep_shapes(); }
  static double score(const Extension<Gemm>& e, const Gemm& p, double us) {
    return ladder::score(p, e.precision, us);
  }

  // Of the gemm alone: --sweep k and --sweep models, --pad, and a workspace of its own for a variant in bf16.
  static std::vector<Gemm> over_k(const Gemm& p) { return shapes_over_k(p.m, p.n); }
  static std::vector<Gemm> of_models(int count, std::uint64_t seed) { return model_shapes(count, seed); }
  static Gemm padded(const Gemm& p, int of) { return in_multiples(p, of); }
  static double workspace_needed(const Variant<Gemm>& v, const Gemm& p) {
    return ladder::workspace_needed(v, p);
  }
};

Baselines baselines(const Variant<Gemm>& variant, const std::vector<Gemm>& sets);

}  // namespace ladder
