#include "common/harness/problems/fused_norm/partial.h"

#include <cmath>
#include <random>

#include "common/harness/base/sizes.h"
#include "common/harness/verify/verify.h"

namespace ladder {
namespace {

double below_two(std::mt19937_64& random) {
  return std::uniform_real_distribution<double>(-2, 2)(random);
}

}  // namespace

PartialNorm::PartialNorm(const FusedNorm& shape, std::uint64_t seed)
    : shape_(shape),
      x_("x", area(shape.rows, shape.cols), seed, below_two),
      residual_("residual", area(shape.rows, shape.cols), seed + 1, below_two),
      gamma_("gamma", shape.cols, seed + 2, below_two),
      h_("h", area(shape.rows, shape.cols)),
      y_("y", area(shape.rows, shape.cols)) {}

FusedNorm PartialNorm::problem() const {
  FusedNorm p = shape_;
  p.x = x_.data();
  p.residual = residual_.data();
  p.gamma = gamma_.data();
  p.h = h_.data();
  p.y = y_.data();
  return p;
}

double PartialNorm::rounded_h(std::uint64_t index) const {
  return to_double(round_to_bf16(float(x_[index]) + float(residual_[index])));
}

double PartialNorm::scale(std::uint64_t row) const {
  const std::uint64_t cols = shape_.cols;
  double squares = 0;
  for (std::uint64_t i = row * cols; i < (row + 1) * cols; ++i) squares += rounded_h(i) * rounded_h(i);
  return 1 / std::sqrt(squares / double(cols) + double(shape_.eps));
}

Verdict PartialNorm::verify(std::string& missing) const {
  const std::uint64_t cols = shape_.cols;
  Verdict verdict;
  check_written(
      "h", h_, cols,
      [&](std::uint64_t index) {
        return Expected{rounded_h(index), 0};
      },
      verdict, missing);
  std::uint64_t row = 0;  // elements come row by row
  double its_scale = scale(row);
  const auto expected_y = [&](std::uint64_t index) {
    if (index / cols != row) its_scale = scale(row = index / cols);
    const double y = rounded_h(index) * its_scale * gamma_[index % cols];
    return Expected{y, norm_slack(y, shape_.cols)};
  };
  check_written("y", y_, cols, expected_y, verdict, missing);
  return verdict;
}

}  // namespace ladder
