// cvt, the general way: lane by lane, through a 64-bit integer or a double, which hold every value exactly.
// (PTX ISA 9.7.9.21)

#include "common/simulator/instructions/scalar/convert_general.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "common/simulator/machine/warp.h"
#include "common/simulator/numeric/halves.h"
#include "common/simulator/numeric/rounding.h"

namespace simulator::conversion {
namespace {

// ---- Integers

uint64_t low_bits(uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}
uint64_t extend(uint64_t value, int bits, bool sign) {
  if (!sign) return low_bits(value, bits);
  return static_cast<uint64_t>(static_cast<int64_t>(value << (64 - bits)) >> (64 - bits));
}

// `value` is what a 64-bit register holds, of the signedness given; clamped to the range of the destination.
uint64_t clamp(uint64_t value, bool from_signed, int bits, bool to_signed) {
  const uint64_t largest = ~uint64_t{0} >> (64 - bits) >> (to_signed ? 1 : 0);
  const bool negative = from_signed && value >> 63;
  if (!negative) return value > largest ? largest : value;
  if (!to_signed) return 0;
  const int64_t smallest = -static_cast<int64_t>(largest) - 1;
  return static_cast<int64_t>(value) < smallest ? static_cast<uint64_t>(smallest) : value;
}

// The integer rounded to odd where a double has too few bits (see odd()).
double exact_or_odd(uint64_t value, bool from_signed) {
  const bool negative = from_signed && value >> 63;
  const uint64_t magnitude = negative ? 0 - value : value;
  double x;
  if (magnitude >> 53) {
    x = static_cast<double>(magnitude >> 11 | ((magnitude & 0x7ff) != 0 ? 1 : 0)) * 0x1p11;
  } else {
    x = static_cast<double>(magnitude);
  }
  return negative ? -x : x;
}
double integer_to_double(uint64_t value, bool from_signed, Rounding rounding) {
  volatile uint64_t source = value;
  volatile double result;
  RoundingMode mode(rounding);
  if (from_signed) {
    result = static_cast<double>(static_cast<int64_t>(source));
  } else {
    result = static_cast<double>(source);
  }
  return result;
}

// ---- Floats

double to_integral(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::zero:
      return std::trunc(x);
    case Rounding::down:
      return std::floor(x);
    case Rounding::up:
      return std::ceil(x);
    default:
      return std::rint(x);
  }
}

double widen(uint64_t bits, Kind kind) {
  switch (kind) {
    case Kind::f16:
      return from_f16(static_cast<uint16_t>(bits));
    case Kind::bf16:
      return from_bf16(static_cast<uint16_t>(bits));
    case Kind::f32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    default:
      return std::bit_cast<double>(bits);
  }
}

// A NaN in f64 is cut to the narrower format's bits and made quiet; from all other formats it becomes the
// canonical one.
uint64_t nan_in(const Plan& plan, double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const bool cut = plan.from == Kind::f64 && !plan.relu && !plan.satfinite;
  switch (plan.to) {
    case Kind::f16:
      return cut ? (bits >> 48 & 0x8000) | 0x7e00 | (bits >> 42 & 0x3ff) : 0x7fff;
    case Kind::bf16:
      return cut ? (bits >> 48 & 0x8000) | 0x7fc0 | (bits >> 45 & 0x7f) : 0x7fff;
    case Kind::f32:
      return cut ? (bits >> 32 & 0x80000000) | 0x7fc00000 | (bits >> 29 & 0x7fffff) : 0x7fffffff;
    case Kind::tf32:
      return 0x7fffe000;
    default:  // f64; with .ftz by way of f32's canonical one
      return plan.ftz ? 0x7fffffffe0000000 : std::bit_cast<uint64_t>(quiet(x));
  }
}

const FloatFormat& format_of(Kind kind) {
  switch (kind) {
    case Kind::f16:
      return format_f16;
    case Kind::bf16:
      return format_bf16;
    case Kind::tf32:
      return format_tf32;
    case Kind::e4m3x2:
      return format_e4m3;
    case Kind::e5m2x2:
      return format_e5m2;
    case Kind::e2m1x2:
      return format_e2m1;
    case Kind::e2m3x2:
      return format_e2m3;
    case Kind::e3m2x2:
      return format_e3m2;
    default:
      return format_f32;
  }
}

// x, which is of type plan.from, as plan.to.
uint64_t float_to_float(const Plan& plan, double x) {
  if (plan.integral) x = to_integral(x, plan.rounding);
  uint64_t result;
  int width = plan.to_bits;
  if (x != x) {
    if (plan.sat) return 0;
    return nan_in(plan, x);
  }
  if (plan.to == Kind::f64) {
    result = std::bit_cast<uint64_t>(x);
  } else {
    const Rounding rounding = plan.integral ? Rounding::zero : plan.rounding;  // exact, if it is integral
    result = narrow(x, format_of(plan.to), rounding, plan.satfinite);
    if (plan.to == Kind::tf32) result = (result & 0x3ffff) << 13 | (result >> 18 & 1) << 31;
    if (plan.to == Kind::f32 && plan.ftz)
      result = std::bit_cast<uint32_t>(flush(std::bit_cast<float>(static_cast<uint32_t>(result))));
  }
  const bool negative = result >> (width - 1) & 1;
  if (plan.relu && negative) return 0;
  if (plan.sat) {
    if (negative) return 0;
    const double value = widen(result, plan.to);
    if (value > 1.0)
      result = plan.to == Kind::f64 ? std::bit_cast<uint64_t>(1.0)
                                    : narrow(1.0, format_of(plan.to), Rounding::zero);
  }
  return result;
}

uint64_t float_to_integer(const Plan& plan, double x) {
  const bool sign = is_signed(plan.to);
  const int bits = plan.to_bits;
  if (x != x) return plan.from == Kind::f64 || bits == 64 ? uint64_t{1} << (bits - 1) : 0;
  x = to_integral(x, plan.rounding);
  const double end = std::ldexp(1.0, sign ? bits - 1 : bits);
  const uint64_t largest = ~uint64_t{0} >> (64 - bits) >> (sign ? 1 : 0);
  if (x >= end) return largest;
  if (!sign) return x <= 0 ? 0 : static_cast<uint64_t>(x);
  return x < -end ? ~largest : static_cast<uint64_t>(static_cast<int64_t>(x));
}

uint64_t convert(const Plan& plan, uint64_t source) {
  if (is_integer(plan.from)) {
    const bool sign = is_signed(plan.from);
    const uint64_t value = extend(source, plan.from_bits, sign);
    if (is_integer(plan.to)) {
      const uint64_t d = plan.sat ? clamp(value, sign, plan.to_bits, is_signed(plan.to)) : value;
      return extend(d, plan.to_bits, is_signed(plan.to));
    }
    if (plan.to == Kind::f64) {
      const double d = integer_to_double(value, sign, plan.rounding);
      return std::bit_cast<uint64_t>(plan.sat ? saturate(d) : d);
    }
    return float_to_float(plan, exact_or_odd(value, sign));
  }
  source = low_bits(source, plan.from_bits);
  if (plan.from == Kind::f32 && plan.ftz && plan.to != Kind::f16)  // to f16 .ftz does nothing
    source = std::bit_cast<uint32_t>(flush(std::bit_cast<float>(static_cast<uint32_t>(source))));
  if (plan.rounding == Rounding::away) {
    const uint32_t result = away_tf32(static_cast<uint32_t>(source));
    return plan.satfinite && (result & 0x7f800000) == 0x7f800000 ? result - 0x2000 : result;
  }
  if (is_integer(plan.to))
    return extend(float_to_integer(plan, widen(source, plan.from)), plan.to_bits, is_signed(plan.to));
  return float_to_float(plan, widen(source, plan.from));
}

// ---- Registers of 8 and 16, 32 and 64 bits

uint64_t load(Warp& warp, uint32_t offset, int bits, int lane) {
  if (bits <= 16) return warp.reg<uint16_t>(offset)[lane];
  if (bits == 32) return warp.reg<uint32_t>(offset)[lane];
  return warp.reg<uint64_t>(offset)[lane];
}
template <class F>
void store(Warp& warp, uint32_t offset, int bits, F f) {
  if (bits <= 16)
    return warp.write<uint16_t>(offset, [=](int lane) { return static_cast<uint16_t>(f(lane)); });
  if (bits == 32)
    return warp.write<uint32_t>(offset, [=](int lane) { return static_cast<uint32_t>(f(lane)); });
  warp.write<uint64_t>(offset, f);
}

}  // namespace

void any_conversion(Warp& warp, const Inst& inst) {
  const Plan& plan = *static_cast<const Plan*>(inst.data);
  Warp* const w = &warp;
  const uint32_t a = inst.a;
  store(warp, inst.d, plan.to_register,
        [=, &plan](int lane) { return convert(plan, load(*w, a, plan.from_register, lane)); });
}

namespace {

// ---- Packed pairs

uint32_t to_ue8m0(const Plan& plan, float x) {  // powers of two: the exponent; the sign is lost
  const uint32_t bits = std::bit_cast<uint32_t>(x) & 0x7fffffffu;
  uint32_t result = bits >> 23;
  // 2^-127 is subnormal in f32; what is less becomes it in either direction.
  if (plan.rounding == Rounding::up && (bits & 0x7fffff) != 0 && bits > 0x00400000 && bits < 0x7f800000)
    ++result;
  if (plan.satfinite && bits <= 0x7f800000 && result == 0xff) result = 0xfe;
  return result;
}

// One of the two values, from a float that holds it exactly.
uint32_t narrow_one(const Plan& plan, float x) {
  switch (plan.to) {
    case Kind::ue8m0x2:
      return to_ue8m0(plan, x);
    case Kind::f16x2:
    case Kind::bf16x2: {
      Plan one = plan;
      one.from = Kind::f32;
      one.to = plan.to == Kind::f16x2 ? Kind::f16 : Kind::bf16;
      one.to_bits = 16;
      return static_cast<uint32_t>(float_to_float(one, x));
    }
    default:
      break;
  }
  const FloatFormat& format = format_of(plan.to);
  const bool nan_exists = plan.to == Kind::e4m3x2 || plan.to == Kind::e5m2x2;
  if (x != x) return nan_exists ? 0x7f : format.largest;
  const uint32_t result = narrow(x, format, plan.rounding, true);
  return plan.relu && result >> (format.exponent_bits + format.mantissa_bits) ? 0 : result;
}
uint32_t widen_one(const Plan& plan, uint32_t bits) {  // to f16 or bf16
  float x;
  if (plan.from == Kind::ue8m0x2) {
    x = bits == 0xff ? std::bit_cast<float>(0x7fffffffu) : std::ldexp(1.0f, static_cast<int>(bits) - 127);
  } else if (plan.from == Kind::e4m3x2 && (bits & 0x7f) == 0x7f) {
    x = std::bit_cast<float>(0x7fffffffu);
  } else if (plan.from == Kind::e5m2x2) {  // the upper half of an f16
    x = from_f16(static_cast<uint16_t>(bits << 8));
  } else {
    x = widen(bits, format_of(plan.from));
  }
  const uint32_t result = plan.to == Kind::f16x2 ? to_f16(x) : to_bf16(x);
  return plan.relu && result >> 15 ? 0 : result;
}

int field(Kind kind) {
  return kind == Kind::f16x2 || kind == Kind::bf16x2 ? 16 : kind == Kind::e2m1x2 ? 4 : 8;
}

}  // namespace

// The random bits of the value at this place, counted from the upper end, and how many there are. (PTX ISA
// 9.7.9.21, of which the figures were not at hand: both values of a half share its bits.)
struct RandomBits {
  uint32_t bits;
  int count;
};
RandomBits random_bits(Kind to, uint32_t random, int place) {
  const int half = place / 2 == 0 ? 16 : 0;  // of four values
  switch (to) {
    case Kind::f16x2:
      return {random >> (place == 0 ? 16 : 0) & 0x1fff, 13};
    case Kind::bf16x2:
      return {random >> (place == 0 ? 16 : 0) & 0xffff, 16};
    case Kind::e2m1x2:
      return {random >> (half / 2 + (place % 2 == 0 ? 16 : 0)) & 0xff, 8};
    default:
      return {random >> half & 0xffff, 16};
  }
}

void stochastic(Warp& warp, const Inst& inst) {
  const Stochastic& use = *static_cast<const Stochastic*>(inst.data);
  const FloatFormat& format = use.to == Kind::f16x2    ? format_f16
                              : use.to == Kind::bf16x2 ? format_bf16
                                                       : format_of(use.to);
  const uint32_t nan = use.to == Kind::f16x2 || use.to == Kind::bf16x2    ? 0x7fff
                       : use.to == Kind::e4m3x2 || use.to == Kind::e5m2x2 ? 0x7f
                                                                          : format.largest;
  const uint32_t* random = warp.reg<uint32_t>(inst.list[use.count]);
  store(warp, inst.d, use.count * use.field, [&](int lane) {
    uint64_t result = 0;
    for (int place = 0; place < use.count; ++place) {
      const float x = warp.reg<float>(inst.list[place])[lane];
      const RandomBits bits = random_bits(use.to, random[lane], place);
      uint32_t one = x == x ? narrow_stochastic(x, format, bits.bits, bits.count, use.satfinite) : nan;
      if (use.relu && one >> (format.exponent_bits + format.mantissa_bits)) one = 0;
      result = result << use.field | one;
    }
    return result;
  });
}

void pair_of_floats(Warp& warp, const Inst& inst) {  // a to the upper, b to the lower half
  const Plan& plan = *static_cast<const Plan*>(inst.data);
  const float *a = warp.reg<float>(inst.a), *b = warp.reg<float>(inst.b);
  const int width = field(plan.to);
  store(warp, inst.d, plan.to_register, [=, &plan](int lane) {
    return uint64_t{narrow_one(plan, a[lane]) << width | narrow_one(plan, b[lane])};
  });
}

void pair_of_halves(Warp& warp, const Inst& inst) {
  const Plan& plan = *static_cast<const Plan*>(inst.data);
  const uint32_t* a = warp.reg<uint32_t>(inst.a);
  const int width = field(plan.to);
  const auto half = [&plan](uint32_t bits) {
    return plan.from == Kind::f16x2 ? from_f16(static_cast<uint16_t>(bits))
                                    : from_bf16(static_cast<uint16_t>(bits));
  };
  store(warp, inst.d, plan.to_register, [=, &plan](int lane) {
    return uint64_t{narrow_one(plan, half(a[lane] >> 16)) << width | narrow_one(plan, half(a[lane]))};
  });
}

Widening::Widening(const Plan& plan) : field(conversion::field(plan.from)), to_register(plan.to_register) {
  for (uint32_t bits = 0; bits < 1u << field; ++bits)
    values[bits] = static_cast<uint16_t>(widen_one(plan, bits));
}

void pair_to_halves(Warp& warp, const Inst& inst) {
  const Widening& from = *static_cast<const Widening*>(inst.data);
  const uint16_t* a = warp.reg<uint16_t>(inst.a);
  const uint32_t mask = (1u << from.field) - 1;
  store(warp, inst.d, from.to_register, [=, &from](int lane) {
    return uint64_t{from.values[a[lane] >> from.field & mask]} << 16 | from.values[a[lane] & mask];
  });
}

}  // namespace simulator::conversion
