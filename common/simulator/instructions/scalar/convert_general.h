// What cvt does, as a Plan, and the handlers for every one: lane by lane, through a 64-bit integer or a
// double, which hold every value exactly. The conversions of inner loops have faster handlers
// (convert_fast.h).
#pragma once

#include <cstdint>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/machine/warp.h"
#include "common/simulator/numeric/rounding.h"

namespace simulator::conversion {

// The types of cvt, in this order: integers (signed ones at odd places), floats, pairs.
enum class Kind : uint8_t {
  u8,
  s8,
  u16,
  s16,
  u32,
  s32,
  u64,
  s64,
  f16,
  bf16,
  f32,
  f64,
  tf32,
  f16x2,
  bf16x2,
  e4m3x2,
  e5m2x2,
  e2m1x2,
  e2m3x2,
  e3m2x2,
  ue8m0x2,
  other
};

inline bool is_integer(Kind kind) {
  return kind <= Kind::s64;
}
inline bool is_signed(Kind kind) {
  return is_integer(kind) && static_cast<int>(kind) % 2 != 0;
}
inline bool is_float(Kind kind) {
  return kind >= Kind::f16 && kind <= Kind::f64;
}

// One conversion, as the general handler needs it.
struct Plan {
  Kind to, from;
  uint8_t to_bits, from_bits;          // of the types
  uint8_t to_register, from_register;  // of the registers, which may be wider
  Rounding rounding = Rounding::nearest;
  bool integral = false;  // .rni and its like
  bool rounded = false;   // there was a rounding modifier
  bool ftz = false, sat = false, relu = false, satfinite = false;
};

// .rna to tf32: a NaN loses its low bits and no more, so that it may end as infinity; .satfinite takes a step
// back from whatever is not finite, NaN too.
inline uint32_t away_tf32(uint32_t bits) {
  const bool finite = (bits & 0x7f800000) != 0x7f800000;
  return (finite ? bits + 0x1000 : bits) & ~0x1fffu;
}

// Handlers. inst.data: the Plan.
void any_conversion(Warp& warp, const Inst& inst);  // one value
void pair_of_floats(Warp& warp, const Inst& inst);  // two f32 to a pair: a to the upper half, b to the lower
void pair_of_halves(Warp& warp, const Inst& inst);  // f16x2 or bf16x2 to a pair of smaller ones

// And back. inst.data: a Widening.
struct Widening {
  explicit Widening(const Plan& plan);
  int field;                  // bits from one value of the pair to the next
  uint8_t to_register;        // bits
  uint16_t values[256] = {};  // of every code
};
void pair_to_halves(Warp& warp, const Inst& inst);

// .rs. inst.data: a Stochastic; list: the sources, from the upper place on, and the random bits.
struct Stochastic {
  Kind to;
  uint8_t count, field;  // values; bits of each
  bool relu, satfinite;
};
void stochastic(Warp& warp, const Inst& inst);

}  // namespace simulator::conversion
