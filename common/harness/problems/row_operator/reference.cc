#include "common/harness/problems/row_operator/reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/harness/base/parallel.h"

namespace ladder {

// The errors of fp32, to first order, in units of u = 2^-24. A row is added up by at least 32 threads, which
// take up to eight neighbours at a time, and then along a tree of lanes, warps and CTAs. So no element goes
// through more than n = cols/32 + 32 additions, and a sum is off by at most n·u·Σ|terms|. (Higham, Accuracy
// and Stability of Numerical Algorithms, §4.2.)
static constexpr double unit = 0x1p-24;
static double additions(int cols) {
  return cols / 32.0 + 32;
}

RowReference::RowReference(const RowOperator& shape, RowOperation operation, HostMatrix x, HostMatrix gamma,
                           HostMatrix beta)
    : shape_(shape),
      operation_(operation),
      x_(std::move(x)),
      gamma_(std::move(gamma)),
      beta_(std::move(beta)),
      rows_(shape.rows) {
  parallel_slices(shape_.rows, 1, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t row = begin; row < end; ++row)
      rows_[row] = operation_ == RowOperation::softmax ? softmax(row) : layer_norm(row);
  });
}

// The mean is off by (n + 2)·u·mean|x|, its division included. A variance about a mean that is off by d is
// too large by d²; the differences and their squares bring 3 roundings, the sum n more, division and eps 2.
// The root halves it, and rsqrt.approx adds 2 ulp.
RowReference::Row RowReference::layer_norm(std::uint64_t row) const {
  const std::uint64_t cols = shape_.cols;
  double sum = 0, magnitudes = 0, squares = 0;
  for (std::uint64_t i = row * cols; i < (row + 1) * cols; ++i) {
    sum += to_double(x_[i]);
    magnitudes += std::abs(to_double(x_[i]));
  }
  const double mean = sum / double(cols);
  for (std::uint64_t i = row * cols; i < (row + 1) * cols; ++i)
    squares += (to_double(x_[i]) - mean) * (to_double(x_[i]) - mean);
  const double variance = squares / double(cols), regular = variance + double(shape_.eps);
  const double mean_error = (additions(shape_.cols) + 2) * unit * magnitudes / double(cols);
  const double variance_error = (additions(shape_.cols) + 5) * unit + mean_error * mean_error / regular;
  return {mean, 1 / std::sqrt(regular), mean_error, variance_error / 2 + 4 * unit};
}

// exp(t), t = x - max, is off by (3·|t| + 6)·u: t and t·log2(e) are rounded, ex2.approx has 2 ulp. An online
// sum is multiplied, and so rounded, again whenever its maximum grows: the t of those factors add up to at
// most the t of the element, and there are at most as many of them as additions, at 6 roundings each. So the
// sum's error is (3·T + 8·n + 6)·u, T the mean of |t| weighted by exp(t). A reciprocal adds 2 ulp.
RowReference::Row RowReference::softmax(std::uint64_t row) const {
  const std::uint64_t cols = shape_.cols;
  double largest = to_double(x_[row * cols]), sum = 0, weighted = 0;
  for (std::uint64_t i = row * cols; i < (row + 1) * cols; ++i) largest = std::max(largest, to_double(x_[i]));
  for (std::uint64_t i = row * cols; i < (row + 1) * cols; ++i) {
    const double t = to_double(x_[i]) - largest, e = std::exp(t);
    sum += e;
    weighted += std::abs(t) * e;
  }
  const double sum_error = (3 * weighted / sum + 8 * additions(shape_.cols) + 6) * unit;
  return {largest, 1 / sum, 0, sum_error + 4 * unit};
}

Expected RowReference::y(std::uint64_t index) const {
  const Row& row = rows_[index / std::uint64_t(shape_.cols)];
  const std::uint64_t col = index % std::uint64_t(shape_.cols);
  const double distance = to_double(x_[index]) - row.centre;
  if (operation_ == RowOperation::softmax) {
    const double y = std::exp(distance) * row.scale;
    // exp(x - a thread's own maximum) times exp(that - the row's) is two such factors; below 2^-126 each may
    // be flushed to 0.
    return {y, y * ((3 * std::abs(distance) + 14) * unit + row.scale_error) + 0x1p-125};
  }
  const double factor = row.scale * to_double(gamma_[col]), y = distance * factor + to_double(beta_[col]);
  // The difference and three more roundings, of which beta's is relative to y.
  const double slack = std::abs(factor) * row.centre_error +
                       std::abs(distance * factor) * (row.scale_error + 4 * unit) + std::abs(y) * unit;
  return {y, slack * (1 + 0x1p-6) + 0x1p-125};  // terms of second order
}

}  // namespace ladder
