#include "common/harness/problems/gemm/partial.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "common/harness/base/sizes.h"
#include "common/harness/verify/verify.h"

namespace ladder {
namespace {

// The largest number of which k squares are accumulated without error, of those that bf16 holds.
auto whole_numbers(int k) {
  const int limit = std::clamp(int(std::sqrt(std::exp2(exact_bits(Precision::bf16)) / k)), 1, 127);
  return [=](std::mt19937_64& random) { return double(random() % (2 * limit + 1)) - limit; };
}

}  // namespace

PartialGemm::PartialGemm(const Gemm& shape, std::uint64_t seed)
    : shape_(shape),
      a_("A", area(shape.m, shape.k), seed, whole_numbers(shape.k)),
      b_("B", area(shape.k, shape.n), seed + 1, whole_numbers(shape.k)),
      c_("C", area(shape.m, shape.n)) {}

Gemm PartialGemm::problem() const {
  Gemm p = shape_;
  p.a = a_.data();
  p.b = b_.data();
  p.c = c_.data();
  return p;
}

double PartialGemm::exact(std::uint64_t index) const {
  const std::uint64_t n = shape_.n, k = shape_.k, row = index / n, col = index % n;
  double sum = 0;
  for (std::uint64_t l = 0; l < k; ++l) sum += a_[row * k + l] * b_[l * n + col];
  return sum;
}

Verdict PartialGemm::verify(std::string& missing) const {
  Verdict verdict;
  check_written(
      "C", c_, shape_.n,
      [&](std::uint64_t index) {
        return Expected{exact(index), 0};
      },
      verdict, missing);
  return verdict;
}

}  // namespace ladder
