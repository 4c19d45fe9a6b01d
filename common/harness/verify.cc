#include "common/harness/verify.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ladder {

void Verdict::add(const Verdict& other) {
  if (wrong == 0) first_wrong = other.first_wrong;
  checked += other.checked;
  wrong += other.wrong;
  if (std::isnan(other.error)) return;  // counted as wrong; there is no error to compare
  // error / bound compared crosswise, since a bound may be 0
  if (other.error * bound > error * other.bound || (bound == 0 && error == 0)) {
    error = other.error;
    bound = other.bound;
  }
}

__nv_bfloat16 round_to_bf16(double value) {
  return __float2bfloat16_rn(static_cast<float>(value));
}

void check_element(const char* name, __nv_bfloat16 got_bf16, std::uint64_t index, std::uint64_t cols,
                   Expected expected, Verdict& verdict) {
  const double got = __bfloat162float(got_bf16);
  const double low = __bfloat162float(round_to_bf16(expected.exact - expected.slack));
  const double high = __bfloat162float(round_to_bf16(expected.exact + expected.slack));
  const double error = std::abs(got - expected.exact);
  // The side that reaches further: where bf16 is coarse, low and high may lie on the same side of exact.
  const double bound = std::max(expected.exact - low, high - expected.exact);

  Verdict one;
  one.checked = 1;
  one.error = error;
  one.bound = bound;
  if (!(low <= got && got <= high)) {  // written so that NaN, got or expected, is wrong
    char line[200];
    std::snprintf(line, sizeof line, "%s[%llu,%llu] is %.9g, expected %.9g (at most %.3g off)", name,
                  static_cast<unsigned long long>(index / cols),
                  static_cast<unsigned long long>(index % cols), got, expected.exact, bound);
    one.wrong = 1;
    one.first_wrong = line;
  }
  verdict.add(one);
}

double accumulation_slack(double k, double norm_a, double norm_b) {
  return k * 0x1p-23 * norm_a * norm_b;
}

double norm_slack(double y, double cols) {
  return (0.5 * cols + 8) * 0x1p-23 * std::abs(y) + 0x1p-133;
}

std::uint64_t count_overwritten(std::span<const unsigned char> guard, unsigned char pattern) {
  return std::uint64_t(
      std::count_if(guard.begin(), guard.end(), [&](unsigned char byte) { return byte != pattern; }));
}

}  // namespace ladder
