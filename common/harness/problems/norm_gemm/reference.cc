#include "common/harness/problems/norm_gemm/reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/harness/base/parallel.h"

namespace ladder {

std::vector<float> folded_weights(const NormGemm& shape, const HostMatrix& gamma, const HostMatrix& w) {
  const std::uint64_t n = shape.n;
  std::vector<float> folded(w.size());
  parallel_slices(shape.cols, 1, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin * n; i < end * n; ++i)
      folded[i] = float(to_double(round_to_bf16(to_double(gamma[i / n]) * to_double(w[i]))));
  });
  return folded;
}

std::vector<float> sum_of(const HostMatrix& x, const HostMatrix& residual) {
  std::vector<float> h(x.size());
  parallel_slices(h.size(), 1 << 14, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i)
      h[i] = float(to_double(round_to_bf16(to_double(x[i]) + to_double(residual[i]))));
  });
  return h;
}

NormGemmReference::NormGemmReference(const NormGemm& shape, const HostMatrix& x, const HostMatrix& residual,
                                     const HostMatrix& gamma, const HostMatrix& w, bool whole_numbers)
    : shape_(shape),
      norm_(norm_of(shape), x, residual, gamma),
      product_(gemm_of(shape), Precision::bf16, sum_of(x, residual), folded_weights(shape, gamma, w),
               whole_numbers) {}

Expected NormGemmReference::c(std::uint64_t index, double product, int accumulations) const {
  const Expected e = product_.expected(index, product, accumulations);
  const double scale = norm_.scale(index / shape_.n), value = scale * e.exact, slack = scale * e.slack;
  return {value, slack + norm_slack(std::abs(value) + slack, shape_.cols)};
}

}  // namespace ladder
