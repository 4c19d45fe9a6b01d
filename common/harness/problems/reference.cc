#include "common/harness/problems/reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/harness/base/parallel.h"

namespace ladder {
namespace {

std::vector<float> widened(const HostMatrix& matrix) {
  std::vector<float> wide_matrix(matrix.size());
  std::transform(matrix.begin(), matrix.end(), wide_matrix.begin(), __bfloat162float);
  return wide_matrix;
}

}  // namespace

GemmReference::GemmReference(const Gemm& shape, const HostMatrix& a, const HostMatrix& b, bool whole_numbers)
    : GemmReference(shape, Precision::bf16, widened(a), widened(b), whole_numbers) {}

GemmReference::GemmReference(const Gemm& shape, Precision precision, std::vector<float> a,
                             std::vector<float> b, bool whole_numbers)
    : shape_(shape),
      precision_(precision),
      a_(std::move(a)),
      b_(std::move(b)),
      whole_numbers_(whole_numbers),
      row_norms_(shape.m),
      col_norms_(shape.n) {
  const std::uint64_t n = shape_.n, k = shape_.k;
  parallel_slices(shape_.m, 64, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      double squares = 0;
      for (std::uint64_t l = i * k; l < (i + 1) * k; ++l) squares += double(a_[l]) * a_[l];
      row_norms_[i] = std::sqrt(squares);
    }
  });
  parallel_slices(n, 64, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t l = 0; l < k; ++l)
      for (std::uint64_t j = begin; j < end; ++j) col_norms_[j] += double(b_[l * n + j]) * b_[l * n + j];
    for (std::uint64_t j = begin; j < end; ++j) col_norms_[j] = std::sqrt(col_norms_[j]);
  });
}

double GemmReference::exact(std::uint64_t index) const {
  const std::uint64_t n = shape_.n, k = shape_.k, row = index / n, col = index % n;
  long double sum = 0;  // to judge fp64, too
  for (std::uint64_t l = 0; l < k; ++l) sum += double(a_[row * k + l]) * b_[l * n + col];
  return double(sum);
}

std::vector<double> GemmReference::all() const {
  const std::uint64_t n = shape_.n, k = shape_.k;
  std::vector<double> c(shape_.m * n);
  parallel_slices(shape_.m, 1, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      double* const row = &c[i * n];
      for (std::uint64_t l = 0; l < k; ++l) {
        const double a = a_[i * k + l];
        for (std::uint64_t j = 0; j < n; ++j) row[j] += a * b_[l * n + j];
      }
    }
  });
  return c;
}

Expected GemmReference::expected(std::uint64_t index, double value, int accumulations) const {
  if (whole_numbers_) return {value, 0};
  const double one =
      accumulation_slack(precision_, shape_.k, row_norms_[index / shape_.n], col_norms_[index % shape_.n]);
  return {value, accumulations * one};
}

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

void GroupedReference::add(const Gemm& shape, const HostMatrix& a, const HostMatrix& b, bool whole_numbers) {
  groups_.emplace_back(shape, a, b, whole_numbers);
  begins_.push_back(end_);
  end_ += std::uint64_t(shape.m) * std::uint64_t(shape.n);
}

std::pair<const GemmReference*, std::uint64_t> GroupedReference::find(std::uint64_t index) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), index);
  const std::size_t group = after - begins_.begin() - 1;
  return {&groups_[group], index - begins_[group]};
}

double GroupedReference::exact(std::uint64_t index) const {
  const auto [group, at] = find(index);
  return group->exact(at);
}

std::vector<double> GroupedReference::all() const {
  std::vector<double> c;
  for (const GemmReference& group : groups_) {
    const std::vector<double> of_group = group.all();
    c.insert(c.end(), of_group.begin(), of_group.end());
  }
  return c;
}

Expected GroupedReference::expected(std::uint64_t index, double value, int accumulations) const {
  const auto [group, at] = find(index);
  return group->expected(at, value, accumulations);
}

LinearReference::LinearReference(const Linear& shape, Epilogue epilogue, const HostMatrix& a,
                                 const HostMatrix& b, const HostMatrix& gate, HostMatrix bias,
                                 bool whole_numbers)
    : n_(shape.n), epilogue_(epilogue), bias_(std::move(bias)) {
  products_.emplace_back(gemm_of(shape), a, b, whole_numbers);
  if (is_gated(epilogue)) products_.emplace_back(gemm_of(shape), a, gate, whole_numbers);
}

// Both activations are x · s(t), s(t) = 1 / (1 + exp(-t)): silu has t = x, gelu in its tanh form t =
// 2·√(2/π)·(x + 0.044715 x³). The slack has two parts. That of x grows by the largest slope, which is 1.0999
// for silu and 1.1290 for gelu. And a kernel evaluates it in fp32: t has up to 5 roundings, exp(-t)
// multiplies their error by |t| and adds 2 ulp of its own (ex2.approx), then come a sum, a reciprocal and a
// product, at 2 ulp each. Far out on the left exp(-t) overflows and the kernel returns 0, and numbers below
// 2^-126 may be flushed: what that takes away is below 2^-118.
Expected LinearReference::activated(Expected x) const {
  const bool gelu = epilogue_ == Epilogue::gelu || epilogue_ == Epilogue::geglu;
  const double t = gelu ? 2 * 0.79788456080286535588 * x.exact * (1 + 0.044715 * x.exact * x.exact) : x.exact;
  const double value = x.exact / (1 + std::exp(-t));
  const double evaluated = (6 * std::abs(t) + 10) * 0x1p-23 * std::abs(value) + 0x1p-118;
  return {value, (gelu ? 1.13 : 1.1) * x.slack + evaluated};
}

Expected LinearReference::c(std::uint64_t index, double product, int accumulations, double gate,
                            int gate_accumulations) const {
  Expected x = products_[0].expected(index, product, accumulations);
  if (is_gated(epilogue_)) {
    const Expected g = activated(products_[1].expected(index, gate, gate_accumulations));
    const double value = g.exact * x.exact;
    return {value, g.slack * (std::abs(x.exact) + x.slack) + std::abs(g.exact) * x.slack +
                       std::abs(value) * 0x1p-23 + 0x1p-118};
  }
  x.exact += to_double(bias_[index % std::uint64_t(n_)]);
  if (x.slack > 0) x.slack += (std::abs(x.exact) + x.slack) * 0x1p-23;  // the sum is rounded, too
  return epilogue_ == Epilogue::bias ? x : activated(x);
}

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
