// add, sub, mul, fma, mad, div, abs, neg, copysign on f32, f32x2 and f64, and rcp and sqrt with
// IEEE rounding. (PTX ISA 9.7.3 and, for add.f32.bf16 and the like, 9.7.5)

#include "common/simulator/instructions/scalar/floating.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/lanes.h"
#include "common/simulator/instructions/scalar/opcodes.h"
#include "common/simulator/machine/warp.h"
#include "common/simulator/numeric/halves.h"
#include "common/simulator/numeric/rounding.h"

namespace simulator {
namespace {

// ---- The operations, on exact operands; the compiler must not fuse them (-ffp-contract=off).

struct AddOp {
  template <class T>
  static T compute(T a, T b) {
    return a + b;
  }
};
struct SubOp {
  template <class T>
  static T compute(T a, T b) {
    return a - b;
  }
};
struct MulOp {
  template <class T>
  static T compute(T a, T b) {
    return a * b;
  }
};
struct DivOp {
  static constexpr bool first_nan = true;
  template <class T>
  static T compute(T a, T b) {
    return a / b;
  }
};
struct FmaOp {
  template <class T>
  static T compute(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct RcpOp {
  template <class T>
  static T compute(T a) {
    return T{1} / a;
  }
};
struct SqrtOp {
  template <class T>
  static T compute(T a) {
    return std::sqrt(a);
  }
};

// ---- f32, rounded to the nearest: one handler for each choice of .ftz and .sat.

template <class Op, bool ftz, bool sat>
struct Single {
  template <class... A>
  static float apply(A... a) {
    float d;
    if constexpr (ftz) {
      d = flush(canonical(Op::compute(flush(a)...)));
    } else {
      d = canonical(Op::compute(a...));
    }
    if constexpr (sat) d = saturate(d);
    return d;
  }
};

// Lanes of two floats: d.x = op(a.x …), d.y = op(a.y …).
template <class Op>
struct Pair {
  template <class... A>
  static uint64_t apply(A... a) {
    const float low = Op::apply(std::bit_cast<float>(static_cast<uint32_t>(a))...);
    const float high = Op::apply(std::bit_cast<float>(static_cast<uint32_t>(a >> 32))...);
    return std::bit_cast<uint32_t>(low) | static_cast<uint64_t>(std::bit_cast<uint32_t>(high)) << 32;
  }
};

// ---- f64, to the nearest. A NaN among the operands comes through, quiet; one that arises is 0xfff8….

inline double first_of(double result, double a) {
  const double arisen = result == result ? result : std::bit_cast<double>(0xfff8000000000000u);
  return a == a ? arisen : quiet(a);
}
template <class Op>
struct Double {
  static double finish(double d, double a) { return first_of(d, a); }
  static double finish(double d, double a, double b) {
    if constexpr (requires { Op::first_nan; }) return a == a ? first_of(d, b) : quiet(a);
    return b == b ? first_of(d, a) : quiet(b);
  }
  static double finish(double d, double a, double b, double c) {
    const double without_b = c == c ? first_of(d, a) : quiet(c);
    return b == b ? without_b : quiet(b);
  }
  template <class... A>
  static double apply(A... a) {
    return finish(Op::compute(a...), a...);
  }
};

// ---- Other rounding modes, one handler for all types: slower, and rare.

// What Inst::extra holds.
constexpr uint16_t flag_ftz = 8, flag_sat = 16;
uint16_t flags(Rounding rounding, bool ftz, bool sat) {
  return static_cast<uint16_t>(static_cast<int>(rounding) | (ftz ? flag_ftz : 0) | (sat ? flag_sat : 0));
}

template <class Op, class T, int count>
void compute(T* d, const T* a, [[maybe_unused]] const T* b, [[maybe_unused]] const T* c) {
  for (int i = 0; i < count; ++i) {
    if constexpr (requires(T x) { Op::compute(x); }) {
      d[i] = Op::compute(a[i]);
    } else if constexpr (requires(T x) { Op::compute(x, x); }) {
      d[i] = Op::compute(a[i], b[i]);
    } else {
      d[i] = Op::compute(a[i], b[i], c[i]);
    }
  }
}
// The same under a rounding mode. The compiler, which does not know about modes, cannot see what is called.
template <class Op, class T, int count>
void compute_rounded(Rounding rounding, T* d, const T* a, const T* b, const T* c) {
  void (*volatile function)(T*, const T*, const T*, const T*) = compute<Op, T, count>;
  RoundingMode mode(rounding);
  function(d, a, b, c);
}

inline float finish(float d, uint16_t extra) {
  d = canonical(d);
  if (extra & flag_ftz) d = flush(d);
  return extra & flag_sat ? saturate(d) : d;
}
// Results of Op on `count` floats each, in place of the first operand's.
template <class Op, int count>
void directed_floats(float (&a)[count], float (&b)[count], float (&c)[count], uint16_t extra) {
  if (extra & flag_ftz)
    for (int i = 0; i < count; ++i) a[i] = flush(a[i]), b[i] = flush(b[i]), c[i] = flush(c[i]);
  compute_rounded<Op, float, count>(static_cast<Rounding>(extra & 7), a, a, b, c);
  for (float& d : a) d = finish(d, extra);
}

template <class Op, class T, int operands>
void directed(Warp& warp, const Inst& inst) {
  constexpr int count = std::is_same_v<T, uint64_t> ? 2 * warp_size : warp_size;  // f32x2: two floats a lane
  const uint32_t second = operands > 1 ? inst.b : inst.a, third = operands > 2 ? inst.c : inst.a;
  if constexpr (std::is_same_v<T, double>) {
    const double *a = warp.reg<double>(inst.a), *b = warp.reg<double>(second), *c = warp.reg<double>(third);
    double d[count];
    compute_rounded<Op, double, count>(static_cast<Rounding>(inst.extra & 7), d, a, b, c);
    warp.write<double>(inst.d, [&](int lane) {
      if constexpr (operands == 1) return Double<Op>::finish(d[lane], a[lane]);
      if constexpr (operands == 2) return Double<Op>::finish(d[lane], a[lane], b[lane]);
      if constexpr (operands == 3) return Double<Op>::finish(d[lane], a[lane], b[lane], c[lane]);
    });
  } else {
    float a[count], b[count], c[count];
    std::memcpy(a, warp.registers + inst.a, sizeof a);
    std::memcpy(b, warp.registers + second, sizeof b);
    std::memcpy(c, warp.registers + third, sizeof c);
    directed_floats<Op>(a, b, c, inst.extra);
    warp.write<T>(inst.d, [&](int lane) {
      T d;
      std::memcpy(&d, reinterpret_cast<const char*>(a) + sizeof d * static_cast<size_t>(lane), sizeof d);
      return d;
    });
  }
}

// The handler for Op of `operands` operands and the modifiers given.
template <class Op, int operands, class S, class T>
Handler lanes() {
  if constexpr (operands == 1) return unary<S, T>;
  if constexpr (operands == 2) return binary<S, T>;
  if constexpr (operands == 3) return ternary<S, T>;
}
template <class Op, int operands>
Handler rounded(ptx::Type type, Rounding rounding, bool ftz, bool sat) {
  const bool nearest = rounding == Rounding::nearest;
  switch (type) {
    case ptx::Type::f32:
      if (!nearest) return directed<Op, float, operands>;
      if (ftz && sat) return lanes<Op, operands, Single<Op, true, true>, float>();
      if (ftz) return lanes<Op, operands, Single<Op, true, false>, float>();
      if (sat) return lanes<Op, operands, Single<Op, false, true>, float>();
      return lanes<Op, operands, Single<Op, false, false>, float>();
    case ptx::Type::f32x2:
      if (operands == 1 || sat) return nullptr;
      if (!nearest) return directed<Op, uint64_t, operands>;
      if (ftz) return lanes<Op, operands, Pair<Single<Op, true, false>>, uint64_t>();
      return lanes<Op, operands, Pair<Single<Op, false, false>>, uint64_t>();
    case ptx::Type::f64:
      if (ftz || sat) return nullptr;
      if (!nearest) return directed<Op, double, operands>;
      return lanes<Op, operands, Double<Op>, double>();
    default:
      return nullptr;
  }
}

// ---- add.f32.bf16 and the like: the first sources are converted, the last one is f32.

template <class Op, class Half, int operands>
void mixed(Warp& warp, const Inst& inst) {
  float a[warp_size], b[warp_size], c[warp_size];
  Half::widen(warp.reg<uint16_t>(inst.a), a, warp_size);
  if constexpr (operands == 3) Half::widen(warp.reg<uint16_t>(inst.b), b, warp_size);
  std::memcpy(c, warp.registers + (operands == 3 ? inst.c : inst.b), sizeof c);
  if constexpr (operands == 2) std::memcpy(b, c, sizeof b);
  directed_floats<Op>(a, b, c, inst.extra);
  warp.write<float>(inst.d, [&a](int lane) { return a[lane]; });
}

// ---- Signs

template <bool ftz>
struct Neg {
  static float apply(float a) {
    const float x = ftz ? flush(a) : a;
    return canonical(-x);
  }
};
template <bool ftz>
struct Abs {
  static float apply(float a) {
    const float x = ftz ? flush(a) : a;
    return canonical(magnitude(x));
  }
};
struct NegDouble {  // the sign of a NaN stays
  static double apply(double a) { return a == a ? -a : quiet(a); }
};
struct AbsDouble {
  static double apply(double a) { return a == a ? std::fabs(a) : quiet(a); }
};
template <class T>
struct CopySign {
  static T apply(T a, T b) {
    constexpr T sign = T{1} << (sizeof(T) * 8 - 1);
    return (a & sign) | (b & ~sign);
  }
};

// ---- div.approx and div.full: the quotient rounded once, which is within their two ulp.

template <bool ftz>
struct DivApprox {
  static float apply(float a, float b) {
    const float x = ftz ? flush(a) : a, y = ftz ? flush(b) : b;
    const float quotient = x / y;
    // For |b| above 2^126 the hardware's 1/b is 0: the result is 0, or NaN where a is infinite.
    const float tiny = magnitude(y) > 0x1p126f ? x * (y > 0 ? 0.0f : -0.0f) : quotient;
    const float d = canonical(magnitude(y) < HUGE_VALF ? tiny : quotient);
    return ftz ? flush(d) : d;
  }
};

Handler divide(Decoder& decoder, ptx::Type type, bool ftz) {
  if (type == ptx::Type::f32 && decoder.has("approx"))
    return ftz ? binary<DivApprox<true>, float> : binary<DivApprox<false>, float>;
  const bool full = type == ptx::Type::f32 && decoder.has("full");
  const Rounding rounding = full ? Rounding::nearest : rounding_of(decoder, Rounding::away);
  if (rounding == Rounding::away || type == ptx::Type::f32x2) return nullptr;
  decoder.inst().extra = flags(rounding, ftz, false);
  return rounded<DivOp, 2>(type, rounding, ftz, false);
}

template <class Op, int sources>
void decode_rounded(Decoder& decoder, ptx::Type type, Rounding otherwise) {
  const ptx::Type half = decoder.type(1);
  const bool ftz = decoder.has("ftz"), sat = decoder.has("sat");
  const Rounding rounding = rounding_of(decoder, otherwise);
  if (rounding == Rounding::away) decoder.unsupported("without a rounding mode");
  decoder.inst().extra = flags(rounding, ftz, sat);
  if (half == ptx::Type::none) {
    if constexpr (sources == 2) operands(decoder, {type, type, type});
    if constexpr (sources == 3) operands(decoder, {type, type, type, type});
    return set_handler(decoder, rounded<Op, sources>(type, rounding, ftz, sat));
  }
  if constexpr (!std::is_same_v<Op, MulOp>) {
    if (type == ptx::Type::f32 && !ftz && (half == ptx::Type::f16 || half == ptx::Type::bf16)) {
      if constexpr (sources == 2) operands(decoder, {type, half, type});
      if constexpr (sources == 3) operands(decoder, {type, half, half, type});
      return set_handler(decoder,
                         half == ptx::Type::f16 ? mixed<Op, F16, sources> : mixed<Op, Bf16, sources>);
    }
  }
  decoder.unsupported("not for this type");
}

}  // namespace

void floating_arithmetic(Decoder& decoder) {
  const std::string_view opcode = decoder.ptx().opcode;
  const ptx::Type type = decoder.type(0);
  constexpr Rounding none =
      Rounding::away;  // .rna is not for arithmetic: here it stands for "no rounding mode"
  if (opcode == "add") return decode_rounded<AddOp, 2>(decoder, type, Rounding::nearest);
  if (opcode == "sub") return decode_rounded<SubOp, 2>(decoder, type, Rounding::nearest);
  if (opcode == "mul") return decode_rounded<MulOp, 2>(decoder, type, Rounding::nearest);
  if (opcode == "fma" || opcode == "mad") return decode_rounded<FmaOp, 3>(decoder, type, none);
  if (opcode == "min" || opcode == "max") return floating_min_max(decoder);

  const bool f32 = type == ptx::Type::f32, f64 = type == ptx::Type::f64;
  if (!f32 && !f64) decoder.unsupported("not for this type");
  if (opcode == "div") {
    operands(decoder, {type, type, type});
    return set_handler(decoder, divide(decoder, type, f32 && decoder.has("ftz")));
  }
  if (opcode == "copysign") {
    operands(decoder, {type, type, type});
    return set_handler(decoder,
                       f32 ? binary<CopySign<uint32_t>, uint32_t> : binary<CopySign<uint64_t>, uint64_t>);
  }
  const bool ftz = f32 && decoder.has("ftz");
  operands(decoder, {type, type});
  if (opcode == "neg")
    return set_handler(decoder, f64   ? unary<NegDouble, double>
                                : ftz ? unary<Neg<true>, float>
                                      : unary<Neg<false>, float>);
  if (opcode == "abs")
    return set_handler(decoder, f64   ? unary<AbsDouble, double>
                                : ftz ? unary<Abs<true>, float>
                                      : unary<Abs<false>, float>);
  decoder.unsupported("not for floating-point types");
}

void ieee_rcp_sqrt(Decoder& decoder, Rounding rounding) {
  const ptx::Type type = decoder.type(0);
  const bool ftz = type == ptx::Type::f32 && decoder.has("ftz");
  if (type != ptx::Type::f32 && type != ptx::Type::f64) decoder.unsupported("not for this type");
  operands(decoder, {type, type});
  decoder.inst().extra = flags(rounding, ftz, false);
  set_handler(decoder, decoder.ptx().opcode == "rcp" ? rounded<RcpOp, 1>(type, rounding, ftz, false)
                                                     : rounded<SqrtOp, 1>(type, rounding, ftz, false));
}

}  // namespace simulator
