#include "common/harness/reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/harness/parallel.h"

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
  double sum = 0;
  for (std::uint64_t l = 0; l < k; ++l) sum += double(a_[row * k + l]) * b_[l * n + col];
  return sum;
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

}  // namespace ladder
