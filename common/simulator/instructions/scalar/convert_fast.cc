#include "common/simulator/instructions/scalar/convert_fast.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/simulator/decode/lanes.h"
#include "common/simulator/machine/warp.h"
#include "common/simulator/numeric/halves.h"
#include "common/simulator/numeric/rounding.h"

namespace simulator::conversion {
namespace {

// d = a, cut or extended: the bits of Narrow (its signedness says how to extend) from a register In to a
// register Out.
template <class Narrow>
struct Resize {
  template <class In>
  static auto apply(In a) {
    return static_cast<Narrow>(a);
  }
};
template <class Narrow, class In>
Handler resize_to(int to) {
  return for_bits(to <= 16 ? 16 : to, []<class Out>() -> Handler { return unary<Resize<Narrow>, Out, In>; });
}
template <class Narrow>
Handler resize_from(int from, int to) {
  if (from <= 16) return resize_to<Narrow, uint16_t>(to);
  return from == 32 ? resize_to<Narrow, uint32_t>(to) : resize_to<Narrow, uint64_t>(to);
}
Handler resize(const Plan& plan) {
  // Narrowing, or widening to just the register: one extension does. (From s8 to u16 in a 32-bit register
  // takes two.)
  const bool narrowing = plan.to_bits <= plan.from_bits;
  if (!narrowing && plan.to_register > plan.to_bits && is_signed(plan.from) != is_signed(plan.to))
    return nullptr;
  const int from = plan.from_register, to = plan.to_register;
  const bool sign = is_signed(narrowing ? plan.to : plan.from);
  switch (narrowing ? plan.to_bits : plan.from_bits) {
    case 8:
      return sign ? resize_from<int8_t>(from, to) : resize_from<uint8_t>(from, to);
    case 16:
      return sign ? resize_from<int16_t>(from, to) : resize_from<uint16_t>(from, to);
    case 32:
      return sign ? resize_from<int32_t>(from, to) : resize_from<uint32_t>(from, to);
    default:
      return resize_from<uint64_t>(from, to);
  }
}

template <class To>
struct Cast {
  template <class From>
  static To apply(From a) {
    return static_cast<To>(a);
  }
};
template <class To>
Handler from_integer(Kind from) {
  switch (from) {
    case Kind::u16:
      return unary<Cast<To>, To, uint16_t>;
    case Kind::s16:
      return unary<Cast<To>, To, int16_t>;
    case Kind::u32:
      return unary<Cast<To>, To, uint32_t>;
    case Kind::s32:
      return unary<Cast<To>, To, int32_t>;
    case Kind::u64:
      return unary<Cast<To>, To, uint64_t>;
    case Kind::s64:
      return unary<Cast<To>, To, int64_t>;
    default:
      return nullptr;
  }
}

template <Rounding rounding>
float round_float(float x) {
  if constexpr (rounding == Rounding::zero) return std::trunc(x);
  if constexpr (rounding == Rounding::down) return std::floor(x);
  if constexpr (rounding == Rounding::up) return std::ceil(x);
  return std::rint(x);
}
template <class To, Rounding rounding>
struct ToInteger {  // f32 to s32 or u32, which clamps; NaN → 0
  static To apply(float a) {
    constexpr float end = std::is_signed_v<To> ? 0x1p31f : 0x1p32f,
                    begin = std::is_signed_v<To> ? -0x1p31f : 0.0f;
    float x = round_float<rounding>(a);
    x = x > begin ? x : begin;
    const bool too_large = x >= end;
    x = too_large ? 0.0f : x;
    const To d = static_cast<To>(x);
    return a == a ? (too_large ? std::numeric_limits<To>::max() : d) : To{0};
  }
};
template <Rounding rounding>
struct Integral {
  static float apply(float a) { return canonical(round_float<rounding>(a)); }
};
template <template <Rounding> class Op, class To>
Handler by_rounding(Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest:
      return unary<Op<Rounding::nearest>, To, float>;
    case Rounding::zero:
      return unary<Op<Rounding::zero>, To, float>;
    case Rounding::down:
      return unary<Op<Rounding::down>, To, float>;
    default:
      return unary<Op<Rounding::up>, To, float>;
  }
}
template <Rounding rounding>
using ToS32 = ToInteger<int32_t, rounding>;
template <Rounding rounding>
using ToU32 = ToInteger<uint32_t, rounding>;

struct Saturate {
  static float apply(float a) { return saturate(a); }
};
struct FromBf16 {
  static uint32_t apply(uint16_t a) { return static_cast<uint32_t>(a) << 16; }
};
struct ToBf16 {
  static uint16_t apply(float a) { return to_bf16(a); }
};
struct ToTf32Away {
  static uint32_t apply(uint32_t a) { return away_tf32(a); }
};
// Through arrays: halves.h converts a whole one with the CPU's own instruction, where it has one.
void f16_to_f32(Warp& warp, const Inst& inst) {
  float x[warp_size];
  widen_f16(warp.reg<uint16_t>(inst.a), x, warp_size);
  warp.write<float>(inst.d, [&x](int lane) { return canonical(x[lane]); });
}
void f32_to_f16(Warp& warp, const Inst& inst) {
  uint16_t x[warp_size];
  narrow_f16(warp.reg<float>(inst.a), x, warp_size);
  warp.write<uint16_t>(inst.d, [&x](int lane) { return x[lane]; });
}
template <class Half>
void to_pair(Warp& warp, const Inst& inst) {  // a to the upper half
  uint16_t a[warp_size], b[warp_size];
  Half::narrow(warp.reg<float>(inst.a), a, warp_size);
  Half::narrow(warp.reg<float>(inst.b), b, warp_size);
  warp.write<uint32_t>(inst.d, [&](int lane) { return static_cast<uint32_t>(a[lane]) << 16 | b[lane]; });
}

}  // namespace

Handler fast_conversion(const Plan& plan) {
  if (is_integer(plan.to) && is_integer(plan.from)) return plan.sat ? nullptr : resize(plan);
  const bool other = plan.ftz || plan.relu || plan.satfinite;
  if (plan.to_register != plan.to_bits || plan.from_register != plan.from_bits || other) return nullptr;
  const bool nearest = plan.rounding == Rounding::nearest;
  if (plan.sat)
    return plan.to == Kind::f32 && plan.from == Kind::f32 && !plan.integral ? unary<Saturate, float>
                                                                            : nullptr;
  if (is_integer(plan.from) && nearest && plan.to == Kind::f32) return from_integer<float>(plan.from);
  if (is_integer(plan.from) && nearest && plan.to == Kind::f64) return from_integer<double>(plan.from);
  if (plan.from == Kind::f32 && plan.to == Kind::s32) return by_rounding<ToS32, int32_t>(plan.rounding);
  if (plan.from == Kind::f32 && plan.to == Kind::u32) return by_rounding<ToU32, uint32_t>(plan.rounding);
  if (plan.from == Kind::f32 && plan.to == Kind::f32 && plan.integral)
    return by_rounding<Integral, float>(plan.rounding);
  if (plan.from == Kind::f16 && plan.to == Kind::f32) return f16_to_f32;
  if (plan.from == Kind::bf16 && plan.to == Kind::f32) return unary<FromBf16, uint32_t, uint16_t>;
  if (plan.from == Kind::f32 && plan.to == Kind::f64) return unary<Cast<double>, double, float>;
  if (plan.rounding == Rounding::away) return unary<ToTf32Away, uint32_t>;
  if (!nearest) return nullptr;
  if (plan.from == Kind::f32 && plan.to == Kind::f16) return f32_to_f16;
  if (plan.from == Kind::f32 && plan.to == Kind::bf16) return unary<ToBf16, uint16_t, float>;
  if (plan.from == Kind::f64 && plan.to == Kind::f32) return unary<Cast<float>, float, double>;
  return nullptr;
}

Handler fast_pair(Kind to) {
  return to == Kind::f16x2 ? to_pair<F16> : to_pair<Bf16>;
}

Handler fast_copy(int from, int to) {
  return resize_from<uint64_t>(from, to);
}

}  // namespace simulator::conversion
