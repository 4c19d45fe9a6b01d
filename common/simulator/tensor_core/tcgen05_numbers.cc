#include "common/simulator/tensor_core/tcgen05_numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "common/simulator/numeric/rounding.h"

namespace simulator {
namespace {

using namespace fragments;

constexpr uint32_t canonical_nan = 0x7fffffff;

// Elements narrower than 16 bits. packed(): without gaps, from the lowest bits of the first byte on;
// in_bytes(): one in each byte.
template <const FloatFormat& format>
struct Small {
  static constexpr uint32_t bits = 1 + format.exponent_bits + format.mantissa_bits, values = 1u << bits;
  static float value(uint32_t code) {
    static const auto table = [] {
      std::array<float, values> all;
      for (uint32_t i = 0; i < values; ++i) all[i] = widen(i, format);
      return all;
    }();
    return table[code & (values - 1)];
  }
  template <uint32_t count>
  static void packed(const std::byte* chunk, float* to) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t at = i * bits, low = std::to_integer<uint32_t>(chunk[at / 8]);
      const uint32_t high = at % 8 + bits > 8 ? std::to_integer<uint32_t>(chunk[at / 8 + 1]) : 0;
      to[i] = value((high << 8 | low) >> at % 8);
    }
  }
  // The 4 bits of E2M1 are in the middle of their byte, 6 bits in its lower part (PTX ISA 9.7.14.5.14 says so
  // of mma; of tensor memory the ISA has figures only).
  static void in_bytes(const std::byte* chunk, float* to) {
    for (uint32_t i = 0; i < 16; ++i)
      to[i] = value(std::to_integer<uint32_t>(chunk[i]) >> (bits == 4 ? 2 : 0));
  }
};

template <class Of>
constexpr Tcgen05ElementUse plain(int lowest = Of::lowest) {
  return {widen_chunk<Of>, widen_chunk<Of>, lowest};
}
using E2m3 = Small<format_e2m3>;
using E3m2 = Small<format_e3m2>;
using E2m1 = Small<format_e2m1>;

// 2^exponent, at most 2^1023; what is too small counts as 0.
double power(int exponent) {
  return exponent < -1022 ? 0 : std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52);
}

float toward_zero(double exact) {
  constexpr uint64_t lost = (uint64_t{1} << 29) - 1;  // bits of a double's significand that f32 lacks
  const double size = std::fabs(exact);
  if (size >= 0x1p-126)
    return static_cast<float>(std::bit_cast<double>(std::bit_cast<uint64_t>(exact) & ~lost));
  return static_cast<float>(std::trunc(exact * 0x1p149) * 0x1p-149) + 0.0f;
}

}  // namespace

const Tcgen05ElementUse& use_of(Tcgen05Element element) {
  static constexpr Tcgen05ElementUse uses[] = {
      plain<OfF16>(),
      plain<OfBf16>(),
      plain<OfTf32>(),
      plain<OfE4m3>(-6),
      plain<OfE5m2>(),
      {E2m3::packed<16>, E2m3::in_bytes, 0},
      {E3m2::packed<16>, E3m2::in_bytes, -2},
      {E2m1::packed<16>, E2m1::in_bytes, 0},
      plain<OfInteger<8, false>>(),
      plain<OfInteger<8, true>>(),
      {E2m1::packed<32>, E2m1::packed<32>, 0},
  };
  return uses[static_cast<size_t>(element)];
}

Tcgen05Scale tcgen05_scale(uint32_t code, bool ue4m3) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (!ue4m3) return {code == 0xff ? nan : 1, static_cast<int>(code) - 127};
  code &= 0x7f;
  const int field = static_cast<int>(code >> 3), mantissa = static_cast<int>(code & 7);
  return {code == 0x7f ? nan : (field ? 8 + mantissa : mantissa) / 8.0, std::max(field, 1) - 7};
}

Tcgen05Sum::Tcgen05Sum(float c) : c_(c) {
  if (c != 0 && std::isfinite(c)) most_ = std::max(std::ilogb(c), -126);
}

void Tcgen05Sum::add(double value, int exponent) {
  value_[count_] = value;
  exponent_[count_++] = exponent;
  most_ = std::max(most_, exponent);
}

float Tcgen05Sum::result(int bits) const {
  bool finite = std::isfinite(c_);
  for (uint32_t i = 0; i < count_; ++i) finite &= std::isfinite(value_[i]);
  if (!finite) {
    double plain = c_;
    for (uint32_t i = 0; i < count_; ++i) plain += value_[i];
    return std::isnan(plain) ? std::bit_cast<float>(canonical_nan) : static_cast<float>(plain);
  }
  auto sum = static_cast<int64_t>(static_cast<double>(c_) * power(bits - most_));
  for (uint32_t i = 0; i < count_; ++i)
    sum += static_cast<int64_t>(value_[i] * power(bits + exponent_[i] - most_));
  return toward_zero(static_cast<double>(sum) * power(most_ - bits));
}

}  // namespace simulator
