// Comparison: PTX ISA 9.0, sections 9.7.6.1, 9.7.6.2 (set, setp), 9.7.7 (the same for the half types).
#include <cstdint>
#include <span>
#include <type_traits>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/lanes.h"
#include "common/simulator/instructions/scalar/select.h"
#include "common/simulator/machine/warp.h"

namespace simulator {
namespace {

using ptx::Type;

// ---- Relations. On floats, those named …u are also true where an operand is NaN; the others are false then.

struct Equal {
  template <class T>
  static bool apply(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  static bool apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a < b || a > b;
    return a != b;
  }
};
struct Less {
  template <class T>
  static bool apply(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  static bool apply(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  static bool apply(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <class T>
  static bool apply(T a, T b) {
    return a >= b;
  }
};
template <class Ordered>
struct Negation {
  template <class T>
  static bool apply(T a, T b) {
    return !Ordered::apply(a, b);
  }
};
struct Number {
  template <class T>
  static bool apply(T a, T b) {
    return !__builtin_isunordered(a, b);
  }
};

// ---- What is compared: the type in the register, and the value made of it.

template <class T>
struct Plain {
  using Stored = T;
  static T load(T x) { return x; }
};
struct FlushedF32 {
  using Stored = float;
  static float load(float x) { return flush(x); }
};
template <bool ftz>
struct F16 {
  using Stored = uint16_t;
  static float load(uint16_t x) {
    return from_f16(ftz && (x & 0x7c00) == 0 ? static_cast<uint16_t>(x & 0x8000) : x);
  }
};
struct Bf16 {
  using Stored = uint16_t;
  static float load(uint16_t x) { return from_bf16(x); }
};
template <class Half, int shift>  // one half of f16x2, bf16x2
struct HalfOf {
  using Stored = uint32_t;
  static float load(uint32_t x) { return Half::load(static_cast<uint16_t>(x >> shift)); }
};

template <class Relation, class Load>
uint32_t compare(Warp& warp, const Inst& inst) {
  using Stored = typename Load::Stored;
  const Stored* a = warp.reg<Stored>(inst.a);
  const Stored* b = warp.reg<Stored>(inst.b);
  return Warp::ballot([=](int lane) { return Relation::apply(Load::load(a[lane]), Load::load(b[lane])); });
}
using Compare = uint32_t (*)(Warp&, const Inst&);

template <class Relation, class Load>
void setp(Warp& warp, const Inst& inst) {
  warp.set_pred(inst.d, compare<Relation, Load>(warp, inst));
}

// BoolOp(t, c) as a table for 32 lanes at once.
struct Boolean {
  uint32_t both = ~0u, only_t = ~0u, only_c = 0;  // results for t & c, t & !c, !t & c; the default: t
  uint32_t invert_c = 0;
  uint32_t operator()(uint32_t t, uint32_t c) const {
    c ^= invert_c;
    return (t & c & both) | (t & ~c & only_t) | (~t & c & only_c);
  }
};
// A comparison with all that may come with it. The predicate c is inst.c, the same register as p where there
// is none.
struct Combined {
  Compare first = nullptr;   // of a and b, or of their low halves
  Compare second = nullptr;  // of the high halves; null: there are none
  Boolean boolean;
  uint32_t q = 0;           // second destination
  uint32_t true_value = 0;  // set: what a lane's (half's) result is where it is true
};

// p = BoolOp(t, c), and q = BoolOp(!t, c) or, for the packed types, BoolOp of the high halves.
void setp_combined(Warp& warp, const Inst& inst) {
  const auto& combined = *static_cast<const Combined*>(inst.data);
  const uint32_t c = warp.pred(inst.c);
  const uint32_t t = combined.first(warp, inst);
  const uint32_t other = combined.second ? combined.second(warp, inst) : ~t;
  warp.set_pred(inst.d, combined.boolean(t, c));
  warp.set_pred(combined.q, combined.boolean(other, c));
}
void setp_boolean(Warp& warp, const Inst& inst) {
  const auto& combined = *static_cast<const Combined*>(inst.data);
  warp.set_pred(inst.d, combined.boolean(combined.first(warp, inst), warp.pred(inst.c)));
}

template <class D, bool has_c>
void set(Warp& warp, const Inst& inst) {
  const auto& combined = *static_cast<const Combined*>(inst.data);
  uint32_t t = combined.first(warp, inst);
  if (has_c) t = combined.boolean(t, warp.pred(inst.c));
  const D value = static_cast<D>(combined.true_value);
  warp.write<D>(inst.d, [=](int lane) { return static_cast<D>(value & lane_mask<D>(t, lane)); });
}
template <bool has_c>
void set_packed(Warp& warp, const Inst& inst) {
  const auto& combined = *static_cast<const Combined*>(inst.data);
  uint32_t low = combined.first(warp, inst), high = combined.second(warp, inst);
  if (has_c) {
    const uint32_t c = warp.pred(inst.c);
    low = combined.boolean(low, c);
    high = combined.boolean(high, c);
  }
  const uint32_t low_value = combined.true_value, high_value = combined.true_value << 16;
  warp.write<uint32_t>(inst.d, [=](int lane) {
    return (low_value & lane_mask<uint32_t>(low, lane)) | (high_value & lane_mask<uint32_t>(high, lane));
  });
}

// ---- Decoding of comparisons.

// The functions for one relation and one type.
struct Chosen {
  Handler plain = nullptr;  // setp without anything else
  Compare first = nullptr, second = nullptr;
};
template <class Relation, class Load>
Chosen one() {
  return {setp<Relation, Load>, compare<Relation, Load>, nullptr};
}
template <class Relation, class Half>
Chosen two() {
  return {nullptr, compare<Relation, HalfOf<Half, 0>>, compare<Relation, HalfOf<Half, 16>>};
}

template <class Relation>
Chosen for_floating(Type type, bool ftz) {
  switch (type) {
    case Type::f32:
      return ftz ? one<Relation, FlushedF32>() : one<Relation, Plain<float>>();
    case Type::f64:
      return one<Relation, Plain<double>>();
    case Type::f16:
      return ftz ? one<Relation, F16<true>>() : one<Relation, F16<false>>();
    case Type::f16x2:
      return ftz ? two<Relation, F16<true>>() : two<Relation, F16<false>>();
    case Type::bf16:
      return one<Relation, Bf16>();
    case Type::bf16x2:
      return two<Relation, Bf16>();
    default:
      return {};
  }
}
template <class Relation>
Chosen for_signed(Type type) {
  switch (type) {
    case Type::s16:
      return one<Relation, Plain<int16_t>>();
    case Type::s32:
      return one<Relation, Plain<int32_t>>();
    case Type::s64:
      return one<Relation, Plain<int64_t>>();
    default:
      return {};
  }
}
template <class Relation>
Chosen for_unsigned(Type type) {
  switch (type) {
    case Type::u16:
      return one<Relation, Plain<uint16_t>>();
    case Type::u32:
      return one<Relation, Plain<uint32_t>>();
    case Type::u64:
      return one<Relation, Plain<uint64_t>>();
    default:
      return {};
  }
}

bool is_floating(Type type) {
  switch (type) {
    case Type::f32:
    case Type::f64:
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
      return true;
    default:
      return false;
  }
}
bool is_packed(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2;
}

// eq and ne, for which signs do not matter.
template <class Relation>
Chosen for_equality(Type type, bool ftz) {
  if (is_floating(type)) return for_floating<Relation>(type, ftz);
  switch (type) {
    case Type::b16:
    case Type::s16:
      return for_unsigned<Relation>(Type::u16);
    case Type::b32:
    case Type::s32:
      return for_unsigned<Relation>(Type::u32);
    case Type::b64:
    case Type::s64:
      return for_unsigned<Relation>(Type::u64);
    default:
      return for_unsigned<Relation>(type);
  }
}
template <class Relation>
Chosen for_order(Type type, bool ftz) {
  if (is_floating(type)) return for_floating<Relation>(type, ftz);
  const Chosen chosen = for_signed<Relation>(type);
  return chosen.first ? chosen : for_unsigned<Relation>(type);
}

// The comparison named by the modifiers, for operands of this type.
Chosen choose(Decoder& decoder, Type type) {
  const bool ftz = decoder.has("ftz");
  if (ftz && type != Type::f32 && type != Type::f16 && type != Type::f16x2)
    decoder.unsupported(".ftz on this type");
  switch (decoder.one_of({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu",
                          "leu", "gtu", "geu", "num", "nan"})) {
    case 0:
      return for_equality<Equal>(type, ftz);
    case 1:
      return for_equality<NotEqual>(type, ftz);
    case 2:
      return for_order<Less>(type, ftz);
    case 3:
      return for_order<LessEqual>(type, ftz);
    case 4:
      return for_order<Greater>(type, ftz);
    case 5:
      return for_order<GreaterEqual>(type, ftz);
    case 6:
      return for_unsigned<Less>(type);
    case 7:
      return for_unsigned<LessEqual>(type);
    case 8:
      return for_unsigned<Greater>(type);
    case 9:
      return for_unsigned<GreaterEqual>(type);
    case 10:
      return for_floating<Negation<NotEqual>>(type, ftz);
    case 11:
      return for_floating<Negation<Equal>>(type, ftz);
    case 12:
      return for_floating<Negation<GreaterEqual>>(type, ftz);
    case 13:
      return for_floating<Negation<Greater>>(type, ftz);
    case 14:
      return for_floating<Negation<LessEqual>>(type, ftz);
    case 15:
      return for_floating<Negation<Less>>(type, ftz);
    case 16:
      return for_floating<Number>(type, ftz);
    case 17:
      return for_floating<Negation<Number>>(type, ftz);
    default:
      return {};
  }
}

// BoolOp and its operand {!}c, which is the last one. False: there is none.
bool read_boolean(Decoder& decoder, Boolean& boolean) {
  const int op = decoder.one_of({"and", "or", "xor"});
  require_operands(decoder, op < 0 ? 3 : 4);
  if (op < 0) return false;
  if (op == 0) boolean.only_t = 0;
  if (op == 1) boolean.only_c = ~0u;
  if (op == 2) boolean.both = 0, boolean.only_c = ~0u;
  const ptx::Operand& c = decoder.operand(3);
  require_width(decoder, c, Type::pred);
  bool negated = false;
  decoder.inst().c = decoder.predicate(c, negated);
  boolean.invert_c = negated ? ~0u : 0;
  return true;
}

void decode_setp(Decoder& decoder) {
  const Type type = decoder.type();
  const Chosen chosen = choose(decoder, type);
  if (!chosen.first) decoder.unsupported("not for this type");
  Combined combined;
  combined.first = chosen.first;
  combined.second = chosen.second;
  const bool has_c = read_boolean(decoder, combined.boolean);
  Inst& inst = decoder.inst();
  inst.a = source(decoder, 1, type);
  inst.b = source(decoder, 2, type);

  const ptx::Operand& target = decoder.operand(0);
  const bool pair = target.kind == ptx::Operand::Kind::pair && target.elements.size() == 2;
  if (is_packed(type) && !pair) decoder.unsupported("not of the form p|q");
  if (pair) {
    require_width(decoder, target.elements[0], Type::pred);
    require_width(decoder, target.elements[1], Type::pred);
    inst.d = decoder.dst(target.elements[0], Type::pred);
    combined.q = decoder.dst(target.elements[1], Type::pred);
  } else {
    inst.d = destination(decoder, 0, Type::pred);
  }
  if (!has_c && !pair) return set_handler(decoder, chosen.plain);
  if (!has_c) inst.c = inst.d;  // read, but without effect
  inst.data = decoder.keep(combined);
  set_handler(decoder, pair ? setp_combined : setp_boolean);
}

// What "true" is in the type of set's result, and the type's width. 0: not for this type.
uint32_t true_value(Type type) {
  switch (type) {
    case Type::u32:
    case Type::s32:
      return ~0u;
    case Type::f32:
      return 0x3f800000;
    case Type::u16:
    case Type::s16:
      return 0xffff;
    case Type::f16:
    case Type::f16x2:
      return 0x3c00;
    case Type::bf16:
    case Type::bf16x2:
      return 0x3f80;
    default:
      return 0;
  }
}
// set.….dtype.stype: the pairs of types of 9.7.6.1 and 9.7.7.1.
bool may_set(Type result, Type type) {
  switch (result) {
    case Type::u32:
    case Type::s32:
      return true;
    case Type::f32:
      return !is_packed(type) && type != Type::f16 && type != Type::bf16;
    case Type::u16:
    case Type::s16:
      return type == Type::f16 || type == Type::bf16;
    case Type::f16:
    case Type::bf16:
      return !is_packed(type);
    case Type::f16x2:
    case Type::bf16x2:
      return type == result;
    default:
      return false;
  }
}
void decode_set(Decoder& decoder) {
  const Type result = decoder.type(0), type = decoder.type(1);
  if (!may_set(result, type)) decoder.unsupported("not for these types");
  const Chosen chosen = choose(decoder, type);
  if (!chosen.first) decoder.unsupported("not for this type");
  Combined combined;
  combined.first = chosen.first;
  combined.second = chosen.second;
  const bool has_c = read_boolean(decoder, combined.boolean);
  Inst& inst = decoder.inst();
  inst.a = source(decoder, 1, type);
  inst.b = source(decoder, 2, type);
  inst.d = destination(decoder, 0, result);
  combined.true_value = is_packed(type) ? true_value(result) & 0xffff : true_value(result);
  inst.data = decoder.keep(combined);
  if (is_packed(type)) return set_handler(decoder, has_c ? set_packed<true> : set_packed<false>);
  if (ptx::bits(result) == 16)
    return set_handler(decoder, has_c ? set<uint16_t, true> : set<uint16_t, false>);
  set_handler(decoder, has_c ? set<uint32_t, true> : set<uint32_t, false>);
}

constexpr Opcode opcodes[] = {
    {"setp", decode_setp}, {"set", decode_set},     {"selp", decode_selp},
    {"slct", decode_slct}, {"testp", decode_testp},
};

}  // namespace

std::span<const Opcode> compare_opcodes() {
  return opcodes;
}

}  // namespace simulator
