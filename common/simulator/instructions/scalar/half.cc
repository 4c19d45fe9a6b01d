// add, sub, mul, fma, min, max, neg, abs on f16, f16x2, bf16 and bf16x2, rounded once. (PTX ISA 9.7.4)

#include <cstdint>
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

// Sums and products of two halves, in f32. The product of two f16 (22 bits) or bf16 (16 bits) is exact there,
// but for bf16 products below 2^-133, which round to the same as their neighbour among multiples of 2^-149. A
// sum is rounded twice, which is harmless: f32 has at least twice a half's bits and two more (24 ≥ 2 · 11 +
// 2).
template <class Half>
struct Add {
  static float compute(float a, float b) { return a + b; }
};
template <class Half>
struct Sub {
  static float compute(float a, float b) { return a - b; }
};
template <class Half>
struct Mul {
  static float compute(float a, float b) { return a * b; }
};
// a · b + c rounded to odd, from where it is rounded to a half; simply rounding twice would be wrong where
// the first rounding ends halfway between two halves.
template <class Half>
struct Fma {
  static float compute(float a, float b, float c) {
    if constexpr (std::is_same_v<Half, F16>) {
      // Everything here is a multiple of 2^-48 below 2^33: f32 holds the product, and what the sum loses.
      const float product = a * b, sum = product + c;
      const float part = sum - product;
      return odd(sum, (product - (sum - part)) + (c - part));
    } else {
      // bf16 has f32's range: its products need a wider one.
      const double product = static_cast<double>(a) * static_cast<double>(b), addend = c,
                   sum = product + addend;
      const double part = sum - product;
      const double lost = (product - (sum - part)) + (addend - part);
      const float nearest = static_cast<float>(sum);
      // Of `sum` and `lost` the former counts, unless it is exactly `nearest`: only the sign of the rest
      // matters.
      const double rest = (sum - static_cast<double>(nearest)) + lost;
      const float sign = rest > 0 ? 1.0f : rest < 0 ? -1.0f : 0.0f;
      return odd(nearest, sign);
    }
  }
};

template <class Op>
struct Saturated {
  template <class... A>
  static float compute(A... a) {
    return saturate(Op::compute(a...));
  }
};

inline int16_t key(uint16_t x) {  // orders halves as integers, -0 before +0
  const int16_t bits = static_cast<int16_t>(x);
  return static_cast<int16_t>(bits ^ (bits >> 15 & 0x7fff));
}
template <class Half, bool max, bool nan, bool ftz, bool xorsign>
struct MinMax {
  static uint16_t apply(uint16_t a, uint16_t b) {
    const uint16_t sign = (a ^ b) & 0x8000u;
    if constexpr (ftz) a = flush_half<Half>(a), b = flush_half<Half>(b);
    if constexpr (xorsign) a &= 0x7fff, b &= 0x7fff;
    const bool no_a = is_nan<Half>(a), no_b = is_nan<Half>(b);
    uint16_t d = (key(a) < key(b)) != max ? a : b;
    if constexpr (!nan) {
      d = no_b ? a : d;
      d = no_a ? b : d;
    }
    const bool no_d = nan ? no_a | no_b : no_a & no_b;
    if constexpr (xorsign) d |= sign;
    return no_d ? 0x7fff : d;
  }
};

template <class Half, bool negate, bool ftz>
struct Sign {
  static uint16_t apply(uint16_t a) {
    if constexpr (ftz) a = flush_half<Half>(a);
    const uint16_t d = negate ? a ^ 0x8000u : a & 0x7fffu;
    return is_nan<Half>(a) ? 0x7fff : d;
  }
};

template <class Op, class Half, int sources, bool packed>
Handler arithmetic(Decoder& decoder) {
  constexpr bool f16 = std::is_same_v<Half, F16>;
  if (!decoder.has("rn") && sources == 3) decoder.unsupported("without a rounding mode");
  const bool ftz = f16 && decoder.has("ftz"), sat = f16 && decoder.has("sat");
  if constexpr (sources == 3) {
    if (decoder.has("relu")) {
      if (sat) decoder.unsupported(".sat and .relu at once");
      return ftz ? in_float<Op, Half, sources, packed, f16, true>
                 : in_float<Op, Half, sources, packed, false, true>;
    }
  }
  if constexpr (f16) {
    if (sat)
      return ftz ? in_float<Saturated<Op>, Half, sources, packed, true, false>
                 : in_float<Saturated<Op>, Half, sources, packed, false, false>;
  }
  return ftz ? in_float<Op, Half, sources, packed, f16, false>
             : in_float<Op, Half, sources, packed, false, false>;
}

template <class Half, bool packed, bool max, bool nan, bool ftz>
Handler min_max_of(bool xorsign) {
  return xorsign ? on_bits<MinMax<Half, max, nan, ftz, true>, 2, packed>
                 : on_bits<MinMax<Half, max, nan, ftz, false>, 2, packed>;
}
template <class Half, bool packed, bool max>
Handler min_max(Decoder& decoder) {
  const bool nan = decoder.has("NaN"), xorsign = decoder.has("xorsign");
  if (decoder.has("abs") != xorsign) decoder.unsupported(".xorsign goes with .abs");
  if constexpr (std::is_same_v<Half, F16>) {
    if (decoder.has("ftz"))
      return nan ? min_max_of<Half, packed, max, true, true>(xorsign)
                 : min_max_of<Half, packed, max, false, true>(xorsign);
  }
  return nan ? min_max_of<Half, packed, max, true, false>(xorsign)
             : min_max_of<Half, packed, max, false, false>(xorsign);
}

template <class Half, bool packed, bool negate>
Handler sign(Decoder& decoder) {
  if constexpr (std::is_same_v<Half, F16>)
    if (decoder.has("ftz")) return on_bits<Sign<Half, negate, true>, 1, packed>;
  return on_bits<Sign<Half, negate, false>, 1, packed>;
}

template <class Half, bool packed>
Handler handler(Decoder& decoder) {
  const std::string_view opcode = decoder.ptx().opcode;
  if (opcode == "add") return arithmetic<Add<Half>, Half, 2, packed>(decoder);
  if (opcode == "sub") return arithmetic<Sub<Half>, Half, 2, packed>(decoder);
  if (opcode == "mul") return arithmetic<Mul<Half>, Half, 2, packed>(decoder);
  if (opcode == "fma") return arithmetic<Fma<Half>, Half, 3, packed>(decoder);
  if (opcode == "min") return min_max<Half, packed, false>(decoder);
  if (opcode == "max") return min_max<Half, packed, true>(decoder);
  if (opcode == "neg") return sign<Half, packed, true>(decoder);
  if (opcode == "abs") return sign<Half, packed, false>(decoder);
  return nullptr;
}

}  // namespace

void half_arithmetic(Decoder& decoder) {
  const ptx::Type type = decoder.type(0);
  const std::string_view opcode = decoder.ptx().opcode;
  if (opcode == "add" || opcode == "sub" || opcode == "mul") decoder.has("rn");  // the default
  if (opcode == "neg" || opcode == "abs") {
    operands(decoder, {type, type});
  } else if (opcode == "fma") {
    operands(decoder, {type, type, type, type});
  } else {
    operands(decoder, {type, type, type});
  }
  switch (type) {
    case ptx::Type::f16:
      return set_handler(decoder, handler<F16, false>(decoder));
    case ptx::Type::f16x2:
      return set_handler(decoder, handler<F16, true>(decoder));
    case ptx::Type::bf16:
      return set_handler(decoder, handler<Bf16, false>(decoder));
    case ptx::Type::bf16x2:
      return set_handler(decoder, handler<Bf16, true>(decoder));
    default:
      decoder.unsupported("not for this type");
  }
}

}  // namespace simulator
