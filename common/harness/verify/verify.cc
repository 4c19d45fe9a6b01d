#include "common/harness/verify/verify.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "common/harness/verify/precision.h"

namespace ladder {

void Verdict::add(const Verdict& other) {
  if (wrong == 0) first_wrong = other.first_wrong;
  checked += other.checked;
  wrong += other.wrong;
  compare(other.error, other.bound);
}

template <>
__half rounded(double value) {
  return __float2half_rn(static_cast<float>(value));
}
template <>
float rounded(double value) {
  return static_cast<float>(value);
}
template <>
std::int32_t rounded(double value) {
  return static_cast<std::int32_t>(value);
}

void Verdict::add_wrong(const char* name, std::uint64_t index, std::uint64_t cols, double got, bool written,
                        double exact, double largest) {
  if (wrong++ != 0) return;
  char value[40] = "was never written";
  if (std::isnan(got) && written) {
    std::snprintf(value, sizeof value, "is NaN");
  } else if (written) {
    std::snprintf(value, sizeof value, "is %.9g", got);
  }
  char line[200];
  std::snprintf(line, sizeof line, "%s[%llu,%llu] %s, expected %.9g (at most %.3g off)", name,
                static_cast<unsigned long long>(index / cols), static_cast<unsigned long long>(index % cols),
                value, exact, largest);
  first_wrong = line;
}

void check_block(const char* name, const QuantisedLayout& layout, Precision precision, float matrix_scale,
                 int row, int block, std::span<const std::byte> elements, std::span<const std::byte> scales,
                 std::span<const Expected> expected, Verdict& verdict) {
  Verdict all;
  char line[200];
  auto wrong = [&](const char* text) {
    if (all.wrong++ == 0) all.first_wrong = text;
  };
  float scale = 1;
  if (layout.block != 0) {
    const std::byte* const stored = &scales[layout.scale_at(row, block)];
    if (layout.fp32_scales()) {
      std::memcpy(&scale, stored, sizeof scale);
    } else {
      scale = decoded_scale(precision, std::to_integer<unsigned char>(*stored)) * matrix_scale;
    }
    double least = 0, most = 0;  // that the largest of the block may be
    for (const Expected& e : expected) {
      least = std::max(least, std::abs(e.exact) - e.slack);
      most = std::max(most, std::abs(e.exact) + e.slack);
    }
    const float low = scale_of(precision, float(least), matrix_scale);
    const float high = scale_of(precision, float(most), matrix_scale);
    const bool right =
        expected.empty() ? *stored == std::byte(0) : low <= scale && scale <= high;  // a NaN is not
    if (!right) {
      std::snprintf(line, sizeof line, "the scale of %s[%d], block %d, is %.9g, expected %.9g to %.9g", name,
                    row, block, scale, expected.empty() ? 0 : low, expected.empty() ? 0 : high);
      wrong(line);
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const int col = block * std::max(layout.block, 1) + int(i);
    auto byte =
        std::to_integer<unsigned char>(elements[row * layout.pitch() + std::size_t(col) * layout.bits / 8]);
    if (layout.bits == 4 && col % 2 == 1) byte >>= 4;
    const double got = decoded_element(precision, byte) * scale;
    const auto [exact, slack] = expected[i];
    const double low = rounded_element(precision, float(exact - slack), scale);
    const double high = rounded_element(precision, float(exact + slack), scale);
    Verdict one;
    one.checked = 1;
    one.error = std::abs(got - exact);
    one.bound = std::max(exact - low, high - exact);
    if (!(low <= got && got <= high)) {
      std::snprintf(line, sizeof line, "%s[%d,%d] is %.9g, expected %.9g (%.9g to %.9g with its scale %.9g)",
                    name, row, col, got, exact, low, high, scale);
      one.wrong = 1;
      one.first_wrong = line;
    }
    all.add(one);
  }
  verdict.add(all);
}

// Whether it is FP8 that sm_89 or sm_90 accumulates.
static bool added_up_in_14_bits(Precision precision) {
  const Number a = format_of(precision).a;  // where one of them has 8 bits, and is not converted, both have
  return (a == Number::e4m3 || a == Number::e5m2) && precision != Precision::mxfp8;
}

double accumulation_slack(Precision precision, double k, double norm_a, double norm_b) {
  const Format format = format_of(precision);
  const double relative = format.sum == Number::s32        ? 0
                          : format.sum == Number::fp64     ? 0x1p-53
                          : format.sum == Number::f16      ? 0x1p-11
                          : added_up_in_14_bits(precision) ? 0x1.1p-13
                                                           : 0x1p-23;
  return k * relative * norm_a * norm_b;
}

int exact_bits(Precision precision) {
  const Format format = format_of(precision);
  if (format.sum == Number::s32) return 31;
  if (format.sum == Number::f16) return 11;
  if (format.sum == Number::fp64) return 53;
  return added_up_in_14_bits(precision) ? 13 : 24;
}

double norm_slack(double y, double cols) {
  return (0.5 * cols + 8) * 0x1p-23 * std::abs(y) + 0x1p-133;
}

std::uint64_t count_overwritten(std::span<const unsigned char> guard, unsigned char pattern) {
  return std::uint64_t(
      std::count_if(guard.begin(), guard.end(), [&](unsigned char byte) { return byte != pattern; }));
}

}  // namespace ladder
