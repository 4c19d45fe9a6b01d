#include "common/simulator/tensor_core/tensor_core.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "common/simulator/numeric/halves.h"
#include "common/simulator/settings/device.h"

namespace simulator {
namespace {

// Exponents of values that have none. A product with a zero stays below every other, one with an infinity or
// NaN above.
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

template <class Vector>
bool any(Vector vector) {
  uint64_t words[sizeof vector / sizeof(uint64_t)], all = 0;
  std::memcpy(words, &vector, sizeof vector);
  for (const uint64_t word : words) all |= word;
  return all != 0;
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

// Terms of one k and of those behind it.
struct Block {
  const RowsByLane& a;
  const ColumnsByLane& b;
  int first;
};
constexpr int results = 4;  // that a lane has
template <class T>
struct ByLane {
  alignas(64) T of[results][lanes];
};

// One result by itself: the rule as it is stated in tensor_core.h, for any exponents.
float one_result(const Block& block, int terms, int r, int lane, float c, int16_t c_exponent, int fraction,
                 bool half) {
  int most = std::max<int>(c_exponent, -126);
  bool special = c_exponent == of_special;
  double plain = c, products[most_deep] = {};
  for (int i = 0; i < terms; ++i) {
    const int k = block.first + i;
    const int16_t one = block.a.exponent[k][r / 2][lane], other = block.b.exponent[k][r % 2][lane];
    if (one == of_absent || other == of_absent) continue;
    special |= one == of_special || other == of_special;
    most = std::max(most, one + other);
    products[i] = static_cast<double>(block.a.value[k][r / 2][lane]) *
                  static_cast<double>(block.b.value[k][r % 2][lane % 16]);
    plain += products[i];
  }
  if (special) return std::isnan(plain) ? std::bit_cast<float>(canonical_nan) : static_cast<float>(plain);
  const int scale = fraction - most;
  double sum = std::trunc(std::ldexp(static_cast<double>(c), scale));
  for (int i = 0; i < terms; ++i) sum += std::trunc(std::ldexp(products[i], scale));
  return narrow(std::ldexp(sum, -scale), half);
}

// The largest exponent of a result's products. True: some elements are absent.
template <int terms>
bool largest_exponents(const Block& block, ByLane<int16_t>& largest) {
  Exponents least[results] = {};
  for (int part = 0; part < lanes; part += 2 * wide) {
    Exponents most[results];
    for (int r = 0; r < results; ++r) most[r] = Exponents{} + of_absent;
    for (int k = block.first; k < block.first + terms; ++k) {
      for (int r = 0; r < results; ++r) {
        const Exponents product = load<Exponents>(block.a.exponent[k][r / 2] + part) +
                                  load<Exponents>(block.b.exponent[k][r % 2] + part);
        most[r] = most[r] > product ? most[r] : product;
        least[r] = least[r] < product ? least[r] : product;
      }
    }
    for (int r = 0; r < results; ++r) std::memcpy(largest.of[r] + part, &most[r], sizeof most[r]);
  }
  const Exponents absent = (least[0] <= absent_by_special) | (least[1] <= absent_by_special) |
                           (least[2] <= absent_by_special) | (least[3] <= absent_by_special);
  return any(absent);
}

// Does an element that is absent meet an infinity or NaN? In f32 their product is NaN.
bool meets_special(const Block& block, int terms, int r, int lane) {
  for (int k = block.first; k < block.first + terms; ++k) {
    if (block.a.exponent[k][r / 2][lane] + block.b.exponent[k][r % 2][lane] == absent_by_special) return true;
  }
  return false;
}
bool any_meets_special(const Block& block, int terms) {
  Exponents met = {};
  for (int k = block.first; k < block.first + terms; ++k) {
    for (int r = 0; r < results; ++r) {
      for (int part = 0; part < lanes; part += 2 * wide) {
        met |= load<Exponents>(block.a.exponent[k][r / 2] + part) +
                   load<Exponents>(block.b.exponent[k][r % 2] + part) ==
               absent_by_special;
      }
    }
  }
  return any(met);
}

// How a result's terms are aligned: to the largest exponent of its products and its accumulator.
struct Alignment {
  ByLane<int32_t> exponents, used;  // used: the nearest one for which the scale is a normal number
  ByLane<float> scales;             // what terms are multiplied by: whole numbers are left of what is kept
  bool beyond = false;              // some are not what is used
};
void align(const ByLane<int16_t>& of_products, const Accumulators& c, int lowest, int fraction,
           Alignment& to) {
  Integers beyond = {};
  for (int r = 0; r < results; ++r) {
    for (int part = 0; part < lanes; part += wide) {
      const Integers magnitude = load<Integers>(c.value[r] + part) & 0x7fffffff, field = magnitude >> 23;
      Integers own = field - 127;  // exponent_of()
      own = own < lowest ? Integers{} + lowest : own;
      own = magnitude == 0 ? Integers{} + of_zero : own;
      own = field == 255 ? Integers{} + of_special : own;
      const Integers product =
          __builtin_convertvector(load<ShortExponents>(of_products.of[r] + part), Integers);
      const Integers exponent = own > product ? own : product;
      Integers used = exponent < lowest_fast ? Integers{} + lowest_fast : exponent;
      used = used > highest_fast ? Integers{} + highest_fast : used;
      beyond |= exponent >= below_all ? used ^ exponent : Integers{};
      const Integers bits = (127 + fraction - used) << 23;
      std::memcpy(to.exponents.of[r] + part, &exponent, sizeof exponent);
      std::memcpy(to.used.of[r] + part, &used, sizeof used);
      std::memcpy(to.scales.of[r] + part, &bits, sizeof bits);
    }
  }
  to.beyond = any(beyond);
}

// The products are exact in f32, and a conversion to an integer cuts them where they are to be cut. The sum
// may need one bit more than 32: two sums. Unsigned: where an exponent is out of range they wrap around, and
// are not used.
template <int terms>
void add_terms(const Block& block, const ByLane<float>& scales, const Accumulators& c,
               ByLane<int32_t> (&sums)[2]) {
  const auto scaled = [](Floats value, Floats scale) {
    return (Unsigned) __builtin_convertvector(value * scale, Integers);
  };
  for (int part = 0; part < lanes; part += wide) {
    Floats scale[results];
    for (int r = 0; r < results; ++r) scale[r] = load<Floats>(scales.of[r] + part);
    for (int half = 0; half < 2; ++half) {
      Unsigned sum[results] = {};
      for (int r = 0; half == 0 && r < results; ++r)
        sum[r] = scaled(load<Floats>(c.value[r] + part), scale[r]);
      const int first = block.first + half * (terms / 2);
      for (int k = first; k < first + terms / 2; ++k) {
        const Floats a[2] = {load<Floats>(block.a.value[k][0] + part),
                             load<Floats>(block.a.value[k][1] + part)};
        const Floats b[2] = {load<Floats>(block.b.value[k][0]), load<Floats>(block.b.value[k][1])};
        for (int r = 0; r < results; ++r) sum[r] += scaled(a[r / 2] * b[r % 2], scale[r]);
      }
      for (int r = 0; r < results; ++r) std::memcpy(sums[half].of[r] + part, &sum[r], sizeof sum[r]);
    }
  }
}

// Toward zero; half: as narrow() does for f16.
template <bool half>
void round_sums(const ByLane<int32_t> (&sums)[2], const ByLane<int32_t>& exponents, int fraction,
                Accumulators& c) {
  constexpr uint64_t lost = (uint64_t{1} << 29) - 1;  // bits of a double's significand that f32 lacks
  for (int r = 0; r < results; ++r) {
    for (int l = 0; l < lanes; ++l) {
      const double sum = static_cast<double>(sums[0].of[r][l]) + static_cast<double>(sums[1].of[r][l]);
      const uint64_t bits = std::bit_cast<uint64_t>(sum);
      const uint64_t sticky = half ? ((bits & lost) + lost) & ~lost : 0;
      const uint64_t weight = static_cast<uint64_t>(1023 - fraction + exponents.of[r][l]) << 52;
      c.value[r][l] =
          static_cast<float>(std::bit_cast<double>((bits & ~lost) | sticky) * std::bit_cast<double>(weight));
    }
  }
}

// A block of terms for the accumulators of all lanes. What is out of range comes out wrong at first and is
// done again by one_result().
template <int terms>
void add_block(const Block& block, int fraction, bool half, Accumulators& c) {
  const int lowest = half ? -14 : -126;
  ByLane<int16_t> largest;
  const bool absent = largest_exponents<terms>(block, largest);
  Alignment alignment;
  align(largest, c, lowest, fraction, alignment);
  ByLane<int32_t> sums[2];
  add_terms<terms>(block, alignment.scales, c, sums);
  const auto round = half ? round_sums<true> : round_sums<false>;
  if (!alignment.beyond && !(absent && any_meets_special(block, terms))) {
    round(sums, alignment.used, fraction, c);
  } else {
    const Accumulators before = c;
    round(sums, alignment.used, fraction, c);
    for (int r = 0; r < results; ++r) {
      for (int l = 0; l < lanes; ++l) {
        const int32_t exponent = alignment.exponents.of[r][l];
        const bool in_range = exponent < below_all || exponent == alignment.used.of[r][l];
        if (in_range && !(absent && meets_special(block, terms, r, l))) continue;
        const float own = before.value[r][l];
        c.value[r][l] = one_result(block, terms, r, l, own, exponent_of(own, lowest), fraction, half);
      }
    }
  }
  for (int r = 0; half && r < results; ++r) {
    uint16_t halves[lanes];
    narrow_f16(c.value[r], halves, lanes);
    widen_f16(halves, c.value[r], lanes);
    for (float& value : c.value[r]) value += 0.0f;  // what rounds to zero has no sign
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
  // As words of two floats and of four exponents: a multiplication copies one into all of them.
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
  for (int first = 0; first < k; first += terms) add({a, b, first}, fraction, half, c);
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
