// Is the output right? Host code only: it sees bytes that were copied back, and is tested with planted
// faults.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/extension.h"
#include "common/harness/base/parallel.h"

namespace ladder {

// The worst that was seen. `error` and `bound` belong to the element nearest to its bound (or furthest past
// it), in the output's own units.
struct Verdict {
  std::uint64_t checked = 0;
  std::uint64_t wrong = 0;
  std::string first_wrong;  // one line about the wrong element with the lowest index
  double error = 0;
  double bound = 0;

  bool passed() const { return wrong == 0 && checked > 0; }
  void add(const Verdict& other);  // `other` covers elements after those seen so far
  void compare(double other_error,
               double other_bound);  // keeps the error that is the largest part of its bound
  // `written`: whether it is anything but the poison that it was before the launch.
  void add_wrong(const char* name, std::uint64_t index, std::uint64_t cols, double got, bool written,
                 double exact, double largest);
};

// What an element may be: the roundings, to the output's type, of all numbers within `slack` of `exact`. The
// kernel's fp32 result is only required to lie within `slack`, and rounding is monotone, so nothing tighter
// can be required and nothing looser passes: with slack 0 there is one right answer.
struct Expected {
  double exact;
  double slack;
};

// Checks `got`, elements [first, first + size) of an output with `cols` columns called `name`.
// `expected(index)` gives what element `index` may be. Runs on all cores; `expected` is called from several
// threads.
// The elements are bf16, f16, fp32, fp64 or s32.
template <class T, class ExpectedAt>
Verdict check_elements(const char* name, std::span<const T> got, std::uint64_t first, std::uint64_t cols,
                       const ExpectedAt& expected);

// One element of the above.
template <class T>
void check_element(const char* name, T got, std::uint64_t index, std::uint64_t cols, Expected expected,
                   Verdict& verdict);

// Checks a matrix of another precision, stored as QuantisedLayout says, with this scale that all of it share.
// Each scale may be that of any block whose numbers lie within their slack, and each element what its scale
// makes of any such number. A scale that is wrong counts as one more wrong element.
template <class ExpectedAt>
Verdict check_quantised(const char* name, Precision precision, int rows, int cols,
                        std::span<const std::byte> elements, std::span<const std::byte> scales,
                        const ExpectedAt& expected, float matrix_scale = 1);

// One block of it, the `block`th of a row: `expected` has as many elements as it.
void check_block(const char* name, const QuantisedLayout& layout, Precision precision, float matrix_scale,
                 int row, int block, std::span<const std::byte> elements, std::span<const std::byte> scales,
                 std::span<const Expected> expected, Verdict& verdict);

// The largest error of accumulating k products of bf16 in fp32, in any order, on a unit that may truncate
// instead of rounding: k · 2^-23 · Σ|a·b|, and Σ|a·b| <= |a|₂·|b|₂. Products of two bf16 are exact in fp32.
// (Higham, Accuracy and Stability of Numerical Algorithms, §3.1, with the unit roundoff doubled.)
// A tensor core cuts each of K products and the sum so far at least 24 bits below the largest, adds them and
// truncates: k/K · (K · 2^-24 + 2^-23) · Σ|a·b|, which is no more for K > 1; K is 4 to 16 since sm_80.
//
// fp8 on sm_89 and sm_90 keeps less: terms are cut 13 bits below the largest, of which there are K + 1, K at
// least 16: 17/16 · k · 2^-13 · Σ|a·b|, far from what happens (the exact pass of whole numbers is what finds
// a fault there). In f16 a sum is cut to 11 bits after every two products or more: k/2 · 2^-10 · Σ|a·b|. Sums
// in s32 are exact. In fp64 a sum is rounded to nearest after each product, which is exact where the factors
// were fp32: k · 2^-53.
double accumulation_slack(Precision precision, double k, double norm_a, double norm_b);

// Whole numbers up to 2^these are accumulated without error.
int exact_bits(Precision precision);

// The same for y of the fused norm, at |y| and row length cols: the squares' sum is off by at most cols ·
// 2^-23 relative, its square root by half of that; division, rsqrt (2 ulp), and two products add eight
// roundings.
double norm_slack(double y, double cols);

// bf16, f16, fp32 as a kernel rounds its fp32 result: to fp32 first, then to nearest, ties to even, overflow
// to infinity. For a value that fp32 cannot hold these are two roundings; they are monotone, which is all
// that Expected needs. fp64 is what the value is already, and so are the whole numbers of s32.
template <class T>
T rounded(double value);
template <>
inline __nv_bfloat16 rounded(double value) {
  // As __float2bfloat16_rn does, which is slow on the host: half a unit, less one where the bit above is
  // even.
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const bool nan = (bits & 0x7fffffff) > 0x7f800000;
  const std::uint32_t half = 0x7fff + (bits >> 16 & 1);
  return __nv_bfloat16_raw{static_cast<unsigned short>(nan ? 0x7fff : (bits + half) >> 16)};
}
template <>
__half rounded(double value);
template <>
float rounded(double value);
template <>
inline double rounded(double value) {
  return value;
}
template <>
std::int32_t rounded(double value);
inline __nv_bfloat16 round_to_bf16(double value) {
  return rounded<__nv_bfloat16>(value);
}

// The bytes of a guard zone that differ from `pattern`; 0 means nothing was written outside the output.
std::uint64_t count_overwritten(std::span<const unsigned char> guard, unsigned char pattern);

inline void Verdict::compare(double other_error, double other_bound) {
  if (std::isnan(other_error)) return;  // counted as wrong; there is no error to compare
  // error / bound compared crosswise, since a bound may be 0
  if (other_error * bound > error * other_bound || (bound == 0 && error == 0)) {
    error = other_error;
    bound = other_bound;
  }
}

inline double to_double(__nv_bfloat16 value) {
  return std::bit_cast<float>(std::uint32_t{__nv_bfloat16_raw(value).x} << 16);
}
inline double to_double(__half value) {
  return __half2float(value);
}
inline double to_double(float value) {
  return value;
}
inline double to_double(double value) {
  return value;
}
inline double to_double(std::int32_t value) {
  return value;
}

// What every byte of an output is before a launch: NaN, and of whole numbers one that no sum comes to.
constexpr unsigned char poison_byte(bool whole_numbers) {
  return whole_numbers ? 0x80 : 0xFF;
}
template <class T>
bool is_poison(T value) {
  unsigned char bytes[sizeof(T)], poison[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  std::memset(poison, poison_byte(std::is_integral_v<T>), sizeof(T));
  return std::memcmp(bytes, poison, sizeof(T)) == 0;
}

template <class T>
void check_element(const char* name, T got_rounded, std::uint64_t index, std::uint64_t cols,
                   Expected expected, Verdict& verdict) {
  const double got = to_double(got_rounded);
  const double low = to_double(rounded<T>(expected.exact - expected.slack));
  const double high = expected.slack == 0 ? low : to_double(rounded<T>(expected.exact + expected.slack));
  // The side that reaches further: where the type is coarse, low and high may lie on the same side of exact.
  const double bound = std::max(expected.exact - low, high - expected.exact);
  ++verdict.checked;
  verdict.compare(std::abs(got - expected.exact), bound);
  if (!(low <= got && got <= high))  // written so that NaN, got or expected, is wrong
    verdict.add_wrong(name, index, cols, got, !is_poison(got_rounded), expected.exact, bound);
}

template <class T, class ExpectedAt>
Verdict check_elements(const char* name, std::span<const T> got, std::uint64_t first, std::uint64_t cols,
                       const ExpectedAt& expected) {
  std::vector<Verdict> verdicts(max_slices());
  parallel_slices(got.size(), 1 << 14, [&](std::size_t slice, std::uint64_t begin, std::uint64_t end) {
    Verdict verdict;
    for (std::uint64_t i = begin; i < end; ++i)
      check_element(name, got[i], first + i, cols, expected(first + i), verdict);
    verdicts[slice] = verdict;
  });
  Verdict all;
  for (const Verdict& v : verdicts) all.add(v);
  return all;
}

template <class ExpectedAt>
Verdict check_quantised(const char* name, Precision precision, int rows, int cols,
                        std::span<const std::byte> elements, std::span<const std::byte> scales,
                        const ExpectedAt& expected, float matrix_scale) {
  const QuantisedLayout layout(precision, rows, cols);
  const int block = layout.block ? layout.block : 1;
  std::vector<Verdict> verdicts(max_slices());
  parallel_slices(rows, 1, [&](std::size_t slice, std::uint64_t begin, std::uint64_t end) {
    Verdict verdict;
    std::vector<Expected> of_block;
    for (std::uint64_t row = begin; row < end; ++row) {
      for (int first = 0; first < cols; first += block) {
        of_block.clear();
        for (int col = first; col < std::min(first + block, cols); ++col)
          of_block.push_back(expected(row * cols + col));
        check_block(name, layout, precision, matrix_scale, int(row), first / block, elements, scales,
                    of_block, verdict);
      }
      // Past the end of the row.
      for (int b = cols / block; b < 4 * layout.tiles_across() && !layout.fp32_scales(); ++b)
        check_block(name, layout, precision, matrix_scale, int(row), b, elements, scales, {}, verdict);
    }
    verdicts[slice] = verdict;
  });
  Verdict all;
  for (const Verdict& v : verdicts) all.add(v);
  return all;
}

}  // namespace ladder
