// bf16 as bits and as numbers, and short ways to check a few of them, for the tests of the verifier.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/harness/verify/verify.h"

namespace ladder {

using bf16 = __nv_bfloat16;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

inline bf16 from_bits(std::uint16_t bits) {
  return std::bit_cast<bf16>(bits);
}
inline std::uint16_t bits(bf16 value) {
  return std::bit_cast<std::uint16_t>(value);
}
inline float wide(bf16 value) {
  return std::bit_cast<float>(std::uint32_t(bits(value)) << 16);
}
inline bf16 narrow(float value) {
  return __float2bfloat16_rn(value);
}  // a kernel's own rounding

// The neighbour in bf16, away from zero or towards it: for finite values the bits count the steps.
inline bf16 further(bf16 value) {
  return from_bits(std::uint16_t(bits(value) + 1));
}
inline bf16 nearer(bf16 value) {
  return from_bits(std::uint16_t(bits(value) - 1));
}
inline bf16 above(bf16 value) {
  return wide(value) >= 0 ? further(value) : nearer(value);
}
inline bf16 below(bf16 value) {
  return wide(value) > 0 ? nearer(value) : further(value);
}

inline Verdict check_all(const std::vector<bf16>& got, const std::vector<Expected>& expected,
                         std::uint64_t cols) {
  return check_elements<bf16>("out", got, 0, cols, [&](std::uint64_t i) { return expected[i]; });
}

inline Verdict check_one(bf16 got, Expected expected) {
  return check_all({got}, {expected}, 1);
}

}  // namespace ladder
