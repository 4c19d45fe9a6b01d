#include "common/simulator/execution/tensor_core.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "common/simulator/device.h"
#include "common/simulator/execution/halves.h"

namespace simulator {
namespace {

// Exponents that are none. A product with a zero stays below every other, one with an infinity or NaN above.
constexpr int16_t of_zero = -2000, of_special = 9000;
constexpr int below_all = -1000;  // the largest is lower: all terms are zeros
// Largest exponents for which products, scaled terms and results are all normal f32 values.
constexpr int16_t lowest_fast = -98, highest_fast = 125;

constexpr uint32_t canonical_nan = 0x7fffffff;

typedef float Floats __attribute__((vector_size(32)));
typedef int32_t Integers __attribute__((vector_size(32)));
typedef int16_t Exponents __attribute__((vector_size(32)));

int16_t exponent_of(float value, int lowest) {
  const uint32_t magnitude = std::bit_cast<uint32_t>(value) & 0x7fffffffu;
  const int field = static_cast<int>(magnitude >> 23);
  const int finite = magnitude == 0 ? of_zero : std::max(field - 127, lowest);
  return static_cast<int16_t>(field == 255 ? of_special : finite);
}

// Toward zero; odd: the last bit is set where anything was lost, so that rounding again to fewer bits is
// right.
float narrow(double exact, bool odd) {
  float near = static_cast<float>(exact);
  if (std::fabs(static_cast<double>(near)) > std::fabs(exact) && std::fabs(exact) < 0x1p128) {
    near = std::nextafterf(near, 0.0f);
  }
  if (odd && static_cast<double>(near) != exact && !std::isinf(near)) {
    near = std::bit_cast<float>(std::bit_cast<uint32_t>(near) | 1);
  }
  return near;
}

// One result by itself: the rule as it is stated in tensor_core.h, for any exponents.
float one_result(const Factors<16>& a, const Factors<8>& b, int first, int terms, int row, int column,
                 float c, int16_t c_exponent, int fraction, bool half) {
  int most = std::max<int>(c_exponent, -126);
  bool special = c_exponent == of_special;
  double plain = c;
  for (int k = first; k < first + terms; ++k) {
    const int16_t one = a.exponent[k][row], other = b.exponent[k][column];
    special |= one == of_special || other == of_special;
    most = std::max(most, one + other);
    plain += static_cast<double>(a.value[k][row]) * static_cast<double>(b.value[k][column]);
  }
  if (special) return std::isnan(plain) ? std::bit_cast<float>(canonical_nan) : static_cast<float>(plain);
  const int scale = fraction - most;
  double sum = std::trunc(std::ldexp(static_cast<double>(c), scale));
  for (int k = first; k < first + terms; ++k) {
    const double product = static_cast<double>(a.value[k][row]) * static_cast<double>(b.value[k][column]);
    sum += std::trunc(std::ldexp(product, scale));
  }
  return narrow(std::ldexp(sum, -scale), half);
}

// A block of terms for one column of results at a time, 16 rows. The products are exact in f32, and a
// conversion to an integer cuts them where they are to be cut. What is out of range comes out wrong here and
// is done again by one_result().
template <int terms>
void add_block(const Factors<16>& a, const Factors<8>& b, int first, int fraction, bool half,
               Accumulators& c) {
  for (int column = 0; column < 8; ++column) {
    float* result = c.value[column];
    alignas(32) int16_t exponents[16];
    for (int row = 0; row < 16; ++row) exponents[row] = exponent_of(result[row], half ? -14 : -126);
    alignas(32) int16_t own[16];
    std::memcpy(own, exponents, sizeof own);
    Exponents most;
    std::memcpy(&most, exponents, sizeof most);
    for (int k = first; k < first + terms; ++k) {
      Exponents product;
      std::memcpy(&product, a.exponent[k], sizeof product);
      product += b.exponent[k][column];
      most = most > product ? most : product;
    }
    std::memcpy(exponents, &most, sizeof most);
    alignas(32) float scale[16];
    int32_t used[16], outside = 0;
    for (int row = 0; row < 16; ++row) {
      const int32_t exponent = exponents[row];
      used[row] = std::clamp<int32_t>(exponent, lowest_fast, highest_fast);
      outside |= used[row] ^ (exponent < below_all ? lowest_fast : exponent);
      scale[row] = std::bit_cast<float>((127 + fraction - used[row]) << 23);
    }
    // The sum may need one bit more than 32: two sums.
    alignas(32) int32_t sums[2][16];
    for (int part = 0; part < 2; ++part) {
      Floats scales, value;
      std::memcpy(&scales, scale + 8 * part, sizeof scales);
      std::memcpy(&value, result + 8 * part, sizeof value);
      Integers lower = __builtin_convertvector(value * scales, Integers), upper = {};
      for (int k = 0; k < terms; ++k) {
        std::memcpy(&value, a.value[first + k] + 8 * part, sizeof value);
        const Integers term = __builtin_convertvector(value * b.value[first + k][column] * scales, Integers);
        if (k < terms / 2) {
          lower += term;
        } else {
          upper += term;
        }
      }
      std::memcpy(sums[0] + 8 * part, &lower, sizeof lower);
      std::memcpy(sums[1] + 8 * part, &upper, sizeof upper);
    }
    alignas(32) float before[16];
    std::memcpy(before, result, sizeof before);
    const uint64_t odd = half ? 1 : 0;
    for (int row = 0; row < 16; ++row) {
      constexpr uint64_t lost = (uint64_t{1} << 29) - 1;  // bits of a double's significand that f32 lacks
      const double sum = static_cast<double>(sums[0][row]) + static_cast<double>(sums[1][row]);
      const uint64_t bits = std::bit_cast<uint64_t>(sum);
      const uint64_t sticky = (((bits & lost) + lost) & ~lost) * odd;
      const uint64_t weight = static_cast<uint64_t>(1023 - fraction + used[row]) << 52;
      result[row] =
          static_cast<float>(std::bit_cast<double>((bits & ~lost) | sticky) * std::bit_cast<double>(weight));
    }
    if (outside) {
      for (int row = 0; row < 16; ++row) {
        if (exponents[row] < below_all || exponents[row] == used[row]) continue;
        result[row] = one_result(a, b, first, terms, row, column, before[row], own[row], fraction, half);
      }
    }
    if (half) {
      uint16_t halves[16];
      narrow_f16(result, halves, 16);
      widen_f16(halves, result, 16);
      for (int row = 0; row < 16; ++row) result[row] += 0.0f;  // what rounds to zero has no sign
    }
  }
}

}  // namespace

const TensorCore& tensor_core() {
  static constexpr TensorCore ampere{24, 16}, hopper{25, 32};
  return device().major < 9 ? ampere : hopper;
}

template <int across>
void measure(Factors<across>& factors, int k, int lowest) {
  for (int i = 0; i < k; ++i) {
    for (int j = 0; j < across; ++j) factors.exponent[i][j] = exponent_of(factors.value[i][j], lowest);
  }
}
template void measure(Factors<16>&, int, int);
template void measure(Factors<8>&, int, int);

void multiply_add(const Factors<16>& a, const Factors<8>& b, int k, int terms, int fraction, bool half,
                  Accumulators& c) {
  for (int first = 0; first < k; first += terms) {
    switch (terms) {
      case 4:
        add_block<4>(a, b, first, fraction, half, c);
        break;
      case 8:
        add_block<8>(a, b, first, fraction, half, c);
        break;
      case 16:
        add_block<16>(a, b, first, fraction, half, c);
        break;
      case 32:
        add_block<32>(a, b, first, fraction, half, c);
        break;
      default:
        add_block<64>(a, b, first, fraction, half, c);
    }
  }
}

// In f32, which holds sums of 32 products of 8 bits, or 64 of 4, exactly.
void multiply_integers(const Factors<16>& a, const Factors<8>& b, int k, int32_t sum[8][16]) {
  for (int column = 0; column < 8; ++column) {
    for (int part = 0; part < 16; part += 8) {
      Floats total = {};
      for (int i = 0; i < k; ++i) {
        Floats value;
        std::memcpy(&value, a.value[i] + part, sizeof value);
        total += value * b.value[i][column];
      }
      const Integers whole = __builtin_convertvector(total, Integers);
      std::memcpy(sum[column] + part, &whole, sizeof whole);
    }
  }
}

}  // namespace simulator
