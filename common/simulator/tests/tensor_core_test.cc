// Blocks of terms, many lanes at once, against the rule of tensor_core.h for one result.
#include "common/simulator/tensor_core/tensor_core.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

namespace simulator::tests {
namespace {

constexpr int fraction = 25;

int exponent_of(float value) {
  if (value == 0) return -2000;
  return std::max(std::isfinite(value) ? std::ilogb(value) : 9000, -126);
}

float rule(const Factors<16>& a, const Factors<8>& b, int terms, int row, int column, float c) {
  int most = std::max(exponent_of(c), -126);
  bool special = !std::isfinite(c);
  double plain = c;
  for (int k = 0; k < terms; ++k) {
    if (a.exponent[k][row] == of_absent) continue;
    const float x = a.value[k][row], y = b.value[k][column];
    special |= !std::isfinite(x) || !std::isfinite(y);
    most = std::max(most, exponent_of(x) + exponent_of(y));
    plain += double{x} * double{y};
  }
  if (special) return std::isnan(plain) ? std::bit_cast<float>(0x7fffffff) : static_cast<float>(plain);
  double sum = std::trunc(std::ldexp(double{c}, fraction - most));
  for (int k = 0; k < terms; ++k) {
    if (a.exponent[k][row] == of_absent) continue;
    sum += std::trunc(std::ldexp(double{a.value[k][row]} * double{b.value[k][column]}, fraction - most));
  }
  const double exact = std::ldexp(sum, most - fraction);
  const float near = static_cast<float>(exact);
  const bool away = std::fabs(double{near}) > std::fabs(exact) && std::fabs(exact) < 0x1p128;
  return away ? std::nextafterf(near, 0.0f) : near;
}

class TensorCoreTest : public ::testing::Test {
 protected:
  enum Values { ordinary, any_bits };

  float value(Values of) {
    if (of == ordinary) return static_cast<float>(static_cast<int>(random_() % 511) - 255) / 64;
    return std::bit_cast<float>(static_cast<uint32_t>(random_()) & 0xffff0000u);  // a bf16
  }

  // How many results are not what the rule says.
  int wrong(Values of, bool absent, int terms) {
    for (int k = 0; k < terms; ++k) {
      for (int row = 0; row < 16; ++row) a_.value[k][row] = value(of);
      for (float& each : b_.value[k]) each = value(of);
    }
    measure(a_, terms, -126);
    measure(b_, terms, -126);
    for (int k = 0; absent && k < terms; ++k) {
      for (int row = 0; row < 16; ++row) {
        if (random_() % 2) continue;
        a_.value[k][row] = 0;
        a_.exponent[k][row] = of_absent;
      }
    }
    by_lane(a_, terms, *rows_);
    by_lane(b_, terms, *columns_);
    Accumulators c, before;
    for (auto& lanes : c.value) {
      for (float& each : lanes) each = random_() % 4 ? value(of) : 0;
    }
    before = c;
    multiply_add(*rows_, *columns_, terms, terms, fraction, false, c);
    int count = 0;
    for (int r = 0; r < 4; ++r) {
      for (int lane = 0; lane < 32; ++lane) {
        const float right =
            rule(a_, b_, terms, lane / 4 + r / 2 * 8, lane % 4 * 2 + r % 2, before.value[r][lane]);
        count += std::memcmp(&right, &c.value[r][lane], sizeof right) != 0;
      }
    }
    return count;
  }

  std::mt19937_64 random_{1};
  Factors<16> a_{};
  Factors<8> b_{};
  std::unique_ptr<RowsByLane> rows_ = std::make_unique<RowsByLane>();
  std::unique_ptr<ColumnsByLane> columns_ = std::make_unique<ColumnsByLane>();
};

TEST_F(TensorCoreTest, ABlockIsAddedAsTheRuleSays) {
  for (const int terms : {4, 8, 16, 32, 64}) {
    for (const bool absent : {false, true}) {
      for (int round = 0; round < 20; ++round) {
        ASSERT_EQ(wrong(ordinary, absent, terms), 0) << terms << " terms";
        ASSERT_EQ(wrong(any_bits, absent, terms), 0) << terms << " terms of any exponents";
      }
    }
  }
}

// Few infinities, so that not every result is one.
TEST_F(TensorCoreTest, AnElementThatIsAbsentMeetsNoInfinity) {
  Factors<16> a{};
  Factors<8> b{};
  for (auto& column : b.value[0]) column = INFINITY;
  for (auto& column : b.value[1]) column = 2;
  for (auto& row : a.value[1]) row = 3;
  measure(a, 4, -126);
  measure(b, 4, -126);
  for (auto& row : a.exponent[0]) row = of_absent;
  by_lane(a, 4, *rows_);
  by_lane(b, 4, *columns_);
  Accumulators c{};
  multiply_add(*rows_, *columns_, 4, 4, fraction, false, c);
  for (const auto& lanes : c.value) {
    for (const float each : lanes) ASSERT_EQ(each, 6);
  }
}

}  // namespace
}  // namespace simulator::tests
