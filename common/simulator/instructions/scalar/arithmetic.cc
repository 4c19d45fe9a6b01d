// Integer arithmetic: PTX ISA 9.0, section 9.7.1. Instructions with a carry are in extended.cc, several
// numbers in one register in packed.cc; the same opcodes on floating types go on to floating.cc and half.cc.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/lanes.h"
#include "common/simulator/instructions/scalar/integer.h"
#include "common/simulator/instructions/scalar/opcodes.h"
#include "common/simulator/machine/warp.h"

namespace simulator {
namespace {

using ptx::Type;

// ---- What one lane does.

template <class T>
T saturate_s32(T wide) {
  return std::clamp<T>(wide, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
}

struct AddSaturated {
  static int32_t apply(int32_t a, int32_t b) {
    return static_cast<int32_t>(saturate_s32(static_cast<int64_t>(a) + b));
  }
};
struct SubSaturated {
  static int32_t apply(int32_t a, int32_t b) {
    return static_cast<int32_t>(saturate_s32(static_cast<int64_t>(a) - b));
  }
};
template <class Mul>
struct MulAdd {
  template <class T, class C>
  static C apply(T a, T b, C c) {
    return Add::apply(static_cast<C>(Mul::apply(a, b)), c);
  }
};
struct MulHighAddSaturated {
  static int32_t apply(int32_t a, int32_t b, int32_t c) {
    return AddSaturated::apply(MulHigh::apply(a, b), c);
  }
};

// The low 24 bits of a and b: high is bits 47..16 of the product, low bits 31..0.
template <bool high>
struct Mul24 {
  template <class T>
  static T apply(T a, T b) {
    const Twice<T> product = cut(a) * cut(b);
    return static_cast<T>(high ? product >> 16 : product);
  }
  template <class T>
  static Twice<T> cut(T a) {
    return static_cast<T>(static_cast<uint32_t>(a) << 8) >> 8;
  }
};
struct Mul24HighAddSaturated {
  static int32_t apply(int32_t a, int32_t b, int32_t c) {
    return AddSaturated::apply(Mul24<true>::apply(a, b), c);
  }
};

struct Sad {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(c, a < b ? Sub::apply(b, a) : Sub::apply(a, b));
  }
};
struct Negate {
  template <class T>
  static T apply(T a) {
    return Sub::apply(T{0}, a);
  }
};
struct Abs {  // of the least integer: itself
  template <class T>
  static T apply(T a) {
    return a < 0 ? Negate::apply(a) : a;
  }
};
template <bool relu>
struct Min {
  template <class T>
  static T apply(T a, T b) {
    return relu ? std::max(T{0}, std::min(a, b)) : std::min(a, b);
  }
};
template <bool relu>
struct Max {
  template <class T>
  static T apply(T a, T b) {
    return relu ? std::max(T{0}, std::max(a, b)) : std::max(a, b);
  }
};

// Quotient (rounded towards zero) and remainder (of the dividend's sign). PTX leaves division by zero open;
// the code that ptxas makes for sm_90 gives all ones, for quotient and remainder, signed and unsigned. The
// least integer by -1 wraps.
template <bool remainder>
struct Divide {
  template <class T>
  static T apply(T a, T b) {
    using Unsigned = Wrapping<T>;
    const bool negative_a = a < T{0}, negative_b = b < T{0};
    const Unsigned dividend = negative_a ? Unsigned{0} - Unsigned(a) : Unsigned(a);
    const Unsigned divisor = negative_b ? Unsigned{0} - Unsigned(b) : Unsigned(b);
    const Unsigned safe = divisor == 0 ? 1 : divisor;
    const Unsigned magnitude = remainder ? dividend % safe : dividend / safe;
    const bool negative = remainder ? negative_a : negative_a != negative_b;
    const Unsigned signed_result = negative ? Unsigned{0} - magnitude : magnitude;
    return static_cast<T>(divisor == 0 ? ~Unsigned{0} : signed_result);
  }
};

// Op on both 16-bit halves of a 32-bit register.
template <class Op, class Half>
struct Packed {
  static uint32_t apply(uint32_t a, uint32_t b) {
    const auto low =
        static_cast<uint16_t>(Op::apply(static_cast<Half>(a & 0xffffu), static_cast<Half>(b & 0xffffu)));
    const auto high =
        static_cast<uint16_t>(Op::apply(static_cast<Half>(a >> 16), static_cast<Half>(b >> 16)));
    return static_cast<uint32_t>(high) << 16 | low;
  }
};

// ---- Decoding.

// Floating types are decoded in other files: true where one of them has taken the instruction.
bool sent_to_floating(Decoder& decoder) {
  switch (decoder.type()) {
    case Type::f32:
    case Type::f32x2:
    case Type::f64:
      floating_arithmetic(decoder);
      return true;
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
      half_arithmetic(decoder);
      return true;
    default:
      return false;
  }
}
void only_floating(Decoder& decoder) {
  if (!sent_to_floating(decoder)) decoder.unsupported("not for this type");
}

Type twice(Type type) {
  switch (type) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    case Type::s32:
      return Type::s64;
    default:
      return Type::none;
  }
}
bool is_unsigned(Type type) {
  return type == Type::u16 || type == Type::u32 || type == Type::u64;
}

template <class Op>
Handler binary_handler(Type type) {
  return for_signed_or_unsigned(type, []<class T>() -> Handler { return binary<Op, T>; });
}

// d, a, b of one type: u16x2 and s16x2 (which need not be ptx::Types) or a scalar.
template <class Op>
void packed_or_scalar(Decoder& decoder) {
  const int packed = decoder.one_of({"u16x2", "s16x2"});
  const Type type = packed < 0 ? decoder.type() : Type::b32;
  operands(decoder, {type, type, type});
  set_handler(decoder, packed == 0   ? binary<Packed<Op, uint16_t>, uint32_t>
                       : packed == 1 ? binary<Packed<Op, int16_t>, uint32_t>
                                     : binary_handler<Op>(type));
}

template <class Op, class Saturated, Decode carrying>
void decode_add(Decoder& decoder) {
  if (sent_to_floating(decoder)) return;
  if (decoder.has("cc")) return carrying(decoder);
  if (decoder.has("sat")) {
    if (decoder.type() != Type::s32) decoder.unsupported(".sat on another type than .s32");
    operands(decoder, {Type::s32, Type::s32, Type::s32});
    return set_handler(decoder, binary<Saturated, int32_t>);
  }
  packed_or_scalar<Op>(decoder);
}
// For u16, s16, u32, s32: make gives the handler for such an operand.
template <class Make>
Handler for_widened(Type type, Make make) {
  switch (type) {
    case Type::u16:
      return make.template operator()<uint16_t>();
    case Type::s16:
      return make.template operator()<int16_t>();
    case Type::u32:
      return make.template operator()<uint32_t>();
    case Type::s32:
      return make.template operator()<int32_t>();
    default:
      return nullptr;
  }
}

void decode_mul(Decoder& decoder) {
  if (sent_to_floating(decoder)) return;
  const Type type = decoder.type();
  const Part part = part_of_product(decoder);
  operands(decoder, {part == Part::wide ? twice(type) : type, type, type});
  switch (part) {
    case Part::low:
      return set_handler(decoder, binary_handler<MulLow>(type));
    case Part::high:
      return set_handler(decoder, binary_handler<MulHigh>(type));
    case Part::wide:
      return set_handler(
          decoder, for_widened(type, []<class T>() -> Handler { return binary<MulWide, Twice<T>, T>; }));
  }
}

template <class Op>
Handler ternary_handler(Type type) {
  return for_signed_or_unsigned(type, []<class T>() -> Handler { return ternary<Op, T>; });
}

void decode_mad(Decoder& decoder) {
  if (sent_to_floating(decoder)) return;
  if (decoder.has("cc")) return decode_mad_cc(decoder);
  const Type type = decoder.type();
  const Part part = part_of_product(decoder);
  const Type result = part == Part::wide ? twice(type) : type;
  operands(decoder, {result, type, type, result});
  if (decoder.has("sat")) {
    if (type != Type::s32 || part != Part::high) decoder.unsupported(".sat outside .hi.s32");
    return set_handler(decoder, ternary<MulHighAddSaturated, int32_t>);
  }
  switch (part) {
    case Part::low:
      return set_handler(decoder, ternary_handler<MulAdd<MulLow>>(type));
    case Part::high:
      return set_handler(decoder, ternary_handler<MulAdd<MulHigh>>(type));
    case Part::wide:
      return set_handler(decoder, for_widened(type, []<class T>() -> Handler {
                           return ternary<MulAdd<MulWide>, Twice<T>, T>;
                         }));
  }
}

// u32 and s32 alone.
template <class Make>
Handler for_word(Type type, Make make) {
  if (type == Type::u32) return make.template operator()<uint32_t>();
  return type == Type::s32 ? make.template operator()<int32_t>() : nullptr;
}

void decode_mul24(Decoder& decoder) {
  const Type type = decoder.type();
  const Part part = part_of_product(decoder);
  if (part == Part::wide) decoder.unsupported("mul24.wide");
  operands(decoder, {type, type, type});
  set_handler(decoder, for_word(type, [=]<class T>() -> Handler {
                return part == Part::high ? binary<Mul24<true>, T> : binary<Mul24<false>, T>;
              }));
}
void decode_mad24(Decoder& decoder) {
  const Type type = decoder.type();
  const Part part = part_of_product(decoder);
  if (part == Part::wide) decoder.unsupported("mad24.wide");
  operands(decoder, {type, type, type, type});
  if (decoder.has("sat")) {
    if (type != Type::s32 || part != Part::high) decoder.unsupported(".sat outside .hi.s32");
    return set_handler(decoder, ternary<Mul24HighAddSaturated, int32_t>);
  }
  set_handler(decoder, for_word(type, [=]<class T>() -> Handler {
                return part == Part::high ? ternary<MulAdd<Mul24<true>>, T>
                                          : ternary<MulAdd<Mul24<false>>, T>;
              }));
}

template <bool remainder>
void decode_div(Decoder& decoder) {
  if (sent_to_floating(decoder)) return;
  const Type type = decoder.type();
  operands(decoder, {type, type, type});
  set_handler(decoder, binary_handler<Divide<remainder>>(type));
}

template <class Op>
void decode_signed_unary(Decoder& decoder) {
  if (sent_to_floating(decoder)) return;
  const Type type = decoder.type();
  if (is_unsigned(type)) decoder.unsupported("not for this type");
  operands(decoder, {type, type});
  set_handler(decoder, for_signed_or_unsigned(type, []<class T>() -> Handler { return unary<Op, T>; }));
}

template <template <bool> class Op>
void decode_min_max(Decoder& decoder) {
  if (sent_to_floating(decoder)) return;
  if (!decoder.has("relu")) return packed_or_scalar<Op<false>>(decoder);
  const bool packed = decoder.has("s16x2");
  if (!packed && decoder.type() != Type::s32)
    decoder.unsupported(".relu on another type than .s32 and .s16x2");
  operands(decoder, {Type::b32, Type::b32, Type::b32});
  set_handler(decoder,
              packed ? binary<Packed<Op<true>, int16_t>, uint32_t> : Handler{binary<Op<true>, int32_t>});
}

void decode_sad(Decoder& decoder) {
  const Type type = decoder.type();
  operands(decoder, {type, type, type, type});
  set_handler(decoder, ternary_handler<Sad>(type));
}

constexpr Opcode opcodes[] = {
    {"add", decode_add<Add, AddSaturated, decode_add_cc>},
    {"sub", decode_add<Sub, SubSaturated, decode_sub_cc>},
    {"addc", decode_addc},
    {"subc", decode_subc},
    {"mul", decode_mul},
    {"mad", decode_mad},
    {"madc", decode_madc},
    {"mul24", decode_mul24},
    {"mad24", decode_mad24},
    {"div", decode_div<false>},
    {"rem", decode_div<true>},
    {"abs", decode_signed_unary<Abs>},
    {"neg", decode_signed_unary<Negate>},
    {"min", decode_min_max<Min>},
    {"max", decode_min_max<Max>},
    {"sad", decode_sad},
    {"dp4a", decode_dp4a},
    {"dp2a", decode_dp2a},
    {"vadd2", decode_simd_video},
    {"vsub2", decode_simd_video},
    {"vavrg2", decode_simd_video},
    {"vabsdiff2", decode_simd_video},
    {"vmin2", decode_simd_video},
    {"vmax2", decode_simd_video},
    {"vset2", decode_simd_video},
    {"vadd4", decode_simd_video},
    {"vsub4", decode_simd_video},
    {"vavrg4", decode_simd_video},
    {"vabsdiff4", decode_simd_video},
    {"vmin4", decode_simd_video},
    {"vmax4", decode_simd_video},
    {"vset4", decode_simd_video},
    {"fma", only_floating},
    {"copysign", only_floating},
};

}  // namespace

Part part_of_product(Decoder& decoder) {
  const int part = decoder.one_of({"lo", "hi", "wide"});
  if (part < 0) decoder.unsupported("neither .lo, .hi nor .wide");
  return static_cast<Part>(part);
}

std::span<const Opcode> arithmetic_opcodes() {
  return opcodes;
}

}  // namespace simulator
