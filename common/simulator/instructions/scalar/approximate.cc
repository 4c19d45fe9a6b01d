// ex2, lg2, sin, cos, tanh, rsqrt, and rcp and sqrt where they are approximate. (PTX ISA 9.7.3.13 to
// 22, 9.7.4.9, 9.7.4.10)
//
// Hardware has its own approximations; these are nearer to the true values, and within the errors that the
// ISA allows. They use additions, multiplications, divisions and square roots alone, so that every machine
// gives the same bits.

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/lanes.h"
#include "common/simulator/instructions/scalar/floating.h"
#include "common/simulator/machine/warp.h"
#include "common/simulator/numeric/halves.h"
#include "common/simulator/numeric/rounding.h"

namespace simulator {
namespace {

constexpr double to_integer =
    0x1.8p52;  // x + to_integer has the integer nearest to x in its low bits, |x| < 2^51

// ---- The functions, in double.

// 2^x, with a relative error below 2^-31. For |x| up to 1000.
inline double exp2_of(double x) {
  const double shifted = x + to_integer;
  const double f = (x - (shifted - to_integer)) * 0.693147180559945309;  // |f| ≤ ln 2 / 2
  const double p =
      1 + f * (1 + f * (1.0 / 2 +
                        f * (1.0 / 6 +
                             f * (1.0 / 24 + f * (1.0 / 120 +
                                                  f * (1.0 / 720 + f * (1.0 / 5040 + f * (1.0 / 40320))))))));
  return std::bit_cast<double>(std::bit_cast<uint64_t>(p) + (std::bit_cast<uint64_t>(shifted) << 52));
}
inline float ex2(float a) {
  double x = a;
  x = x < -200.0 ? -200.0 : x;
  x = x > 200.0 ? 200.0 : x;
  return canonical(static_cast<float>(exp2_of(x)));
}

inline float lg2(float a) {
  // a = m · 2^e with m between √½ and √2 (as a double every f32 is normal); log m by the series of atanh.
  const uint64_t bits = std::bit_cast<uint64_t>(static_cast<double>(a));
  const uint64_t above = (bits - 0x3fe6a09e667f3bcdu) & 0xfff0000000000000u;  // e << 52
  const double m = std::bit_cast<double>(bits - above);
  const double e =
      std::bit_cast<double>(((above + 0x4000000000000000u) >> 52) | 0x4330000000000000u) - 0x1.00000000004p52;
  const double s = (m - 1) / (m + 1), t = s * s;
  const double atanh =
      s *
      (1 + t * (1.0 / 3 + t * (1.0 / 5 + t * (1.0 / 7 + t * (1.0 / 9 + t * (1.0 / 11 + t * (1.0 / 13)))))));
  float d = static_cast<float>(e + atanh * 2.88539008177792681);  // 2 / ln 2
  d = a == HUGE_VALF ? HUGE_VALF : d;
  d = a == 0.0f ? -HUGE_VALF : d;
  return a >= 0.0f ? d : std::bit_cast<float>(0x7fffffffu);
}

// Like the hardware, sin and cos first turn radians into turns, in f32 rounded towards zero: this is what
// limits their accuracy, and makes them 0 and 1 for large arguments.
struct Turns {
  double sine, cosine;  // of the rest after whole quarters
  uint64_t quarter;     // in the low two bits
};
inline Turns turns(float a) {
  const double product = static_cast<double>(a) * static_cast<double>(0x1.45f306p-3f);
  const double y = std::bit_cast<double>(std::bit_cast<uint64_t>(product) & ~uint64_t{0x1fffffff});
  const double size = std::fabs(y);
  const double in_range = size < 0x1p40 && size >= 0x1p-126 ? y : 0.0;
  const double quarters = in_range * 4, shifted = quarters + to_integer;
  const double rest = quarters - (shifted - to_integer);
  const double z = std::copysign(std::fabs(rest), rest == 0 ? y : rest) * 1.57079632679489662, t = z * z;
  const double sine =
      z *
      (1 - t * (1.0 / 6 - t * (1.0 / 120 - t * (1.0 / 5040 - t * (1.0 / 362880 - t * (1.0 / 39916800))))));
  const double cosine =
      1 - t * (1.0 / 2 - t * (1.0 / 24 - t * (1.0 / 720 - t * (1.0 / 40320 - t * (1.0 / 3628800)))));
  return {sine, cosine, std::bit_cast<uint64_t>(shifted)};
}
inline float quarter_turned(double straight, double turned, uint64_t quarter) {
  const double value = quarter & 1 ? turned : straight;
  return static_cast<float>(quarter & 2 ? -value : value);
}
inline float sin_of(float a) {
  const Turns t = turns(a);
  const float d = quarter_turned(t.sine, t.cosine, t.quarter);
  return std::fabs(a) < HUGE_VALF ? d : std::bit_cast<float>(0x7fffffffu);
}
inline float cos_of(float a) {
  const Turns t = turns(a);
  const float d = quarter_turned(t.cosine, -t.sine, t.quarter);
  return std::fabs(a) < HUGE_VALF ? d : std::bit_cast<float>(0x7fffffffu);
}

inline float tanh_of(float a) {
  const double x = a, size = x < 0 ? -x : x;
  const double power = exp2_of((size < 20.0 ? size : 20.0) * 2.88539008177792681);  // e^2|x|
  const double large = 1 - 2 / (power + 1), small = size * (1 - x * x * (1.0 / 3));
  const float magnitude = static_cast<float>(size < 0x1p-10 ? small : large);
  const float d =
      std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | (std::bit_cast<uint32_t>(a) & 0x80000000u));
  return a == a ? d : std::bit_cast<float>(0x7fffffffu);
}

inline float rcp(float a) {
  return canonical(1.0f / a);
}
inline float sqrt_of(float a) {
  return canonical(std::sqrt(a));
}
inline float rsqrt(float a) {
  return canonical(static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))));
}

// ---- f32 handlers

template <float (*f)(float), bool ftz>
struct Function {
  static float apply(float a) { return ftz ? flush(f(flush(a))) : f(a); }
};
template <float (*f)(float)>
Handler single(Decoder& decoder, bool ftz_allowed = true) {
  operands(decoder, {ptx::Type::f32, ptx::Type::f32});
  return ftz_allowed && decoder.has("ftz") ? unary<Function<f, true>, float>
                                           : unary<Function<f, false>, float>;
}

// ---- f16 and bf16

template <float (*f)(float)>
struct Computed {
  static float compute(float a) { return f(a); }
};
// ex2 on bf16 always flushes; nothing else on halves does.
template <float (*f)(float), bool ftz_bf16>
Handler half(Decoder& decoder, ptx::Type type) {
  operands(decoder, {type, type});
  const bool bf16 = type == ptx::Type::bf16 || type == ptx::Type::bf16x2;
  if (bf16 && ftz_bf16 && !decoder.has("ftz")) decoder.unsupported("without .ftz");
  switch (type) {
    case ptx::Type::f16:
      return in_float<Computed<f>, F16, 1, false, false, false>;
    case ptx::Type::f16x2:
      return in_float<Computed<f>, F16, 1, true, false, false>;
    case ptx::Type::bf16:
      return in_float<Computed<f>, Bf16, 1, false, ftz_bf16, false>;
    case ptx::Type::bf16x2:
      return in_float<Computed<f>, Bf16, 1, true, ftz_bf16, false>;
    default:
      return nullptr;
  }
}

// ---- f64: only the upper words count. (9.7.3.14, 9.7.3.17)

inline double upper(double a) {  // rounded to the nearest
  return std::bit_cast<double>((std::bit_cast<uint64_t>(a) + 0x80000000u) & 0xffffffff00000000u);
}
inline double flush(double a) {
  const uint64_t bits = std::bit_cast<uint64_t>(a);
  return std::bit_cast<double>((bits & 0x7ff0000000000000u) == 0 ? bits & 0x8000000000000000u : bits);
}
template <bool root>
struct Gross {  // a NaN whose upper word is that of infinity counts as infinity
  static double apply(double a) {
    const double x = flush(std::bit_cast<double>(std::bit_cast<uint64_t>(a) & 0xffffffff00000000u));
    const double d = root ? 1.0 / std::sqrt(x) : 1.0 / x;
    return d == d ? flush(upper(d)) : std::bit_cast<double>(0x7fffffff00000000u);
  }
};
struct RsqrtDouble {
  static double apply(double a) {
    const double d = 1.0 / std::sqrt(a);
    return a == a ? (d == d ? d : std::bit_cast<double>(0xfff8000000000000u)) : quiet(a);
  }
};

// ---- Decoding

void require_approx(Decoder& decoder) {
  if (!decoder.has("approx")) decoder.unsupported("without .approx");
}
template <float (*f)(float)>
void decode_single(Decoder& decoder) {
  require_approx(decoder);
  set_handler(decoder, decoder.type() == ptx::Type::f32 ? single<f>(decoder) : nullptr);
}
void decode_ex2(Decoder& decoder) {
  require_approx(decoder);
  const ptx::Type type = decoder.type();
  set_handler(decoder, type == ptx::Type::f32 ? single<ex2>(decoder) : half<ex2, true>(decoder, type));
}
void decode_tanh(Decoder& decoder) {
  require_approx(decoder);
  const ptx::Type type = decoder.type();
  set_handler(decoder,
              type == ptx::Type::f32 ? single<tanh_of>(decoder, false) : half<tanh_of, false>(decoder, type));
}

template <float (*f)(float)>
void decode_rcp_sqrt(Decoder& decoder) {
  const bool approx = decoder.has("approx");
  if (!approx) {
    const Rounding rounding = rounding_of(decoder, Rounding::away);
    if (rounding == Rounding::away) decoder.unsupported("without .approx or a rounding mode");
    return ieee_rcp_sqrt(decoder, rounding);
  }
  const ptx::Type type = decoder.type();
  if (type == ptx::Type::f32) return set_handler(decoder, single<f>(decoder));
  if (type != ptx::Type::f64 || decoder.ptx().opcode != "rcp" || !decoder.has("ftz"))
    decoder.unsupported("not for this type");
  operands(decoder, {type, type});
  set_handler(decoder, unary<Gross<false>, double>);
}
void decode_rsqrt(Decoder& decoder) {
  require_approx(decoder);
  const ptx::Type type = decoder.type();
  if (type == ptx::Type::f32) return set_handler(decoder, single<rsqrt>(decoder));
  if (type != ptx::Type::f64) decoder.unsupported("not for this type");
  operands(decoder, {type, type});
  set_handler(decoder, decoder.has("ftz") ? unary<Gross<true>, double> : unary<RsqrtDouble, double>);
}

constexpr Opcode opcodes[] = {
    {"ex2", decode_ex2},
    {"lg2", decode_single<lg2>},
    {"sin", decode_single<sin_of>},
    {"cos", decode_single<cos_of>},
    {"tanh", decode_tanh},
    {"rcp", decode_rcp_sqrt<rcp>},
    {"sqrt", decode_rcp_sqrt<sqrt_of>},
    {"rsqrt", decode_rsqrt},
};

}  // namespace

std::span<const Opcode> approximate_opcodes() {
  return opcodes;
}

}  // namespace simulator
