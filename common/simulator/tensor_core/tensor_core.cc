#include "common/simulator/tensor_core/tensor_core.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "common/simulator/numeric/halves.h"
#include "common/simulator/settings/device.h"

namespace simulator {
namespace {

// Exponents that are none. A product with a zero stays below every other, one with an infinity or NaN above.
constexpr int16_t of_zero = -2000, of_special = 9000, absent_by_special = of_absent + of_special;
constexpr int below_all = -1000;  // the largest is lower: all terms are zeros
// Largest exponents for which products, scaled terms and results are all normal f32 values.
constexpr int16_t lowest_fast = -98, highest_fast = 125;

constexpr uint32_t canonical_nan = 0x7fffffff;

#ifdef __AVX512F__
constexpr int vector_bytes = 64;
#else
constexpr int vector_bytes = 32;
#endif
typedef float Floats __attribute__((vector_size(vector_bytes)));
typedef int32_t Integers __attribute__((vector_size(vector_bytes)));
typedef uint32_t Unsigned __attribute__((vector_size(vector_bytes)));
typedef int16_t Exponents __attribute__((vector_size(vector_bytes)));
typedef int16_t ShortExponents __attribute__((vector_size(vector_bytes / 2)));  // as many as Integers
constexpr int lanes = 32, wide = vector_bytes / 4;

template <class Vector, class T>
Vector load(const T* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

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

// Where a block lies: its first k, and which of a lane's four accumulators.
struct Block {
  const RowsByLane& a;
  const ColumnsByLane& b;
  int first, upper, odd;
};

// One result by itself: the rule as it is stated in tensor_core.h, for any exponents.
float one_result(const Block& of, int terms, int lane, float c, int16_t c_exponent, int fraction, bool half) {
  int most = std::max<int>(c_exponent, -126);
  bool special = c_exponent == of_special;
  double plain = c, products[most_deep] = {};
  for (int i = 0; i < terms; ++i) {
    const int k = of.first + i;
    const int16_t one = of.a.exponent[k][of.upper][lane], other = of.b.exponent[k][of.odd][lane];
    if (one == of_absent || other == of_absent) continue;
    special |= one == of_special || other == of_special;
    most = std::max(most, one + other);
    products[i] = static_cast<double>(of.a.value[k][of.upper][lane]) *
                  static_cast<double>(of.b.value[k][of.odd][lane % 16]);
    plain += products[i];
  }
  if (special) return std::isnan(plain) ? std::bit_cast<float>(canonical_nan) : static_cast<float>(plain);
  const int scale = fraction - most;
  double sum = std::trunc(std::ldexp(static_cast<double>(c), scale));
  for (int i = 0; i < terms; ++i) sum += std::trunc(std::ldexp(products[i], scale));
  return narrow(std::ldexp(sum, -scale), half);
}

// A block of terms for one accumulator of all lanes. The products are exact in f32, and a conversion to an
// integer cuts them where they are to be cut. What is out of range comes out wrong here and is done again by
// one_result().
template <int terms>
void add_block(const Block& of, int fraction, bool half, float* result) {
  alignas(64) int16_t own[lanes], exponents[lanes], met_special[lanes];
  for (int part = 0; part < lanes; part += wide) {  // exponent_of()
    const Integers magnitude = load<Integers>(result + part) & 0x7fffffff, field = magnitude >> 23;
    const int lowest = half ? -14 : -126;
    Integers exponent = field - 127;
    exponent = exponent < lowest ? Integers{} + lowest : exponent;
    exponent = magnitude == 0 ? Integers{} + of_zero : exponent;
    exponent = field == 255 ? Integers{} + of_special : exponent;
    const ShortExponents narrowed = __builtin_convertvector(exponent, ShortExponents);
    std::memcpy(own + part, &narrowed, sizeof narrowed);
  }
  const auto* a_exponent = &of.a.exponent[of.first];
  const auto* b_exponent = &of.b.exponent[of.first];
  const int upper = of.upper, odd = of.odd;
  Exponents absent_met_special = {};  // in f32 their product is NaN
  for (int part = 0; part < lanes; part += 2 * wide) {
    Exponents most =
        load<Exponents>(a_exponent[0][upper] + part) + load<Exponents>(b_exponent[0][odd] + part);
    Exponents met = most == absent_by_special;
    for (int k = 1; k < terms; ++k) {
      const Exponents product =
          load<Exponents>(a_exponent[k][upper] + part) + load<Exponents>(b_exponent[k][odd] + part);
      most = most > product ? most : product;
      met |= product == absent_by_special;
    }
    std::memcpy(met_special + part, &met, sizeof met);
    absent_met_special |= met;
    const Exponents of_c = load<Exponents>(own + part);
    most = most > of_c ? most : of_c;
    std::memcpy(exponents + part, &most, sizeof most);
  }
  alignas(64) float scale[lanes];
  alignas(64) int32_t used[lanes];
  Integers beyond = {};
  for (int part = 0; part < lanes; part += wide) {
    const Integers exponent = __builtin_convertvector(load<ShortExponents>(exponents + part), Integers);
    Integers fast = exponent < lowest_fast ? Integers{} + lowest_fast : exponent;
    fast = fast > highest_fast ? Integers{} + highest_fast : fast;
    beyond |= exponent >= below_all ? fast ^ exponent : Integers{};
    const Integers bits = (127 + fraction - fast) << 23;
    std::memcpy(used + part, &fast, sizeof fast);
    std::memcpy(scale + part, &bits, sizeof bits);
  }
  int32_t outside = 0;
  for (int l = 0; l < wide; ++l) outside |= beyond[l];
  for (int l = 0; l < 2 * wide; ++l) outside |= absent_met_special[l];
  // The sum may need one bit more than 32: two sums.
  alignas(64) int32_t sums[2][lanes];
  const auto* a_value = &of.a.value[of.first];
  const auto* b_value = &of.b.value[of.first];
  for (int part = 0; part < lanes; part += wide) {
    const Floats scales = load<Floats>(scale + part);
    // Unsigned: where an exponent is out of range the sum wraps around, and is not used.
    Unsigned lower = (Unsigned) __builtin_convertvector(load<Floats>(result + part) * scales, Integers),
             more = {};
    for (int k = 0; k < terms; ++k) {
      const Floats product = load<Floats>(a_value[k][upper] + part) * load<Floats>(b_value[k][odd]);
      const Unsigned term = (Unsigned) __builtin_convertvector(product * scales, Integers);
      if (k < terms / 2) {
        lower += term;
      } else {
        more += term;
      }
    }
    std::memcpy(sums[0] + part, &lower, sizeof lower);
    std::memcpy(sums[1] + part, &more, sizeof more);
  }
  alignas(64) float before[lanes];
  std::memcpy(before, result, sizeof before);
  const uint64_t to_odd = half ? 1 : 0;
  for (int l = 0; l < lanes; ++l) {
    constexpr uint64_t lost = (uint64_t{1} << 29) - 1;  // bits of a double's significand that f32 lacks
    const double sum = static_cast<double>(sums[0][l]) + static_cast<double>(sums[1][l]);
    const uint64_t bits = std::bit_cast<uint64_t>(sum);
    const uint64_t sticky = (((bits & lost) + lost) & ~lost) * to_odd;
    const uint64_t weight = static_cast<uint64_t>(1023 - fraction + used[l]) << 52;
    result[l] =
        static_cast<float>(std::bit_cast<double>((bits & ~lost) | sticky) * std::bit_cast<double>(weight));
  }
  if (outside) {
    for (int l = 0; l < lanes; ++l) {
      if (!met_special[l] && (exponents[l] < below_all || exponents[l] == used[l])) continue;
      result[l] = one_result(of, terms, l, before[l], own[l], fraction, half);
    }
  }
  if (half) {
    uint16_t halves[lanes];
    narrow_f16(result, halves, lanes);
    widen_f16(halves, result, lanes);
    for (int l = 0; l < lanes; ++l) result[l] += 0.0f;  // what rounds to zero has no sign
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

void by_lane(const Factors<16>& factors, int k, RowsByLane& to) {
  // As words of two floats and of four exponents: the copies of one are a product.
  for (int i = 0; i < k; ++i) {
    for (int half = 0; half < 2; ++half) {
      uint64_t values[16], exponents[8];
      for (int row = 0; row < 8; ++row) {
        values[2 * row] = values[2 * row + 1] =
            std::bit_cast<uint32_t>(factors.value[i][half * 8 + row]) * 0x100000001ull;
        exponents[row] = static_cast<uint16_t>(factors.exponent[i][half * 8 + row]) * 0x1000100010001ull;
      }
      std::memcpy(to.value[i][half], values, sizeof values);
      std::memcpy(to.exponent[i][half], exponents, sizeof exponents);
    }
  }
}

void by_lane(const Factors<8>& factors, int k, ColumnsByLane& to) {
  for (int i = 0; i < k; ++i) {
    for (int odd = 0; odd < 2; ++odd) {
      const float* value = factors.value[i] + odd;
      const int16_t* exponent = factors.exponent[i] + odd;
      const float values[] = {value[0], value[2], value[4], value[6]};
      const int16_t exponents[] = {exponent[0], exponent[2], exponent[4], exponent[6]};
      for (int l = 0; l < 16; l += 4) std::memcpy(to.value[i][odd] + l, values, sizeof values);
      for (int l = 0; l < lanes; l += 4) std::memcpy(to.exponent[i][odd] + l, exponents, sizeof exponents);
    }
  }
}

void multiply_add(const RowsByLane& a, const ColumnsByLane& b, int k, int terms, int fraction, bool half,
                  Accumulators& c) {
  const auto add = terms == 4    ? add_block<4>
                   : terms == 8  ? add_block<8>
                   : terms == 16 ? add_block<16>
                   : terms == 32 ? add_block<32>
                                 : add_block<64>;
  for (int first = 0; first < k; first += terms) {
    for (int r = 0; r < 4; ++r) add({a, b, first, r / 2, r % 2}, fraction, half, c.value[r]);
  }
}

// In f32, which holds sums of 32 products of 8 bits, or 64 of 4, exactly.
void multiply_integers(const Factors<16>& a, const Factors<8>& b, int k, int32_t sum[8][16]) {
  for (int column = 0; column < 8; ++column) {
    for (int part = 0; part < 16; part += wide) {
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
