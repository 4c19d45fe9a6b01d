// Arithmetic on floating-point values: against the hardware's results (golden/float_ops.txt), and by hand
// where the golden data has nothing (instructions of sm_100).
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/simulator/instructions/scalar/opcodes.h"
#include "common/simulator/tests/float_golden.h"

namespace simulator::tests {
namespace {

using ptx::Type;

std::vector<std::span<const Opcode>> families() {
  return {arithmetic_opcodes(), approximate_opcodes()};
}

TEST(FloatGolden, ExactInstructionsGiveTheHardwaresBits) {
  int compared = 0;
  for (const Golden& golden : read_golden()) {
    if (!golden.exact || golden.name.starts_with("cvt")) continue;
    ASSERT_NO_THROW(expect_exact(golden, families())) << golden.name;
    ++compared;
  }
  EXPECT_GE(compared, 140);
}

// ---- Approximate instructions: within the documented error of the true value, and near the hardware's.

struct Approximation {
  const char* name;  // without .ftz
  std::function<double(double, double)> truth;
  enum { ulp, relative, absolute } measure;
  double bound;  // of the documented error
};
const std::vector<Approximation>& approximations() {
  static const std::vector<Approximation> all = {
      {"rcp.approx.f32", [](double a, double) { return 1 / a; }, Approximation::ulp, 1},
      {"sqrt.approx.f32", [](double a, double) { return std::sqrt(a); }, Approximation::relative, 0x1p-23},
      {"rsqrt.approx.f32", [](double a, double) { return 1 / std::sqrt(a); }, Approximation::relative,
       0x1.13p-23},
      {"ex2.approx.f32", [](double a, double) { return std::exp2(a); }, Approximation::ulp, 2},
      {"lg2.approx.f32", [](double a, double) { return std::log2(a); }, Approximation::absolute, 0x1p-22},
      {"sin.approx.f32", [](double a, double) { return std::sin(a); }, Approximation::absolute, 0x1.6ap-21},
      {"cos.approx.f32", [](double a, double) { return std::cos(a); }, Approximation::absolute, 0x1.6ap-21},
      {"tanh.approx.f32", [](double a, double) { return std::tanh(a); }, Approximation::relative, 0x1p-11},
      {"rcp.approx.f64", [](double a, double) { return 1 / a; }, Approximation::relative, 0x1p-19},
      {"rsqrt.approx.f64", [](double a, double) { return 1 / std::sqrt(a); }, Approximation::relative,
       0x1p-19},
      {"ex2.approx.f16", [](double a, double) { return std::exp2(a); }, Approximation::relative, 0x1.12p-10},
      {"ex2.approx.bf16", [](double a, double) { return std::exp2(a); }, Approximation::relative, 0x1p-7},
      {"tanh.approx.f16", [](double a, double) { return std::tanh(a); }, Approximation::absolute, 0x1.03p-11},
      {"tanh.approx.bf16", [](double a, double) { return std::tanh(a); }, Approximation::absolute, 0x1p-8},
      {"div.approx.f32", [](double a, double b) { return a / b; }, Approximation::ulp, 2},
      {"div.full.f32", [](double a, double b) { return a / b; }, Approximation::ulp, 2},
  };
  return all;
}

// The value of the low `digits` hexadecimal digits in the format at the end of the instruction's name.
double value_of(uint64_t bits, const std::string& format) {
  if (format == "f64") return std::bit_cast<double>(bits);
  if (format == "f32") return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (format == "bf16") return std::bit_cast<float>(static_cast<uint32_t>(bits & 0xffff) << 16);
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  if (exponent == 31) magnitude = mantissa ? std::nan("") : HUGE_VAL;
  return bits >> 15 & 1 ? -magnitude : magnitude;
}

TEST(FloatGolden, ApproximateInstructionsAreWithinTheirErrors) {
  int compared = 0;
  for (Golden golden : read_golden()) {
    if (golden.exact) continue;
    const bool ftz = golden.name.find(".ftz") != std::string::npos;
    const bool packed = golden.name.ends_with("16x2");
    std::string name = golden.name;
    if (ftz) name.erase(name.find(".ftz"), 4);
    if (packed) name.resize(name.size() - 2);
    const std::string format = name.substr(name.rfind('.') + 1);
    const auto known = std::find_if(approximations().begin(), approximations().end(),
                                    [&](const Approximation& each) { return name == each.name; });
    ASSERT_NE(known, approximations().end()) << name;
    const std::vector<uint64_t> ours = simulated(golden, families(), static_cast<int>(golden.results.size()));
    for (size_t at = 0; at < ours.size() * (packed ? 2 : 1); ++at) {
      const size_t i = packed ? at / 2 : at;
      const int shift = packed && at % 2 != 0 ? 16 : 0;
      const uint64_t mask = packed ? 0xffff : ~uint64_t{0};
      const int operands = static_cast<int>(golden.kinds.size());
      const double smallest = format == "f64" ? 0x1p-1022 : 0x1p-126;  // that is normal
      const auto flushed = [&](double x) {
        return ftz && std::fabs(x) < smallest ? std::copysign(0.0, x) : x;
      };
      const auto source = [&](int n) {
        const float_ops::Kind kind = kind_named(golden.kinds[static_cast<size_t>(n)]);
        return flushed(
            value_of(float_ops::input(kind, operands, n, static_cast<int>(i)) >> shift & mask, format));
      };
      const double a = source(0), b = operands > 1 ? source(1) : 0;
      const uint64_t our_bits = ours[i] >> shift & mask, their_bits = golden.results[i] >> shift & mask;
      const double our = value_of(our_bits, format), their = value_of(their_bits, format);
      SCOPED_TRACE(inputs_text(golden, static_cast<int>(i)));
      ++compared;
      // Special values and zeroes to the bit, but for the hardware's sine, which loses arguments below 2^-24.
      const bool special = our != our || their != their || std::isinf(our) || std::isinf(their);
      if (special || (their == 0 && !name.starts_with("sin"))) {
        EXPECT_EQ(our_bits, their_bits);
        continue;
      }
      const double truth = flushed(known->truth(a, b));
      double unit = 1;
      if (known->measure == Approximation::ulp)
        unit = std::ldexp(1.0, std::max(std::ilogb(their), -126) - 23);
      if (known->measure == Approximation::relative) unit = std::fabs(truth);
      if (name.starts_with("lg2") && (a < 0.5 || a > 2)) unit = std::fabs(truth);  // relative there
      const double step = format == "f16" ? 0x1p-24 : 0;  // between subnormal results
      const double bound = std::max(known->bound * unit, step);
      const bool turning = name.starts_with("sin") || name.starts_with("cos");
      if (!turning || std::fabs(a) < 6.28) {
        EXPECT_LE(std::fabs(our - truth), bound) << "true: " << truth << ", ours: " << our;
      }
      EXPECT_LE(std::fabs(our - their), 2 * bound) << "hardware: " << their << ", ours: " << our;
    }
  }
  EXPECT_GE(compared, 4000);
}

// Far outside its documented range, too, sin follows the hardware.
TEST(FloatGolden, SinesOfLargeArgumentsAreThoseOfTheHardware) {
  for (const Golden& golden : read_golden()) {
    if (!golden.name.starts_with("sin") && !golden.name.starts_with("cos")) continue;
    const std::vector<uint64_t> ours = simulated(golden, families(), static_cast<int>(golden.results.size()));
    for (size_t i = 0; i < ours.size(); ++i) {
      const double our = value_of(ours[i], "f32"), their = value_of(golden.results[i], "f32");
      const std::string inputs = inputs_text(golden, static_cast<int>(i));
      EXPECT_EQ(our != our, their != their) << inputs;
      if (our == our) {
        EXPECT_NEAR(our, their, 0x1p-20) << inputs;
      }
    }
  }
}

// ---- One instruction by hand. T is the C++ type of all its registers.

template <class T>
constexpr Type type_of = sizeof(T) == 2   ? Type::b16
                         : sizeof(T) == 4 ? Type::b32
                                          : Type::b64;

template <class D, class... S>
D result(const std::string& name, S... sources) {
  OneWarp machine(families());
  std::vector<ptx::Operand> operands{machine.reg(type_of<D>)};
  const auto add = [&](auto source) {
    operands.push_back(machine.reg(type_of<decltype(source)>));
    machine.fill<decltype(source)>(operands.back(), [=](int) { return source; });
  };
  (add(sources), ...);
  machine.run(name, operands);
  return machine.get<D>(operands[0], 13);
}

uint64_t pair(float low, float high) {
  return std::bit_cast<uint32_t>(low) | static_cast<uint64_t>(std::bit_cast<uint32_t>(high)) << 32;
}

TEST(Floating, PairsAreTwoFloats) {
  EXPECT_EQ(result<uint64_t>("add.f32x2", pair(1, 2), pair(3, 5)), pair(4, 7));
  EXPECT_EQ(result<uint64_t>("sub.rn.f32x2", pair(1, 2), pair(3, 5)), pair(-2, -3));
  EXPECT_EQ(result<uint64_t>("mul.ftz.f32x2", pair(0x1p-140f, 3), pair(1, 5)), pair(0, 15));
  EXPECT_EQ(result<uint64_t>("mul.f32x2", pair(0x1p-140f, 3), pair(1, 5)), pair(0x1p-140f, 15));
  EXPECT_EQ(result<uint64_t>("fma.rn.f32x2", pair(2, 3), pair(5, 7), pair(1, -1)), pair(11, 20));
  EXPECT_EQ(result<uint64_t>("fma.rp.f32x2", pair(1, 3), pair(1, 7), pair(0x1p-30f, -1)),
            pair(1 + 0x1p-23f, 20));
  EXPECT_EQ(result<uint64_t>("add.rm.ftz.f32x2", pair(1, -0x1p-130f), pair(-0x1p-30f, 0)),
            pair(1 - 0x1p-24f, -0.0f));
  EXPECT_EQ(result<uint64_t>("add.f32x2", pair(HUGE_VALF, 0), pair(-HUGE_VALF, 1)), 0x3f8000007fffffffu);
}

TEST(Floating, MinAndMaxOfThree) {
  const float nan = std::bit_cast<float>(0xffc00001u);
  EXPECT_EQ(result<float>("min.f32", 3.0f, 1.0f, 2.0f), 1.0f);
  EXPECT_EQ(result<float>("max.f32", 3.0f, nan, -2.0f), 3.0f);
  EXPECT_EQ(result<float>("min.abs.f32", -3.0f, -1.0f, 2.0f), 1.0f);
  EXPECT_EQ(result<uint32_t>("max.NaN.f32", 3.0f, 7.0f, nan), 0x7fffffffu);
  EXPECT_EQ(result<uint32_t>("max.NaN.f32", nan, 7.0f, 3.0f), 0x7fffffffu);
  EXPECT_EQ(result<uint32_t>("max.f32", nan, nan, nan), 0x7fffffffu);
  EXPECT_EQ(result<uint32_t>("min.f32", 0.0f, -0.0f, 0.0f), 0x80000000u);
  EXPECT_EQ(result<uint32_t>("max.ftz.f32", -0.0f, -0x1p-140f, -1.0f), 0x80000000u);
}

TEST(Floating, HalvesMixWithF32) {
  const uint16_t bf16_three = 0x4040, f16_three = 0x4200, f16_tiny = 0x0001;  // 2^-24
  EXPECT_EQ(result<float>("add.f32.bf16", bf16_three, 0.5f), 3.5f);
  EXPECT_EQ(result<float>("sub.f32.f16", f16_three, 0.5f), 2.5f);
  EXPECT_EQ(result<float>("fma.rn.f32.bf16", bf16_three, bf16_three, 1.0f), 10.0f);
  EXPECT_EQ(result<float>("fma.rz.f32.f16", f16_three, f16_tiny, -1.0f), -1 + 0x1.8p-23f);
  EXPECT_EQ(result<float>("add.rp.f32.f16", f16_tiny, 1.0f), 1 + 0x1p-23f);
  EXPECT_EQ(result<float>("add.sat.f32.f16", f16_three, 1.0f), 1.0f);
}

TEST(Floating, ContractionNeverHappensOnItsOwn) {
  const float a = 1 + 0x1p-12f;
  const float product = result<float>("mul.f32", a, a);
  EXPECT_EQ(product, 1 + 0x1p-11f);  // 2^-24 is lost
  EXPECT_EQ(result<float>("add.f32", product, -(1 + 0x1p-11f)), 0.0f);
  EXPECT_EQ(result<float>("fma.rn.f32", a, a, -(1 + 0x1p-11f)), 0x1p-24f);
}

// 1.0078125 · 1.5 is halfway between two bf16; what is added decides, however small it is.
TEST(Floating, HalfFmaRoundsOnce) {
  const uint16_t a = 0x3f81, b = 0x3fc0, tiny = 0x0001, minus_tiny = 0x8001;
  EXPECT_EQ(result<uint16_t>("fma.rn.bf16", a, b, uint16_t{0}), 0x3fc2);
  EXPECT_EQ(result<uint16_t>("fma.rn.bf16", a, b, minus_tiny), 0x3fc1);
  EXPECT_EQ(result<uint16_t>("fma.rn.bf16", a, b, tiny), 0x3fc2);
  // The same for f16: (1 + 2^-10) · 1.5, and multiples of 2^-24.
  const uint16_t c = 0x3c01, d = 0x3e00;
  EXPECT_EQ(result<uint16_t>("fma.rn.f16", c, d, uint16_t{0}), 0x3e02);
  EXPECT_EQ(result<uint16_t>("fma.rn.f16", c, d, minus_tiny), 0x3e01);
}

TEST(Floating, UnknownModifiersAndTypesAreRefused) {
  OneWarp machine(families());
  const auto r = machine.reg(Type::b32), h = machine.reg(Type::b16), l = machine.reg(Type::b64);
  EXPECT_TRUE(machine.supports("add.f32", {r, r, r}));
  EXPECT_FALSE(machine.supports("add.f32", {r, r, h}));
  EXPECT_FALSE(machine.supports("add.f32", {r, r}));
  EXPECT_FALSE(machine.supports("add.rna.f32", {r, r, r}));
  EXPECT_FALSE(machine.supports("add.relu.f32", {r, r, r}));
  EXPECT_FALSE(machine.supports("add.ftz.f64", {l, l, l}));
  EXPECT_FALSE(machine.supports("add.sat.f32x2", {l, l, l}));
  EXPECT_FALSE(machine.supports("fma.f32", {r, r, r, r}));  // its rounding mode is not optional
  EXPECT_FALSE(machine.supports("div.f32", {r, r, r}));
  EXPECT_FALSE(machine.supports("min.abs.f32", {r, r, r}));
  EXPECT_FALSE(machine.supports("min.NaN.f64", {l, l, l}));
  EXPECT_FALSE(machine.supports("fma.rn.oob.f16", {h, h, h, h}));
  EXPECT_FALSE(machine.supports("fma.rz.f16", {h, h, h, h}));
  EXPECT_FALSE(machine.supports("add.ftz.bf16", {h, h, h}));
  EXPECT_FALSE(machine.supports("add.f16x2", {h, h, h}));
  EXPECT_FALSE(machine.supports("div.rn.f16", {h, h, h}));
  EXPECT_FALSE(machine.supports("ex2.f32", {r, r}));
  EXPECT_FALSE(machine.supports("ex2.approx.f64", {l, l}));
  EXPECT_FALSE(machine.supports("ex2.approx.bf16", {h, h}));
  EXPECT_FALSE(machine.supports("tanh.approx.ftz.f32", {r, r}));
  EXPECT_FALSE(machine.supports("sqrt.approx.f64", {l, l}));
  EXPECT_FALSE(machine.supports("rcp.f32", {r, r}));
}

}  // namespace
}  // namespace simulator::tests
