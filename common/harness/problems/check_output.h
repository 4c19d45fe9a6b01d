// Outputs on the device against what they must be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "common/harness/backend/device_buffer.h"
#include "common/harness/base/failure.h"
#include "common/harness/base/sizes.h"
#include "common/harness/problems/host_matrix.h"
#include "common/harness/verify/verify.h"

namespace ladder {

inline HostMatrix on_host(const GuardedBuffer& buffer) {
  HostMatrix host(buffer.count());
  buffer.copy_to_host(0, std::span(host));
  return host;
}

// Checks every element of an output, chunk by chunk.
template <class T, class ExpectedAt>
Verdict check_output(const char* name, const GuardedBuffer& output, std::uint64_t cols,
                     const ExpectedAt& expected) {
  constexpr std::uint64_t chunk_elements = std::uint64_t(1) << 25;  // copied to the host at a time
  Verdict verdict;
  std::vector<T> chunk;
  for (std::uint64_t first = 0; first < output.count(); first += chunk_elements) {
    chunk.resize(std::min(chunk_elements, output.count() - first));
    output.copy_to_host(first, std::span(chunk));
    verdict.add(check_elements<T>(name, chunk, first, cols, expected));
  }
  return verdict;
}

// Checks C, [.., n], which is made of a product. Every element: `values` stand for the product's, and it is
// compared with `accumulations` (GemmReference::expected). Then the second witness, fp64 on the CPU, at the
// corners and at random places: it judges the values, too. expected(index, value, accumulations) is what C
// may be where `value` stands for the product. Throws Failure where the values are wrong.
template <class T, class Reference, class ExpectedAt>
Verdict check_product(const GuardedBuffer& c, int n, std::uint64_t seed, const Reference& product,
                      const std::vector<double>& values, int accumulations, const ExpectedAt& expected) {
  Verdict verdict = check_output<T>(
      "C", c, n, [&](std::uint64_t index) { return expected(index, values[index], accumulations); });
  constexpr int samples = 64;
  constexpr double last_bit = sizeof(T) == sizeof(double) ? 0x1p-53 : 0x1p-24;  // values may be fp32
  std::mt19937_64 random(seed);
  Verdict witnessed;
  for (int sample = 0; sample < samples; ++sample) {
    const std::uint64_t corners[] = {0, std::uint64_t(n) - 1, c.count() - n, c.count() - 1};
    const std::uint64_t index = sample < 4 ? corners[sample] : random() % c.count();
    const double exact = product.exact(index), slack = product.expected(index, exact, 1).slack;
    if (!(std::abs(values[index] - exact) <= slack + std::abs(exact) * last_bit))
      throw Failure(Exit::wrong_result, "the reference for C is wrong at element " + std::to_string(index) +
                                            ": it is not what fp64 on the CPU gives");
    T got;
    c.copy_to_host(index, std::span(&got, 1));
    check_element("C (against fp64)", got, index, n, expected(index, exact, 1), witnessed);
  }
  if (verdict.passed() && !witnessed.passed()) verdict.add(witnessed);
  return verdict;
}

}  // namespace ladder
