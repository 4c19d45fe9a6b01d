// min and max on f32 and f64. (PTX ISA 9.7.3.11, 9.7.3.12)

#include <bit>
#include <cstdint>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/lanes.h"
#include "common/simulator/instructions/scalar/floating.h"
#include "common/simulator/machine/warp.h"
#include "common/simulator/numeric/rounding.h"

namespace simulator {
namespace {

// Neither is NaN, or the result does not matter. Equal values differ in bits only if they are zeroes: -0 <
// +0.
template <bool max>
inline float pick(float a, float b) {
  const uint32_t x = std::bit_cast<uint32_t>(a), y = std::bit_cast<uint32_t>(b);
  const float equal = std::bit_cast<float>(max ? x & y : x | y);
  const float other = (max ? a > b : a < b) ? a : b;
  return a == b ? equal : other;
}
template <bool max>
inline double pick(double a, double b) {
  const uint64_t x = std::bit_cast<uint64_t>(a), y = std::bit_cast<uint64_t>(b);
  const double equal = std::bit_cast<double>(max ? x & y : x | y);
  const double other = (max ? a > b : a < b) ? a : b;
  return a == b ? equal : other;
}
template <bool max, bool nan>
float extreme(float a, float b) {
  float d = pick<max>(a, b);  // b, where one is NaN
  if constexpr (nan) {
    d = a == a ? d : a;
  } else {
    d = b == b ? d : a;
  }
  return canonical(d);
}
template <bool max, bool nan, bool ftz, bool xorsign>
struct MinMax {
  static float apply(float a, float b) {
    const uint32_t sign = (std::bit_cast<uint32_t>(a) ^ std::bit_cast<uint32_t>(b)) & 0x80000000u;
    if constexpr (ftz) a = flush(a), b = flush(b);
    if constexpr (xorsign) {
      const float d = extreme<max, nan>(magnitude(a), magnitude(b));
      return d == d ? std::bit_cast<float>(std::bit_cast<uint32_t>(d) | sign) : d;
    }
    return extreme<max, nan>(a, b);
  }
};
template <bool max, bool nan, bool ftz, bool absolute>
struct MinMax3 {
  static float prepare(float x) {
    if constexpr (ftz) x = flush(x);
    return absolute ? magnitude(x) : x;
  }
  static float apply(float a, float b, float c) {
    return extreme<max, nan>(extreme<max, nan>(prepare(a), prepare(b)), prepare(c));
  }
};
template <bool max>
struct MinMaxDouble {
  static double apply(double a, double b) {
    const double d = pick<max>(a, b);
    if (b == b && a == a) return d;
    return b == b ? b : a == a ? a : quiet(b);
  }
};

template <bool max, bool nan, bool ftz>
Handler min_max(bool three, bool absolute) {
  if (three)
    return absolute ? ternary<MinMax3<max, nan, ftz, true>, float>
                    : ternary<MinMax3<max, nan, ftz, false>, float>;
  return absolute ? binary<MinMax<max, nan, ftz, true>, float> : binary<MinMax<max, nan, ftz, false>, float>;
}
template <bool max>
void decode_min_max(Decoder& decoder, ptx::Type type) {
  if (type == ptx::Type::f64) {
    operands(decoder, {type, type, type});
    return set_handler(decoder, binary<MinMaxDouble<max>, double>);
  }
  if (type != ptx::Type::f32) decoder.unsupported("not for this type");
  const bool three = decoder.operand_count() == 4;
  const bool ftz = decoder.has("ftz"), nan = decoder.has("NaN"), absolute = decoder.has("abs");
  if (decoder.has("xorsign") != absolute && !(absolute && three))
    decoder.unsupported(".xorsign goes with .abs");
  if (three && decoder.has("xorsign")) decoder.unsupported(".xorsign is for two operands");
  if (three) {
    operands(decoder, {type, type, type, type});
  } else {
    operands(decoder, {type, type, type});
  }
  set_handler(
      decoder,
      nan ? (ftz ? min_max<max, true, true>(three, absolute) : min_max<max, true, false>(three, absolute))
          : (ftz ? min_max<max, false, true>(three, absolute) : min_max<max, false, false>(three, absolute)));
}

}  // namespace

void floating_min_max(Decoder& decoder) {
  const ptx::Type type = decoder.type(0);
  if (decoder.ptx().opcode == "max") return decode_min_max<true>(decoder, type);
  decode_min_max<false>(decoder, type);
}

}  // namespace simulator
