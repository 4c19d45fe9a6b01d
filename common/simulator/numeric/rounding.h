// Rounding and number formats, for the instructions on floating-point values. Results are those of the
// hardware, bit by bit (tests/golden/float_ops.txt): a NaN that arithmetic makes is 0x7fffffff in f32 and
// 0x7fff in f16 and bf16.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

#include "common/simulator/decode/decoder.h"

namespace simulator {

// .rn (ties to even), .rz, .rm, .rp, .rna (ties away from zero). (PTX ISA 9.7.9.21, "Floating Point Notes")
enum class Rounding : uint8_t { nearest, zero, down, up, away };

// The rounding mode of this thread's SSE/NEON arithmetic while it lives. The compiler does not know about
// modes: what is to be computed under one is a call that it cannot look into, or has its operands and result
// in volatile variables.
class RoundingMode {
 public:
  explicit RoundingMode(Rounding rounding) : before_(std::fegetround()) {
    const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
    std::fesetround(modes[static_cast<int>(rounding)]);
  }
  ~RoundingMode() { std::fesetround(before_); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  int before_;
};

// ---- f32

inline float canonical(float x) {
  return x == x ? x : std::bit_cast<float>(0x7fffffffu);
}
inline float saturate(float x) {  // .sat: NaN and -0 → +0
  return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}
inline float magnitude(float x) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0x7fffffffu);
}

// ---- f64

inline double quiet(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) | 0x0008000000000000u);
}
inline double saturate(double x) {
  return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0;
}

// x, the nearest float to a sum, and `rest`, what the sum has beyond x (or anything of its sign): the sum
// rounded to odd. Rounding that again, to a format with at least two bits fewer, gives what rounding the sum
// once would have.
inline float odd(float x, float rest) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const bool inexact = rest < 0.0f || rest > 0.0f;
  const bool outwards = (std::bit_cast<uint32_t>(rest) ^ bits) >> 31 == 0;
  const uint32_t moved = outwards ? bits + 1 : bits - 1;
  return std::bit_cast<float>(inexact && (bits & 1) == 0 ? moved : bits);
}

// ---- Formats of any size

struct FloatFormat {
  int exponent_bits, mantissa_bits;
  uint32_t largest;  // the bits of the largest finite value
  bool infinity;     // follows largest
};
constexpr FloatFormat format_f32{8, 23, 0x7f7fffff, true}, format_f16{5, 10, 0x7bff, true},
    format_bf16{8, 7, 0x7f7f, true}, format_tf32{8, 10, 0x3fbff, true}, format_e4m3{4, 3, 0x7e, false},
    format_e5m2{5, 2, 0x7b, true}, format_e2m1{2, 1, 0x7, false}, format_e2m3{2, 3, 0x1f, false},
    format_e3m2{3, 2, 0x1f, false};

// x, not NaN, as bits of the format, rounded once: up(kept, rest, shift) says whether away from zero, of
// |x| = kept · 2^shift + rest in units of its last bit (where shift > 60, kept is 0 and rest is all of it).
// What is too large becomes infinity, where there is one and it may, else the largest finite value.
template <class Up>
uint32_t narrow_by(double x, const FloatFormat& format, bool to_infinity, bool satfinite, Up up) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const bool negative = bits >> 63;
  const uint32_t sign = static_cast<uint32_t>(negative) << (format.exponent_bits + format.mantissa_bits);
  const int biased = static_cast<int>(bits >> 52 & 0x7ff);
  const uint64_t fraction = bits & 0xfffffffffffffu;
  uint64_t result;
  if (biased == 0x7ff) {
    result = uint64_t{format.largest} + 1;
    if (!format.infinity || satfinite) result = format.largest;
    return sign | static_cast<uint32_t>(result);
  }
  // |x| = significand · 2^(exponent - 52)
  const int exponent = biased == 0 ? -1022 : biased - 1023;
  const uint64_t significand = biased == 0 ? fraction : fraction | uint64_t{1} << 52;
  const int bias = (1 << (format.exponent_bits - 1)) - 1, smallest = 1 - bias;
  const int shift = 52 - format.mantissa_bits + (exponent < smallest ? smallest - exponent : 0);
  const uint64_t kept = shift > 60 ? 0 : significand >> shift,
                 rest = shift > 60 ? significand : significand - (kept << shift);
  // kept's leading one, where there is one, counts as one step of the exponent.
  result = kept + (up(kept, rest, shift) ? 1 : 0);
  if (exponent >= smallest) result += static_cast<uint64_t>(exponent - smallest) << format.mantissa_bits;
  if (result > format.largest)
    result = format.largest + (to_infinity && format.infinity && !satfinite ? 1 : 0);
  return sign | static_cast<uint32_t>(result);
}
inline uint32_t narrow(double x, const FloatFormat& format, Rounding rounding, bool satfinite = false) {
  const bool negative = std::signbit(x);
  const Rounding outwards = negative ? Rounding::down : Rounding::up;
  const bool to_infinity =
      rounding == Rounding::nearest || rounding == Rounding::away || rounding == outwards;
  return narrow_by(x, format, to_infinity, satfinite, [=](uint64_t kept, uint64_t rest, int shift) {
    const uint64_t half = uint64_t{1} << (shift > 60 ? 59 : shift - 1);
    if (rounding == Rounding::nearest) return rest > half || (rest == half && (kept & 1));
    if (rounding == Rounding::away) return rest >= half;
    return rounding == outwards && rest != 0;
  });
}
// .rs: by the carry of `count` random bits and as many leading bits of what is cut off. (PTX ISA 9.7.9.21)
inline uint32_t narrow_stochastic(double x, const FloatFormat& format, uint32_t random, int count,
                                  bool satfinite) {
  return narrow_by(x, format, true, satfinite, [=](uint64_t, uint64_t rest, int shift) {
    const uint64_t leading = shift - count < 64 ? rest >> (shift - count) : 0;
    return (leading + random) >> count != 0;
  });
}

// Bits of a format without NaN or infinity (left to the caller), exactly.
inline float widen(uint32_t bits, const FloatFormat& format) {
  const uint32_t mantissa = bits & ((1u << format.mantissa_bits) - 1);
  const int biased = static_cast<int>(bits >> format.mantissa_bits & ((1u << format.exponent_bits) - 1));
  const int smallest = 2 - (1 << (format.exponent_bits - 1));
  const int exponent = (biased == 0 ? smallest : biased - 1 + smallest) - format.mantissa_bits;
  const uint32_t significand = biased == 0 ? mantissa : mantissa | 1u << format.mantissa_bits;
  const float magnitude = std::ldexp(static_cast<float>(significand), exponent);
  return bits >> (format.exponent_bits + format.mantissa_bits) & 1 ? -magnitude : magnitude;
}

// The rounding modifier of an instruction; `otherwise` where it has none.
inline Rounding rounding_of(Decoder& decoder, Rounding otherwise) {
  const int index = decoder.one_of({"rn", "rz", "rm", "rp", "rna"});
  return index < 0 ? otherwise : static_cast<Rounding>(index);
}

}  // namespace simulator
