// Bits: PTX ISA 9.0, sections 9.7.1.14 to 9.7.1.22 (counting, fields, masks), 9.7.8 (logic and
// shifts), 9.7.9.7 (prmt).
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/lanes.h"
#include "common/simulator/instructions/scalar/untyped.h"
#include "common/simulator/machine/warp.h"

namespace simulator {
namespace {

using ptx::Type;

template <class T>
constexpr uint32_t bits_of = std::numeric_limits<std::make_unsigned_t<T>>::digits;

// ---- Logic.

struct And {
  template <class T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return a ^ b;
  }
};
struct Not {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
struct LogicalNot {
  template <class T>
  static T apply(T a) {
    return a == 0;
  }
};

// Predicates: 32 lanes are one word.
template <class Op>
void binary_predicate(Warp& warp, const Inst& inst) {
  warp.set_pred(inst.d, Op::apply(warp.pred(inst.a), warp.pred(inst.b)));
}
template <class Op>
void unary_predicate(Warp& warp, const Inst& inst) {
  warp.set_pred(inst.d, Op::apply(warp.pred(inst.a)));
}

template <class Op>
void decode_logic(Decoder& decoder) {
  if (decoder.type() == Type::pred) {
    operands(decoder, {Type::pred, Type::pred, Type::pred});
    return set_handler(decoder, binary_predicate<Op>);
  }
  const Type type = untyped(decoder);
  operands(decoder, {type, type, type});
  set_handler(decoder, for_bits(ptx::bits(type), []<class T>() -> Handler { return binary<Op, T>; }));
}
void decode_not(Decoder& decoder) {
  if (decoder.type() == Type::pred) {
    operands(decoder, {Type::pred, Type::pred});
    return set_handler(decoder, unary_predicate<Not>);
  }
  const Type type = untyped(decoder);
  operands(decoder, {type, type});
  set_handler(decoder, for_bits(ptx::bits(type), []<class T>() -> Handler { return unary<Not, T>; }));
}
void decode_cnot(Decoder& decoder) {
  const Type type = untyped(decoder);
  operands(decoder, {type, type});
  set_handler(decoder, for_bits(ptx::bits(type), []<class T>() -> Handler { return unary<LogicalNot, T>; }));
}

// lop3: inst.extra is the table: bit 4a + 2b + c is the result for the bits a, b, c. The table's bits become
// words of all zeroes or all ones, between which a, b and c select.
struct LookUp {
  explicit LookUp(uint32_t table) {
    for (uint32_t bit = 0; bit < 8; bit += 2) {
      without_c[bit / 2] = 0u - (table >> bit & 1);
      with_c[bit / 2] = without_c[bit / 2] ^ (0u - (table >> bit >> 1 & 1));
    }
  }
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const auto by_c = [&](int pair) { return without_c[pair] ^ (c & with_c[pair]); };
    const uint32_t low = by_c(0) ^ (b & (by_c(1) ^ by_c(0)));
    const uint32_t high = by_c(2) ^ (b & (by_c(3) ^ by_c(2)));
    return low ^ (a & (high ^ low));
  }
  uint32_t without_c[4], with_c[4];  // with_c: what changes where c is set
};
void lop3(Warp& warp, const Inst& inst) {
  const uint32_t* a = warp.reg<uint32_t>(inst.a);
  const uint32_t* b = warp.reg<uint32_t>(inst.b);
  const uint32_t* c = warp.reg<uint32_t>(inst.c);
  const LookUp f(inst.extra);
  warp.write<uint32_t>(inst.d, [=](int lane) { return f(a[lane], b[lane], c[lane]); });
}
// p = (d != 0) BoolOp q. list: p, q.
template <class BoolOp, bool negated>
void lop3_predicate(Warp& warp, const Inst& inst) {
  const uint32_t* a = warp.reg<uint32_t>(inst.a);
  const uint32_t* b = warp.reg<uint32_t>(inst.b);
  const uint32_t* c = warp.reg<uint32_t>(inst.c);
  const LookUp f(inst.extra);
  const uint32_t nonzero = Warp::ballot([=](int lane) { return f(a[lane], b[lane], c[lane]) != 0; });
  const uint32_t q = warp.pred(inst.list[1]);
  lop3(warp, inst);
  warp.set_pred(inst.list[0], BoolOp::apply(nonzero, negated ? ~q : q));
}
void decode_lop3(Decoder& decoder) {
  if (decoder.type() != Type::b32) decoder.unsupported("not for this type");
  const int boolean = decoder.one_of({"or", "and"});
  require_operands(decoder, boolean < 0 ? 5 : 6);
  Inst& inst = decoder.inst();
  inst.a = source(decoder, 1, Type::b32);
  inst.b = source(decoder, 2, Type::b32);
  inst.c = source(decoder, 3, Type::b32);
  const ptx::Operand& table = decoder.operand(4);
  if (table.kind != ptx::Operand::Kind::immediate || table.value < 0 || table.value > 255)
    decoder.unsupported("a look-up table that is no constant from 0 to 255");
  inst.extra = static_cast<uint16_t>(table.value);
  if (boolean < 0) {
    inst.d = destination(decoder, 0, Type::b32);
    return set_handler(decoder, lop3);
  }
  const ptx::Operand& pair = decoder.operand(0);
  if (pair.kind != ptx::Operand::Kind::pair || pair.elements.size() != 2)
    decoder.unsupported("not of the form d|p");
  require_width(decoder, pair.elements[0], Type::b32);
  require_width(decoder, pair.elements[1], Type::pred);
  require_width(decoder, decoder.operand(5), Type::pred);
  bool negated = false;
  const uint32_t q = decoder.predicate(decoder.operand(5), negated);
  inst.d = decoder.dst(pair.elements[0], Type::b32);
  const uint32_t p = decoder.dst(pair.elements[1], Type::pred);
  inst.list = decoder.list({p, q});
  constexpr Handler handlers[2][2] = {{lop3_predicate<Or, false>, lop3_predicate<Or, true>},
                                      {lop3_predicate<And, false>, lop3_predicate<And, true>}};
  set_handler(decoder, handlers[boolean][negated]);
}

// ---- Shifts. An amount beyond the width shifts everything out.

struct ShiftLeft {
  template <class T>
  static T apply(T a, uint32_t amount) {
    return amount < bits_of<T> ? static_cast<T>(Wrapping<T>(a) << (amount % bits_of<T>)) : T{0};
  }
};
struct ShiftRight {
  template <class T>
  static T apply(T a, uint32_t amount) {
    if constexpr (sizeof(T) == 8 && std::is_signed_v<T>) {
      // AVX2 has no arithmetic shift of 64 bits: a logical one of a or of ~a, whichever is not negative.
      const uint64_t sign = a < 0 ? ~uint64_t{0} : 0;
      const uint64_t magnitude = static_cast<uint64_t>(a) ^ sign;
      return static_cast<T>(ShiftRight::apply(magnitude, amount) ^ sign);
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(a >> std::min(amount, bits_of<T> - 1));
    } else {
      return amount < bits_of<T> ? static_cast<T>(a >> (amount % bits_of<T>)) : T{0};
    }
  }
};
// shf: 32 bits out of b:a. The second shift goes in two steps because the amount may be 0.
template <bool clamp>
struct FunnelLeft {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t amount) {
    const uint32_t n = amount % 32;
    const uint32_t shifted = b << n | a >> 1 >> (31 - n);
    return clamp && amount >= 32 ? a : shifted;
  }
};
template <bool clamp>
struct FunnelRight {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t amount) {
    const uint32_t n = amount % 32;
    const uint32_t shifted = a >> n | b << 1 << (31 - n);
    return clamp && amount >= 32 ? b : shifted;
  }
};

void decode_shl(Decoder& decoder) {
  const Type type = untyped(decoder);
  operands(decoder, {type, type, Type::u32});
  set_handler(decoder, for_bits(ptx::bits(type),
                                []<class T>() -> Handler { return binary<ShiftLeft, T, T, uint32_t>; }));
}
void decode_shr(Decoder& decoder) {
  const Type type = decoder.type();
  operands(decoder, {type, type, Type::u32});
  const auto make = []<class T>() -> Handler { return binary<ShiftRight, T, T, uint32_t>; };
  set_handler(decoder,
              is_untyped(type) ? for_bits(ptx::bits(type), make) : for_signed_or_unsigned(type, make));
}
void decode_shf(Decoder& decoder) {
  if (decoder.type() != Type::b32) decoder.unsupported("not for this type");
  const int direction = decoder.one_of({"l", "r"});
  const int mode = decoder.one_of({"wrap", "clamp"});
  if (direction < 0 || mode < 0) decoder.unsupported("no direction or no mode");
  operands(decoder, {Type::b32, Type::b32, Type::b32, Type::u32});
  constexpr Handler handlers[2][2] = {
      {ternary<FunnelLeft<false>, uint32_t>, ternary<FunnelLeft<true>, uint32_t>},
      {ternary<FunnelRight<false>, uint32_t>, ternary<FunnelRight<true>, uint32_t>}};
  set_handler(decoder, handlers[direction][mode]);
}

// ---- Fields and masks.

// `count` ones from bit 0.
template <class T>
T ones(uint32_t count) {
  return static_cast<T>(~ShiftLeft::apply(static_cast<T>(~T{0}), count));
}

struct ExtractField {
  template <class T>
  static T apply(T a, uint32_t b, uint32_t c) {
    const uint32_t position = b & 0xff, length = c & 0xff;
    if constexpr (std::is_signed_v<T>) {
      // The field's top bit (or a's, where the field ends beyond it) goes to the sign bit, and back.
      const uint32_t above = bits_of<T> - std::min(position + length, bits_of<T>);
      const auto at_top = static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << (above % bits_of<T>));
      return length == 0 ? T{0} : ShiftRight::apply(at_top, above + position);
    } else {
      return ShiftRight::apply(a, position) & ones<T>(length);
    }
  }
};
void decode_bfe(Decoder& decoder) {
  const Type type = decoder.type();
  if (ptx::bits(type) < 32) decoder.unsupported("not for this type");
  operands(decoder, {type, type, Type::u32, Type::u32});
  set_handler(decoder, for_signed_or_unsigned(type, []<class T>() -> Handler {
                return ternary<ExtractField, T, T, uint32_t, uint32_t>;
              }));
}

// bfi f, a, b, c, d: a's low bits into b. The offset of the length is inst.imm.
template <class T>
void insert_field(Warp& warp, const Inst& inst) {
  const T* a = warp.reg<T>(inst.a);
  const T* b = warp.reg<T>(inst.b);
  const uint32_t* position = warp.reg<uint32_t>(inst.c);
  const uint32_t* length = warp.reg<uint32_t>(static_cast<uint32_t>(inst.imm));
  warp.write<T>(inst.d, [=](int lane) {
    const uint32_t low = position[lane] & 0xff;
    const T mask = ShiftLeft::apply(ones<T>(length[lane] & 0xff), low);
    return static_cast<T>((b[lane] & ~mask) | (ShiftLeft::apply(a[lane], low) & mask));
  });
}
void decode_bfi(Decoder& decoder) {
  const Type type = untyped(decoder);
  if (type == Type::b16) decoder.unsupported("not for this type");
  require_operands(decoder, 5);
  Inst& inst = decoder.inst();
  inst.a = source(decoder, 1, type);
  inst.b = source(decoder, 2, type);
  inst.c = source(decoder, 3, Type::u32);
  inst.imm = source(decoder, 4, Type::u32);
  inst.d = destination(decoder, 0, type);
  set_handler(decoder, type == Type::b32 ? insert_field<uint32_t> : insert_field<uint64_t>);
}

template <bool clamp>
struct Mask {  // bmsk: b ones from bit a
  static uint32_t apply(uint32_t a, uint32_t b) {
    const uint32_t count = clamp ? b : b % 32;
    return ShiftLeft::apply(ones<uint32_t>(count), clamp ? a : a % 32);
  }
};
template <bool clamp>
struct Extend {  // szext: the low b bits of a, zero- or sign-extended
  template <class T>
  static T apply(T a, uint32_t b) {
    const uint32_t width = clamp ? std::min(b, 32u) : b % 32;
    return ExtractField::apply(a, 0, width);
  }
};
template <template <bool> class Op, class T>
void decode_clamped(Decoder& decoder, Type type) {
  const int mode = decoder.one_of({"wrap", "clamp"});
  if (mode < 0) decoder.unsupported("neither .wrap nor .clamp");
  operands(decoder, {type, type, Type::u32});
  set_handler(decoder, mode == 0 ? binary<Op<false>, T, T, uint32_t> : binary<Op<true>, T, T, uint32_t>);
}
void decode_bmsk(Decoder& decoder) {
  if (decoder.type() != Type::b32) decoder.unsupported("not for this type");
  decode_clamped<Mask, uint32_t>(decoder, Type::b32);
}
void decode_szext(Decoder& decoder) {
  const Type type = decoder.type();
  if (type == Type::u32) return decode_clamped<Extend, uint32_t>(decoder, type);
  if (type != Type::s32) decoder.unsupported("not for this type");
  decode_clamped<Extend, int32_t>(decoder, type);
}

constexpr Opcode opcodes[] = {
    {"and", decode_logic<And>}, {"or", decode_logic<Or>}, {"xor", decode_logic<Xor>}, {"not", decode_not},
    {"cnot", decode_cnot},      {"lop3", decode_lop3},    {"shl", decode_shl},        {"shr", decode_shr},
    {"shf", decode_shf},        {"bfe", decode_bfe},      {"bfi", decode_bfi},        {"bmsk", decode_bmsk},
    {"szext", decode_szext},
};

}  // namespace

std::span<const Opcode> bit_opcodes() {
  return opcodes;
}

}  // namespace simulator
