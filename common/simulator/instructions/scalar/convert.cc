// cvt and cvt.pack. (PTX ISA 9.7.9.21, 9.7.9.22)
//
// Conversions that kernels use in their inner loops have a handler each; all others go through one, lane by
// lane, by way of a 64-bit integer or of a double, which hold every value exactly.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/lanes.h"
#include "common/simulator/instructions/scalar/conversion.h"
#include "common/simulator/machine/warp.h"
#include "common/simulator/numeric/halves.h"
#include "common/simulator/numeric/rounding.h"

namespace simulator {
namespace {

using namespace conversion;

struct Named {
  std::string_view name;
  Kind kind;
  uint8_t bits;
};
constexpr Named kinds[] = {
    {"u8", Kind::u8, 8},          {"s8", Kind::s8, 8},          {"u16", Kind::u16, 16},
    {"s16", Kind::s16, 16},       {"u32", Kind::u32, 32},       {"s32", Kind::s32, 32},
    {"u64", Kind::u64, 64},       {"s64", Kind::s64, 64},       {"f16", Kind::f16, 16},
    {"bf16", Kind::bf16, 16},     {"f32", Kind::f32, 32},       {"f64", Kind::f64, 64},
    {"tf32", Kind::tf32, 32},     {"f16x2", Kind::f16x2, 32},   {"bf16x2", Kind::bf16x2, 32},
    {"e4m3x2", Kind::e4m3x2, 16}, {"e5m2x2", Kind::e5m2x2, 16}, {"e2m1x2", Kind::e2m1x2, 8},
    {"e2m3x2", Kind::e2m3x2, 16}, {"e3m2x2", Kind::e3m2x2, 16}, {"ue8m0x2", Kind::ue8m0x2, 16},
};
Named kind_of(std::string_view name) {
  for (const Named& named : kinds)
    if (named.name == name) return named;
  return {name, Kind::other, 0};
}
// ---- Fast handlers

// d = a, cut or extended: the bits of Narrow (its signedness tells how to extend) from a register In to a
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
// By arrays, for which halves.h may have a faster way.
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

Handler fast(const Plan& plan) {
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

// ---- cvt.pack.sat.to.s32{.b32}: a and b, clamped, beside each other; above them the lower bits of c.

template <bool with_c>
void pack(Warp& warp, const Inst& inst) {
  const int32_t *a = warp.reg<int32_t>(inst.a), *b = warp.reg<int32_t>(inst.b);
  const uint32_t* c = warp.reg<uint32_t>(with_c ? inst.c : inst.a);
  const int bits = inst.extra & 31;
  const bool sign = inst.extra & 32;
  const int32_t smallest = sign ? -(1 << (bits - 1)) : 0, largest = (1 << (sign ? bits - 1 : bits)) - 1;
  const uint32_t mask = (1u << bits) - 1;
  const auto limited = [=](int32_t x) {
    return static_cast<uint32_t>(x < smallest ? smallest : x > largest ? largest : x) & mask;
  };
  warp.write<uint32_t>(inst.d, [=](int lane) {
    const uint32_t pair = limited(a[lane]) << bits | limited(b[lane]);
    return with_c ? pair | c[lane] << (2 * bits) : pair;
  });
}
void decode_pack(Decoder& decoder) {
  decoder.modifier(0);
  if (!decoder.has("sat")) decoder.unsupported("cvt.pack without .sat");
  const int to = decoder.one_of({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
  if (to < 0 || !decoder.has("s32")) decoder.unsupported("cvt.pack of these types");
  decoder.inst().extra = static_cast<uint16_t>((16 >> (to / 2)) | (to % 2 != 0 ? 32 : 0));
  using ptx::Type;
  if (to < 2) {
    operands(decoder, {Type::b32, Type::s32, Type::s32});
    return set_handler(decoder, pack<false>);
  }
  if (!decoder.has("b32")) decoder.unsupported("cvt.pack of these types");
  operands(decoder, {Type::b32, Type::s32, Type::s32, Type::b32});
  set_handler(decoder, pack<true>);
}

// ---- Decoding cvt

ptx::Type register_type(Kind kind, int bits) {  // for immediates and sinks
  switch (kind) {
    case Kind::f16:
      return ptx::Type::f16;
    case Kind::bf16:
      return ptx::Type::bf16;
    case Kind::f32:
      return ptx::Type::f32;
    case Kind::f64:
      return ptx::Type::f64;
    default:
      return bits == 8    ? ptx::Type::b8
             : bits == 16 ? ptx::Type::b16
             : bits == 32 ? ptx::Type::b32
                          : ptx::Type::b64;
  }
}
uint8_t register_bits(Decoder& decoder, size_t nth, int type_bits) {
  const int bits = decoder.width(decoder.operand(nth), type_bits);
  if (bits < type_bits || bits < 8 || bits > 64)
    decoder.unsupported("a register narrower than the type, or a predicate");
  return static_cast<uint8_t>(bits);
}

void decode_pairs(Decoder& decoder, Plan& plan) {
  const bool from_halves = plan.from == Kind::f16x2 || plan.from == Kind::bf16x2;
  const bool to_halves = plan.to == Kind::f16x2 || plan.to == Kind::bf16x2;
  const bool tiny = plan.to > Kind::bf16x2, scale = plan.to == Kind::ue8m0x2 || plan.from == Kind::ue8m0x2;
  if (!plan.rounded || plan.integral || plan.ftz || plan.sat) decoder.unsupported("these modifiers");
  if (scale && plan.relu) decoder.unsupported(".relu");
  const bool directed = plan.rounding == Rounding::up || plan.rounding == Rounding::down;
  Inst& inst = decoder.inst();
  const auto source = [&](size_t nth, int bits) {
    if (register_bits(decoder, nth, bits) != bits) decoder.unsupported("operand of another width");
    return decoder.src(nth, register_type(Kind::other, bits));
  };
  if (plan.from == Kind::f32 && (to_halves || tiny)) {
    if (plan.to == Kind::ue8m0x2) {
      if (plan.rounding != Rounding::zero && plan.rounding != Rounding::up)
        decoder.unsupported("this rounding");
    } else if (directed || (tiny && (plan.rounding != Rounding::nearest || !plan.satfinite))) {
      decoder.unsupported("this rounding");
    }
    require_operands(decoder, 3);
    for (size_t nth = 1; nth < 3; ++nth)
      if (register_bits(decoder, nth, 32) != 32) decoder.unsupported("operand of another width");
    inst.a = decoder.src(1, ptx::Type::f32);
    inst.b = decoder.src(2, ptx::Type::f32);
    inst.data = decoder.keep(plan);
    if (to_halves && plan.rounding == Rounding::nearest && !plan.relu && !plan.satfinite &&
        plan.to_register == 32)
      return set_handler(decoder, plan.to == Kind::f16x2 ? to_pair<F16> : to_pair<Bf16>);
    return set_handler(decoder, pair_of_floats);
  }
  require_operands(decoder, 2);
  inst.data = decoder.keep(plan);
  if (from_halves && tiny) {
    const bool good =
        plan.to == Kind::ue8m0x2
            ? plan.from == Kind::bf16x2 && (plan.rounding == Rounding::zero || plan.rounding == Rounding::up)
            : plan.rounding == Rounding::nearest && plan.satfinite;
    if (!good) decoder.unsupported("this rounding");
    inst.a = source(1, 32);
    return set_handler(decoder, pair_of_halves);
  }
  if (to_halves && plan.from > Kind::bf16x2) {
    const bool good = (plan.from == Kind::ue8m0x2) == (plan.to == Kind::bf16x2);
    if (!good || plan.rounding != Rounding::nearest || plan.satfinite) decoder.unsupported("these types");
    inst.a = source(1, plan.from_bits);
    inst.data = decoder.keep(Widening(plan));
    return set_handler(decoder, pair_to_halves);
  }
  decoder.unsupported("these types");
}

// cvt.rs{.relu}{.satfinite}.f16x2.f32 d, a, b, rbits and its like; of four values {a, b, e, f}.
void decode_stochastic(Decoder& decoder) {
  struct Form {
    std::string_view name;
    Kind to;
    uint8_t count, field;
  };
  constexpr Form forms[] = {{"f16x2", Kind::f16x2, 2, 16},  {"bf16x2", Kind::bf16x2, 2, 16},
                            {"e4m3x4", Kind::e4m3x2, 4, 8}, {"e5m2x4", Kind::e5m2x2, 4, 8},
                            {"e2m3x4", Kind::e2m3x2, 4, 8}, {"e3m2x4", Kind::e3m2x2, 4, 8},
                            {"e2m1x4", Kind::e2m1x2, 4, 4}};
  const Form* form = nullptr;
  for (const Form& each : forms)
    if (decoder.has(each.name)) form = &each;
  if (form == nullptr || !decoder.has("f32")) decoder.unsupported("these types");
  const Stochastic use{form->to, form->count, form->field, decoder.has("relu"), decoder.has("satfinite")};
  const bool four = use.count == 4;
  if (four && !use.satfinite) decoder.unsupported("without .satfinite");
  require_operands(decoder, four ? 3 : 4);
  const ptx::Operand& values = decoder.operand(1);
  if (four && values.elements.size() != 4) decoder.unsupported("the source is not four values");
  std::vector<uint32_t> list;
  for (size_t i = 0; i < use.count; ++i)
    list.push_back(decoder.src(four ? values.elements[i] : decoder.operand(1 + i), ptx::Type::f32));
  list.push_back(decoder.src(four ? 2 : 3, ptx::Type::b32));
  Inst& inst = decoder.inst();
  inst.list = decoder.list(std::move(list));
  inst.data = decoder.keep(use);
  const int bits = use.count * use.field;
  if (register_bits(decoder, 0, bits) != bits) decoder.unsupported("operand of another width");
  inst.d = decoder.dst(0, register_type(Kind::other, bits));
  decoder.early_clobber();
  set_handler(decoder, stochastic);
}

// Which modifiers go with which types.
void check(Decoder& decoder, const Plan& plan) {
  const bool to_integer = is_integer(plan.to), from_integer = is_integer(plan.from);
  const bool to_tf32 = plan.to == Kind::tf32, narrower = plan.to_bits < plan.from_bits;
  const bool single = plan.to == Kind::f32 || plan.from == Kind::f32;
  if (to_tf32 ? plan.from != Kind::f32 : !(to_integer || is_float(plan.to)))
    decoder.unsupported("these types");
  if (!from_integer && !is_float(plan.from)) decoder.unsupported("these types");
  if (plan.ftz && !single) decoder.unsupported(".ftz without f32");
  if ((plan.relu || plan.satfinite) &&
      !(plan.from == Kind::f32 && (to_tf32 || plan.to == Kind::f16 || plan.to == Kind::bf16)))
    decoder.unsupported(".relu or .satfinite for these types");
  if (plan.rounding == Rounding::away && (!to_tf32 || plan.relu)) decoder.unsupported(".rna");
  if (to_integer && from_integer) {
    if (plan.rounded) decoder.unsupported("rounding of an integer");
    return;
  }
  if (to_integer && !plan.integral) decoder.unsupported("without a rounding modifier");
  if (from_integer && (!plan.rounded || plan.integral)) decoder.unsupported("without a rounding modifier");
  if (!to_integer && !from_integer) {
    if (plan.integral && plan.to != plan.from) decoder.unsupported("this rounding");
    const bool lossy = narrower || to_tf32 || (plan.to != plan.from && plan.to_bits == plan.from_bits);
    if (lossy && !plan.rounded) decoder.unsupported("without a rounding modifier");
  }
}

void decode_cvt(Decoder& decoder) {
  const size_t modifiers = decoder.ptx().modifiers.size();
  if (modifiers < 2) decoder.unsupported("without types");
  if (decoder.ptx().modifiers[0] == "pack") return decode_pack(decoder);
  if (decoder.has("rs")) return decode_stochastic(decoder);
  const Named to = kind_of(decoder.modifier(modifiers - 2)), from = kind_of(decoder.modifier(modifiers - 1));
  if (to.kind == Kind::other || from.kind == Kind::other) decoder.unsupported("these types");
  Plan plan{};
  plan.to = to.kind;
  plan.from = from.kind;
  plan.to_bits = to.bits;
  plan.from_bits = from.bits;
  const int integral = decoder.one_of({"rni", "rzi", "rmi", "rpi"});
  const int rounding = decoder.one_of({"rn", "rz", "rm", "rp", "rna"});
  plan.integral = integral >= 0;
  plan.rounded = integral >= 0 || rounding >= 0;
  if (integral >= 0 && rounding >= 0) decoder.unsupported("two rounding modifiers");
  if (plan.rounded) plan.rounding = static_cast<Rounding>(plan.integral ? integral : rounding);
  plan.ftz = decoder.has("ftz");
  plan.sat = decoder.has("sat");
  plan.relu = decoder.has("relu");
  plan.satfinite = decoder.has("satfinite");
  plan.to_register = register_bits(decoder, 0, plan.to_bits);
  Inst& inst = decoder.inst();
  inst.d = decoder.dst(0, register_type(plan.to, plan.to_bits));
  // Registers of different widths never share their storage; those of 8 bits are as wide as those of 16.
  if (plan.to > Kind::tf32 || plan.from > Kind::tf32) return decode_pairs(decoder, plan);
  check(decoder, plan);
  require_operands(decoder, 2);
  plan.from_register = register_bits(decoder, 1, plan.from_bits);
  inst.a = decoder.src(1, register_type(plan.from, plan.from_bits));
  // A conversion of a type to itself, unmodified, is a copy.
  if (plan.to == plan.from && is_float(plan.to) && !plan.rounded && !plan.sat && !plan.ftz &&
      plan.to != Kind::f16 && plan.to_register == plan.from_register && plan.to_register == plan.to_bits)
    return set_handler(decoder, resize_from<uint64_t>(plan.from_register, plan.to_register));
  if (const Handler handler = fast(plan)) return set_handler(decoder, handler);
  inst.data = decoder.keep(plan);
  set_handler(decoder, any_conversion);
}

constexpr Opcode opcodes[] = {{"cvt", decode_cvt}};

}  // namespace

std::span<const Opcode> convert_opcodes() {
  return opcodes;
}

}  // namespace simulator
