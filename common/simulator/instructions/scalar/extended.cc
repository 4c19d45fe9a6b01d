// Arithmetic with a carry: PTX ISA 9.0, section 9.7.2. The flag CC.CF is a predicate register, whose offset
// is inst.imm.
#include <cstdint>
#include <type_traits>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/lanes.h"
#include "common/simulator/instructions/scalar/integer.h"
#include "common/simulator/machine/warp.h"

namespace simulator {
namespace {

using ptx::Type;

// `carry` is 0 or 1. The carry out is worked out from top bits alone, so that the loops vectorise: it is set
// where both operands have theirs, or one of them has and the sum has not.
struct Sum {
  static constexpr uint32_t without = 0;  // what comes in where no carry does
  template <class T>
  static T value(T a, T b, T carry) {
    return a + b + carry;
  }
  template <class T>
  static bool carries(T a, T b, T carry) {
    return ((a & b) | ((a | b) & ~value(a, b, carry))) >> (bits_of<T> - 1);
  }
};
// a + ~b + carry: the flag that a subtraction leaves and takes is the absence of a borrow, so that sub.cc
// before addc does on a GPU what it does here (tests/golden/integers.txt), whatever the ISA calls it.
struct Difference {
  static constexpr uint32_t without = ~0u;
  template <class T>
  static T value(T a, T b, T carry) {
    return Sum::value(a, T(~b), carry);
  }
  template <class T>
  static bool carries(T a, T b, T carry) {
    return Sum::carries(a, T(~b), carry);
  }
};

// first(lane) and second(lane) go into Op. The carries are worked out before d is written: it may be a
// source.
template <class Op, class T, bool in, bool out, class First, class Second>
void with_carry(Warp& warp, const Inst& inst, First first, Second second) {
  const auto flag = static_cast<uint32_t>(inst.imm);
  const uint32_t old = in ? warp.pred(flag) : Op::without;
  const auto carry = [=](int lane) { return T{old >> lane & 1}; };
  uint32_t carried = 0;
  if constexpr (out)
    carried = Warp::ballot([=](int lane) { return Op::carries(first(lane), second(lane), carry(lane)); });
  warp.write<T>(inst.d, [=](int lane) { return Op::value(first(lane), second(lane), carry(lane)); });
  if constexpr (out) warp.set_pred(flag, carried);
}
template <class Op, class T, bool in, bool out>
void carry_binary(Warp& warp, const Inst& inst) {
  const T* a = warp.reg<T>(inst.a);
  const T* b = warp.reg<T>(inst.b);
  with_carry<Op, T, in, out>(
      warp, inst, [=](int lane) { return a[lane]; }, [=](int lane) { return b[lane]; });
}
template <class Mul, class T, bool in, bool out>
void carry_mad(Warp& warp, const Inst& inst) {
  using Unsigned = std::make_unsigned_t<T>;
  const T* a = warp.reg<T>(inst.a);
  const T* b = warp.reg<T>(inst.b);
  const Unsigned* c = warp.reg<Unsigned>(inst.c);
  with_carry<Sum, Unsigned, in, out>(
      warp, inst, [=](int lane) { return static_cast<Unsigned>(Mul::apply(a[lane], b[lane])); },
      [=](int lane) { return c[lane]; });
}

// Handlers with and without carry in and carry out.
template <class Make>
Handler for_carry(bool in, bool out, Make make) {
  if (in) return out ? make.template operator()<true, true>() : make.template operator()<true, false>();
  return out ? make.template operator()<false, true>() : nullptr;
}

template <class Op>
void extended_add(Decoder& decoder, bool in, bool out) {
  const Type type = decoder.type();
  operands(decoder, {type, type, type});
  decoder.inst().imm = decoder.carry();
  set_handler(decoder, for_carry(in, out, [=]<bool carry_in, bool carry_out>() -> Handler {
                switch (type) {
                  case Type::u32:
                  case Type::s32:
                    return carry_binary<Op, uint32_t, carry_in, carry_out>;
                  case Type::u64:
                  case Type::s64:
                    return carry_binary<Op, uint64_t, carry_in, carry_out>;
                  default:
                    return nullptr;
                }
              }));
}

void extended_mad(Decoder& decoder, bool in, bool out) {
  const Part part = part_of_product(decoder);
  const Type type = decoder.type();
  if (part == Part::wide) decoder.unsupported(".wide with a carry");
  operands(decoder, {type, type, type, type});
  decoder.inst().imm = decoder.carry();
  set_handler(decoder, for_carry(in, out, [=]<bool carry_in, bool carry_out>() -> Handler {
                const bool is_high = part == Part::high;
                switch (type) {
                  case Type::u32:
                    return is_high ? carry_mad<MulHigh, uint32_t, carry_in, carry_out>
                                   : carry_mad<MulLow, uint32_t, carry_in, carry_out>;
                  case Type::s32:
                    return is_high ? carry_mad<MulHigh, int32_t, carry_in, carry_out>
                                   : carry_mad<MulLow, int32_t, carry_in, carry_out>;
                  case Type::u64:
                    return is_high ? carry_mad<MulHigh, uint64_t, carry_in, carry_out>
                                   : carry_mad<MulLow, uint64_t, carry_in, carry_out>;
                  case Type::s64:
                    return is_high ? carry_mad<MulHigh, int64_t, carry_in, carry_out>
                                   : carry_mad<MulLow, int64_t, carry_in, carry_out>;
                  default:
                    return nullptr;
                }
              }));
}
}  // namespace

void decode_addc(Decoder& decoder) {
  extended_add<Sum>(decoder, true, decoder.has("cc"));
}
void decode_subc(Decoder& decoder) {
  extended_add<Difference>(decoder, true, decoder.has("cc"));
}
void decode_madc(Decoder& decoder) {
  extended_mad(decoder, true, decoder.has("cc"));
}
void decode_add_cc(Decoder& decoder) {
  extended_add<Sum>(decoder, false, decoder.has("cc"));
}
void decode_sub_cc(Decoder& decoder) {
  extended_add<Difference>(decoder, false, decoder.has("cc"));
}
void decode_mad_cc(Decoder& decoder) {
  extended_mad(decoder, false, decoder.has("cc"));
}

}  // namespace simulator
