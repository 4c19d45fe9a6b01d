#include "common/harness/problems/gemm/cublas.h"
#include "common/harness/problems/gemm/problem.h"

namespace ladder {

Baselines baselines(const Variant<Gemm>& variant, const std::vector<Gemm>& sets) {
  return {cublas_baselines(sets, extension_of(variant).precision), {}};
}

}  // namespace ladder
