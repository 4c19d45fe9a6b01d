#include "common/harness/problems/gemm/reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/harness/base/parallel.h"

namespace ladder {
namespace {

std::vector<float> as_floats(const HostMatrix& matrix) {
  std::vector<float> floats(matrix.size());
  std::transform(matrix.begin(), matrix.end(), floats.begin(), __bfloat162float);
  return floats;
}

// c += a · b for some rows of a and c, and some of b: every sum is in the order of k, as one row at a time
// makes it. An element of b is converted once for all rows, one of c is stored once for all of k.
template <std::uint64_t rows, std::uint64_t steps>
void add_product(double* c, const float* a, const float* b, std::uint64_t n, std::uint64_t k) {
  double factor[rows][steps];
  for (std::uint64_t i = 0; i < rows; ++i)
    for (std::uint64_t l = 0; l < steps; ++l) factor[i][l] = a[i * k + l];
  for (std::uint64_t j = 0; j < n; ++j) {
    double wide[steps];
    for (std::uint64_t l = 0; l < steps; ++l) wide[l] = b[l * n + j];
    for (std::uint64_t i = 0; i < rows; ++i) {
      double sum = c[i * n + j];
      for (std::uint64_t l = 0; l < steps; ++l) sum += factor[i][l] * wide[l];
      c[i * n + j] = sum;
    }
  }
}

template <std::uint64_t rows>
void add_rows(double* c, const float* a, const float* b, std::uint64_t n, std::uint64_t k) {
  constexpr std::uint64_t steps = 2;
  std::uint64_t l = 0;
  for (; l + steps <= k; l += steps) add_product<rows, steps>(c, a + l, b + l * n, n, k);
  if (l < k) add_product<rows, 1>(c, a + l, b + l * n, n, k);
}

}  // namespace

GemmReference::GemmReference(const Gemm& shape, const HostMatrix& a, const HostMatrix& b, bool whole_numbers)
    : GemmReference(shape, Precision::bf16, as_floats(a), as_floats(b), whole_numbers) {}

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
    constexpr std::uint64_t rows = 4;
    std::uint64_t i = begin;
    for (; i + rows <= end; i += rows) add_rows<rows>(&c[i * n], &a_[i * k], b_.data(), n, k);
    for (; i < end; ++i) add_rows<1>(&c[i * n], &a_[i * k], b_.data(), n, k);
  });
  return c;
}

Expected GemmReference::expected(std::uint64_t index, double value, int accumulations) const {
  if (whole_numbers_) return {value, 0};
  const double one =
      accumulation_slack(precision_, shape_.k, row_norms_[index / shape_.n], col_norms_[index % shape_.n]);
  return {value, accumulations * one};
}

}  // namespace ladder
