// Handlers made from a function of one lane: unary<Op, D, A> runs d = Op::apply(a) in 32 lanes, and so on.
// The loops are plain, so that the compiler vectorises them; what varies between instructions is a template
// argument, chosen when the instruction is decoded.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/machine/warp.h"

namespace simulator {

// Integer arithmetic wraps: done in an unsigned type of at least 32 bits, where C++ has no undefined
// overflow.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;

// ---- Handlers. Op has a static apply() for the types given; D is the destination's type.

template <class Op, class D, class A = D>
void unary(Warp& warp, const Inst& inst) {
  const A* a = warp.reg<A>(inst.a);
  warp.write<D>(inst.d, [=](int lane) { return static_cast<D>(Op::apply(a[lane])); });
}

template <class Op, class D, class A = D, class B = A>
void binary(Warp& warp, const Inst& inst) {
  const A* a = warp.reg<A>(inst.a);
  const B* b = warp.reg<B>(inst.b);
  warp.write<D>(inst.d, [=](int lane) { return static_cast<D>(Op::apply(a[lane], b[lane])); });
}

template <class Op, class D, class A = D, class B = A, class C = D>
void ternary(Warp& warp, const Inst& inst) {
  const A* a = warp.reg<A>(inst.a);
  const B* b = warp.reg<B>(inst.b);
  const C* c = warp.reg<C>(inst.c);
  warp.write<D>(inst.d, [=](int lane) { return static_cast<D>(Op::apply(a[lane], b[lane], c[lane])); });
}

// A bit per lane: Op::apply(a) or Op::apply(a, b), which give bool.
template <class Op, class A>
uint32_t test_lanes(Warp& warp, uint32_t a_offset) {
  const A* a = warp.reg<A>(a_offset);
  return Warp::ballot([=](int lane) { return Op::apply(a[lane]); });
}
template <class Op, class A, class B = A>
uint32_t test_lanes(Warp& warp, uint32_t a_offset, uint32_t b_offset) {
  const A* a = warp.reg<A>(a_offset);
  const B* b = warp.reg<B>(b_offset);
  return Warp::ballot([=](int lane) { return Op::apply(a[lane], b[lane]); });
}

// One lane of a predicate register.
inline bool lane_bit(uint32_t bits, int lane) {
  return bits >> lane & 1;
}
// The same as all ones or zeroes, to select without a condition: loops with this one vectorise more readily.
template <class T>
T lane_mask(uint32_t bits, int lane) {
  return static_cast<T>(0 - static_cast<Wrapping<T>>(bits >> lane & 1));
}

// ---- From PTX types to C++ types. make.operator()<T>() gives the handler for T; null for a type that is not
// in the list.

template <class Make>
Handler for_signed_or_unsigned(ptx::Type type, Make make) {
  switch (type) {
    case ptx::Type::u16:
      return make.template operator()<uint16_t>();
    case ptx::Type::s16:
      return make.template operator()<int16_t>();
    case ptx::Type::u32:
      return make.template operator()<uint32_t>();
    case ptx::Type::s32:
      return make.template operator()<int32_t>();
    case ptx::Type::u64:
      return make.template operator()<uint64_t>();
    case ptx::Type::s64:
      return make.template operator()<int64_t>();
    default:
      return nullptr;
  }
}
// By width alone: the handler for an unsigned type of `bits` bits.
template <class Make>
Handler for_bits(int bits, Make make) {
  switch (bits) {
    case 16:
      return make.template operator()<uint16_t>();
    case 32:
      return make.template operator()<uint32_t>();
    case 64:
      return make.template operator()<uint64_t>();
    default:
      return nullptr;
  }
}

// ---- Operands, with the rule that a register has the width of the instruction's type (PTX ISA 9.4.1: only
// ld, st and cvt may use wider ones).

inline void require_width(Decoder& decoder, const ptx::Operand& operand, ptx::Type type) {
  if (decoder.width(operand, ptx::bits(type)) != ptx::bits(type))
    decoder.unsupported("operand of another width");
}
inline uint32_t destination(Decoder& decoder, size_t nth, ptx::Type type) {
  require_width(decoder, decoder.operand(nth), type);
  return decoder.dst(nth, type);
}
inline uint32_t source(Decoder& decoder, size_t nth, ptx::Type type) {
  const ptx::Operand& operand = decoder.operand(nth);
  require_width(decoder, operand, type);
  if (operand.negated) decoder.unsupported("a negated operand");
  return decoder.src(operand, type);
}
inline void require_operands(Decoder& decoder, size_t count) {
  if (decoder.operand_count() != count) decoder.unsupported("another number of operands than expected");
}
// d, a · d, a, b · d, a, b, c of the given types: sets the offsets. The first form for operands all of one
// type.
inline void operands(Decoder& decoder, std::initializer_list<ptx::Type> types) {
  require_operands(decoder, types.size());
  Inst& inst = decoder.inst();
  uint32_t* const sources[] = {&inst.a, &inst.b, &inst.c};
  size_t nth = 0;
  for (const ptx::Type type : types) {
    if (nth == 0) {
      inst.d = destination(decoder, 0, type);
    } else {
      *sources[nth - 1] = source(decoder, nth, type);
    }
    ++nth;
  }
}
// The handler, or a refusal where there is none for the type.
inline void set_handler(Decoder& decoder, Handler handler) {
  if (!handler) decoder.unsupported("not for this type");
  decoder.inst().inner = handler;
}

// ---- Arithmetic that more than one family needs.

// Subnormal → zero of the same sign (.ftz).
inline float flush(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}
// The bits of an f16 or bf16 as a float, exactly; NaN payloads are kept.
inline float from_f16(uint16_t half) {
  const uint32_t exponent = half & 0x7c00u, magnitude = half & 0x7fffu;
  const uint32_t rebias = exponent == 0x7c00 ? 224u << 23 : 112u << 23;  // 0x7c00: infinity and NaN
  // Subnormals count units of 2^-24. (No arithmetic on subnormal floats: it is slow.)
  const float subnormal = static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f;
  const uint32_t bits = exponent == 0 ? std::bit_cast<uint32_t>(subnormal) : (magnitude << 13) + rebias;
  return std::bit_cast<float>(bits | (half & 0x8000u) << 16);
}
inline float from_bf16(uint16_t half) {
  return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

}  // namespace simulator
