// cvt and cvt.pack. (PTX ISA 9.7.9.21, 9.7.9.22) Decoding chooses a fast handler (convert_fast.h) where there
// is one, else a general one (convert_general.h).

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/lanes.h"
#include "common/simulator/instructions/scalar/convert_fast.h"
#include "common/simulator/instructions/scalar/convert_general.h"
#include "common/simulator/machine/warp.h"
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
      return set_handler(decoder, fast_pair(plan.to));
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
    return set_handler(decoder, fast_copy(plan.from_register, plan.to_register));
  if (const Handler handler = fast_conversion(plan)) return set_handler(decoder, handler);
  inst.data = decoder.keep(plan);
  set_handler(decoder, any_conversion);
}

constexpr Opcode opcodes[] = {{"cvt", decode_cvt}};

}  // namespace

std::span<const Opcode> convert_opcodes() {
  return opcodes;
}

}  // namespace simulator
