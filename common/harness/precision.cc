#include "common/harness/precision.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "common/harness/parallel.h"

namespace ladder {
namespace {

// A number of `fraction` bits after the first, which is a whole multiple of 2^(lowest - fraction), to nearest
// even; at most `largest`.
float round_to(float value, int fraction, int lowest, float largest) {
  if (value == 0 || std::isnan(value)) return value;
  if (std::isinf(value)) return std::copysign(largest, value);
  const int exponent = std::max(std::ilogb(value), lowest);
  const float rounded =
      std::ldexp(std::nearbyint(std::ldexp(value, fraction - exponent)), exponent - fraction);
  return std::clamp(rounded, -largest, largest);
}
float round_to_e4m3(float value) {
  return round_to(value, 3, -6, 448);
}
float round_to_e2m1(float value) {
  return round_to(value, 1, 0, 6);
}

float decode(unsigned bits, int exponent_bits, int fraction_bits, int bias) {
  const int exponent = int(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = int(bits) & ((1 << fraction_bits) - 1);
  const float size =
      exponent == 0 ? std::ldexp(float(fraction), 1 - bias - fraction_bits)
                    : std::ldexp(float(fraction + (1 << fraction_bits)), exponent - bias - fraction_bits);
  return bits >> (exponent_bits + fraction_bits) & 1 ? -size : size;
}
float decode_e4m3(unsigned char byte) {
  return (byte & 0x7F) == 0x7F ? std::numeric_limits<float>::quiet_NaN() : decode(byte, 4, 3, 7);
}

}  // namespace

const char* precision_name(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return "bf16";
    case Precision::fp8:
      return "fp8";
    case Precision::mxfp8:
      return "mxfp8";
    case Precision::nvfp4:
      return "nvfp4";
  }
  return "unknown";
}

float scale_of(Precision precision, float largest) {
  if (precision == Precision::nvfp4) return round_to_e4m3(largest / 6);
  if (precision != Precision::mxfp8) return 1;
  int exponent;
  const float fraction = std::frexp(largest / 448, &exponent);  // in [0.5, 1), or 0
  if (fraction == 0.5f) --exponent;
  return std::ldexp(1.0f, fraction == 0 ? -127 : std::max(exponent, -127));
}

float rounded_element(Precision precision, float x, float scale) {
  if (scale == 0) return 0;
  return scale * (precision == Precision::nvfp4 ? round_to_e2m1(x / scale) : round_to_e4m3(x / scale));
}

float decoded_scale(Precision precision, unsigned char byte) {
  if (precision == Precision::nvfp4)
    return byte & 0x80 ? std::numeric_limits<float>::quiet_NaN() : decode_e4m3(byte);
  if (precision != Precision::mxfp8) return 1;
  return byte == 0xFF ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, byte - 127);
}

float decoded_element(Precision precision, unsigned char bits) {
  return precision == Precision::nvfp4 ? decode(bits & 0xF, 2, 1, 1) : decode_e4m3(bits);
}

void round_matrix(Precision precision, std::vector<__nv_bfloat16>& matrix, int rows, int cols,
                  bool down_columns) {
  std::uint64_t lines = rows, length = cols, line_step = cols, step = 1;
  if (down_columns) {
    std::swap(lines, length);
    std::swap(line_step, step);
  }
  const int of_precision = QuantisedLayout(precision, 1, 32).block;
  const std::uint64_t block = of_precision ? of_precision : 1;
  parallel_slices(lines, 16, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t line = begin; line < end; ++line) {
      for (std::uint64_t first = 0; first < length; first += block) {
        __nv_bfloat16* const from = &matrix[line * line_step + first * step];
        float largest = 0;
        for (std::uint64_t i = 0; i < block; ++i)
          largest = std::max(largest, std::abs(__bfloat162float(from[i * step])));
        const float scale = scale_of(precision, largest);
        for (std::uint64_t i = 0; i < block; ++i)
          from[i * step] =
              __float2bfloat16_rn(rounded_element(precision, __bfloat162float(from[i * step]), scale));
      }
    }
  });
}

}  // namespace ladder
