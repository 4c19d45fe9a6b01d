#include "common/harness/verify/precision.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "common/harness/base/parallel.h"

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
// Ties go away from zero: half of the last bit that stays is added, and what carries moves on.
float round_to_tf32(float value) {
  if (!std::isfinite(value)) return value;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000u) & 0xFFFFE000u);
}

float round_to(Number number, float value) {
  switch (number) {
    case Number::bf16:
      return __bfloat162float(__float2bfloat16_rn(value));
    case Number::f16:
      return __half2float(__float2half_rn(value));
    case Number::tf32:
      return round_to_tf32(value);
    case Number::s8:
      return std::isnan(value) ? 0 : std::clamp(std::nearbyint(value), -127.0f, 127.0f);
    case Number::e4m3:
      return round_to(value, 3, -6, 448);
    case Number::e5m2:
      return round_to(value, 2, -14, 57344);
    case Number::e2m1:
      return round_to(value, 1, 0, 6);
    case Number::fp32:
    case Number::fp64:
    case Number::s32:
      break;
  }
  return value;
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
    case Precision::f16:
      return "f16";
    case Precision::f16_f16:
      return "f16_f16";
    case Precision::tf32:
      return "tf32";
    case Precision::fp32:
      return "fp32";
    case Precision::fp64:
      return "fp64";
    case Precision::s8:
      return "s8";
    case Precision::fp8:
      return "fp8";
    case Precision::fp8_e5m2:
      return "fp8_e5m2";
    case Precision::fp8_e4m3_e5m2:
      return "fp8_e4m3_e5m2";
    case Precision::fp8_e5m2_e5m2:
      return "fp8_e5m2_e5m2";
    case Precision::fp8_tensor:
      return "fp8_tensor";
    case Precision::fp8_block:
      return "fp8_block";
    case Precision::mxfp8:
      return "mxfp8";
    case Precision::nvfp4:
      return "nvfp4";
    case Precision::bf16_s8:
      return "bf16_s8";
    case Precision::bf16_e4m3:
      return "bf16_e4m3";
    case Precision::nvfp4_blocks:
      return "nvfp4_blocks";
    case Precision::bf16_sparse:
      return "bf16_sparse";
  }
  return "unknown";
}

std::optional<Precision> precision_of(const std::string& name) {
  for (const Precision precision : all_precisions)
    if (name == precision_name(precision)) return precision;
  return {};
}

// Whether a block's scale is e4m3, and an element e2m1.
static bool is_nvfp4(Precision precision) {
  return precision == Precision::nvfp4 || precision == Precision::nvfp4_blocks;
}

float matrix_scale_of(Precision precision, float largest) {
  const float scale = precision == Precision::nvfp4 ? largest / (6 * 448) : 1;
  return scale == 0 ? 1 : scale;
}

float scale_of(Precision precision, float largest, float matrix_scale) {
  if (precision == Precision::fp8_block || precision == Precision::bf16_e4m3) return largest / 448;
  if (precision == Precision::bf16_s8) return largest / 127;
  if (precision == Precision::fp8_tensor) return largest / 448 == 0 ? 1 : largest / 448;
  if (is_nvfp4(precision)) return round_to(Number::e4m3, largest / 6 / matrix_scale) * matrix_scale;
  if (precision != Precision::mxfp8) return 1;
  int exponent;
  const float fraction = std::frexp(largest / 448, &exponent);  // in [0.5, 1), or 0
  if (fraction == 0.5f) --exponent;
  return std::ldexp(1.0f, fraction == 0 ? -127 : std::max(exponent, -127));
}

float rounded_element(Precision precision, float x, float scale) {
  return scale == 0 ? 0 : scale * round_to(format_of(precision).a, x / scale);
}

float decoded_scale(Precision precision, unsigned char byte) {
  if (is_nvfp4(precision)) return byte & 0x80 ? std::numeric_limits<float>::quiet_NaN() : decode_e4m3(byte);
  if (precision != Precision::mxfp8) return 1;
  return byte == 0xFF ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, byte - 127);
}

float decoded_element(Precision precision, unsigned char bits) {
  return is_nvfp4(precision) ? decode(bits & 0xF, 2, 1, 1) : decode_e4m3(bits);
}

// Two of every four are kept, the largest, of equal ones the first; a NaN is larger than any number. The last
// four may be fewer.
static void prune(std::span<float> row) {
  auto size = [](float x) { return std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu; };
  for (std::size_t first = 0; first < row.size(); first += 4) {
    const auto four = row.subspan(first, std::min<std::size_t>(4, row.size() - first));
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    std::stable_sort(order.begin(), order.begin() + four.size(),
                     [&](std::size_t i, std::size_t j) { return size(four[i]) > size(four[j]); });
    for (std::size_t i = 2; i < four.size(); ++i) four[order[i]] = 0;
  }
}

void round_matrix(Precision precision, Factor factor, std::vector<float>& matrix, int rows, int cols) {
  const Format format = format_of(precision);
  const bool of_b = factor == Factor::b;
  const Number number = of_b ? format.b : format.a;
  std::uint64_t lines = rows, length = cols, line_step = cols, step = 1;
  if (of_b) {
    std::swap(lines, length);
    std::swap(line_step, step);
  }
  const bool whole_line = of_b && has_scaled_columns(precision);
  const std::uint64_t block = whole_line ? length : format.block ? format.block : 1;
  const std::uint64_t abreast = of_b && precision == Precision::fp8_block ? block : 1;
  float largest_of_all = 0;
  if (precision == Precision::fp8_tensor || precision == Precision::nvfp4)
    for (const float x : matrix) largest_of_all = std::max(largest_of_all, std::abs(x));
  const float matrix_scale = matrix_scale_of(precision, largest_of_all);
  parallel_slices(
      (lines + abreast - 1) / abreast, 16, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t line = begin * abreast; line < std::min(end * abreast, lines); line += abreast) {
          const std::uint64_t last_line = std::min(line + abreast, lines);
          for (std::uint64_t first = 0; first < length; first += block) {
            const std::uint64_t last = std::min(first + block, length);
            auto for_each = [&](const auto& act) {
              for (std::uint64_t l = line; l < last_line; ++l)
                for (std::uint64_t i = first; i < last; ++i) act(matrix[l * line_step + i * step]);
            };
            const bool own = format.block || whole_line;
            float largest = own ? 0 : largest_of_all;
            if (own) for_each([&](float x) { largest = std::max(largest, std::abs(x)); });
            const float scale =
                of_b || !has_scaled_columns(precision) ? scale_of(precision, largest, matrix_scale) : 1;
            for_each([&](float& x) {
              x = precision == Precision::s8 ? round_to(number, 32 * x)
                  : scale == 0               ? 0
                                             : scale * round_to(number, x / scale);
            });
          }
          if (precision == Precision::bf16_sparse && !of_b) prune({&matrix[line * length], length});
        }
      });
}

}  // namespace ladder
