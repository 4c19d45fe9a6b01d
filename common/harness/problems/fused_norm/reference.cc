#include "common/harness/problems/fused_norm/reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/harness/base/parallel.h"

namespace ladder {

NormReference::NormReference(const FusedNorm& shape, HostMatrix x, HostMatrix residual, HostMatrix gamma)
    : shape_(shape),
      x_(std::move(x)),
      residual_(std::move(residual)),
      gamma_(std::move(gamma)),
      scales_(shape.rows) {
  const std::uint64_t cols = shape_.cols;
  parallel_slices(shape_.rows, 1, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t row = begin; row < end; ++row) {
      double squares = 0;
      for (std::uint64_t i = row * cols; i < (row + 1) * cols; ++i) squares += rounded_h(i) * rounded_h(i);
      scales_[row] = 1 / std::sqrt(squares / double(cols) + double(shape_.eps));
    }
  });
}

double NormReference::rounded_h(std::uint64_t index) const {
  return to_double(round_to_bf16(float(to_double(x_[index])) + float(to_double(residual_[index]))));
}

Expected NormReference::h(std::uint64_t index) const {
  return {rounded_h(index), 0};
}

Expected NormReference::y(std::uint64_t index) const {
  const double y = rounded_h(index) * scales_[index / shape_.cols] * to_double(gamma_[index % shape_.cols]);
  return {y, norm_slack(y, shape_.cols)};
}

}  // namespace ladder
