// cvt: against the hardware's results (golden/float_ops.txt), and against a search of all codes for the small
// formats.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "common/simulator/instructions/scalar/opcodes.h"
#include "common/simulator/tests/float_golden.h"

namespace simulator::tests {
namespace {

using ptx::Type;

TEST(ConvertGolden, GivesTheHardwaresBits) {
  int compared = 0;
  for (const Golden& golden : read_golden()) {
    if (!golden.name.starts_with("cvt")) continue;
    ASSERT_NO_THROW(expect_exact(golden, {convert_opcodes()})) << golden.name;
    ++compared;
  }
  EXPECT_GE(compared, 330);
}

// d of one conversion; registers of the types given.
uint64_t convert(const std::string& name, Type to, Type from, uint64_t a) {
  OneWarp machine({convert_opcodes()});
  const auto d = machine.reg(to), s = machine.reg(from);
  put(machine, s, from, 5, a);
  machine.run(name, {d, s});
  return take(machine, d, to, 5);
}
uint64_t convert(const std::string& name, Type to, float a, float b) {
  OneWarp machine({convert_opcodes()});
  const auto d = machine.reg(to), x = machine.reg(Type::f32), y = machine.reg(Type::f32);
  machine.fill<float>(x, [=](int) { return a; });
  machine.fill<float>(y, [=](int) { return b; });
  machine.run(name, {d, x, y});
  return to == Type::b8 ? machine.get<uint16_t>(d, 5) : take(machine, d, to, 5);
}

TEST(Convert, WiderRegistersAreCutAndExtended) {
  EXPECT_EQ(convert("cvt.s8.s32", Type::b64, Type::b32, 0x12345680), 0xffffffffffffff80u);
  EXPECT_EQ(convert("cvt.u8.s32", Type::b64, Type::b32, 0x12345680), 0x80u);
  EXPECT_EQ(convert("cvt.s32.s8", Type::b32, Type::b64, 0x1234567890abcdf0), 0xfffffff0u);
  EXPECT_EQ(convert("cvt.u16.s8", Type::b32, Type::b16, 0x12ff),
            0xffffu);  // to 16 bits signed, on to 32 unsigned
  EXPECT_EQ(convert("cvt.s16.u8", Type::b32, Type::b16, 0x12ff), 0xffu);
  EXPECT_EQ(convert("cvt.s64.u32", Type::b64, Type::b32, 0xffffffff), 0xffffffffu);
  EXPECT_EQ(convert("cvt.rn.f16.f32", Type::b32, Type::b32, std::bit_cast<uint32_t>(-1.0f)), 0xbc00u);
  EXPECT_EQ(convert("cvt.f32.f16", Type::b32, Type::b32, 0xffff3c00), std::bit_cast<uint32_t>(1.0f));
  EXPECT_EQ(convert("cvt.rzi.s8.f32", Type::b64, Type::b32, std::bit_cast<uint32_t>(-3.5f)),
            0xfffffffffffffffdu);
}

// ---- The small formats: every value, and the nearest one by search.

struct Small {
  std::string name;
  int exponent_bits, mantissa_bits, codes;  // without the sign; finite ones
  Type packed;                              // register of a pair
};
const Small smalls[] = {{"e4m3x2", 4, 3, 127, Type::b16},
                        {"e5m2x2", 5, 2, 124, Type::b16},
                        {"e2m1x2", 2, 1, 8, Type::b8},
                        {"e2m3x2", 2, 3, 32, Type::b16},
                        {"e3m2x2", 3, 2, 32, Type::b16}};

double value(const Small& format, int code) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1, steps = 1 << format.mantissa_bits;
  const int exponent = code / steps, mantissa = code % steps;
  if (exponent == 0) return std::ldexp(mantissa, 1 - bias - format.mantissa_bits);
  return std::ldexp(steps + mantissa, exponent - bias - format.mantissa_bits);
}
int nearest(const Small& format, double x) {
  int best = 0;
  for (int code = 1; code < format.codes; ++code) {
    const double distance = std::fabs(value(format, code) - x), before = std::fabs(value(format, best) - x);
    if (distance < before || (distance == before && code % 2 == 0)) best = code;
  }
  return best;
}

TEST(Convert, SmallFormatsRoundToTheNearestValue) {
  for (const Small& format : smalls) {
    const int sign_at = format.exponent_bits + format.mantissa_bits, field = format.name == "e2m1x2" ? 4 : 8;
    for (int i = 0; i < 2000; ++i) {
      const float x = std::ldexp(
          static_cast<float>(float_ops::mix(static_cast<uint64_t>(i)) >> (40 + i % 14)), i % 30 - 24);
      const uint64_t low = static_cast<uint64_t>(nearest(format, static_cast<double>(x)));
      const uint64_t high = low | uint64_t{1} << sign_at;
      ASSERT_EQ(convert("cvt.rn.satfinite." + format.name + ".f32", format.packed, -x, x),
                high << field | low)
          << format.name << " of " << x;
      ASSERT_EQ(convert("cvt.rn.satfinite.relu." + format.name + ".f32", format.packed, -x, x), low)
          << format.name << " of " << x;
    }
  }
}
TEST(Convert, SmallFormatsWidenExactly) {
  for (const Small& format : smalls) {
    const int sign_at = format.exponent_bits + format.mantissa_bits, field = format.name == "e2m1x2" ? 4 : 8;
    for (int code = 0; code < format.codes; ++code) {
      OneWarp machine({convert_opcodes()});
      const auto d = machine.reg(Type::b32), a = machine.reg(format.packed),
                 back = machine.reg(format.packed);
      const int both = (code | 1 << sign_at) << field | code;  // the upper value is negative
      machine.fill<uint16_t>(a, [=](int) { return both; });
      machine.run("cvt.rn.f16x2." + format.name, {d, a});
      const uint32_t halves = machine.get<uint32_t>(d, 5);
      const auto half = static_cast<float>(value(format, code));
      EXPECT_EQ(convert("cvt.f32.f16", Type::b32, Type::b16, halves & 0xffff), std::bit_cast<uint32_t>(half))
          << format.name << " " << code;
      EXPECT_EQ(convert("cvt.f32.f16", Type::b32, Type::b16, halves >> 16), std::bit_cast<uint32_t>(-half));
      machine.run("cvt.rn.satfinite." + format.name + ".f16x2", {back, d});
      EXPECT_EQ(machine.get<uint16_t>(back, 5), both);
      machine.run("cvt.rn.relu.f16x2." + format.name, {d, a});
      EXPECT_EQ(machine.get<uint32_t>(d, 5), halves & 0xffff);
    }
  }
}
TEST(Convert, SmallFormatsSaturate) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  EXPECT_EQ(convert("cvt.rn.satfinite.e2m1x2.f32", Type::b8, -infinity, nan), 0xf7u);
  EXPECT_EQ(convert("cvt.rn.satfinite.e2m3x2.f32", Type::b16, -1000.0f, nan), 0x3f1fu);
  EXPECT_EQ(convert("cvt.rn.satfinite.e3m2x2.f32", Type::b16, 28.1f, -infinity), 0x1f3fu);
}

// Random bits carry into the value for as many of their settings as its fraction of a step says.
TEST(Convert, StochasticRounding) {
  struct Form {
    std::string name;
    Type packed;
    int count, field, random;  // values; bits of each; random bits of each
    float x, step;             // what the upper neighbour has more than the lower one
    int shift[4];              // where the random bits of each value begin
  };
  // x has at least eight leading bits of its fraction of a step that are not 0.
  const Form forms[] = {{"f16x2", Type::b32, 2, 16, 13, 1.0f + 0x1.57p-11f, 0x1p-10f, {16, 0}},
                        {"bf16x2", Type::b32, 2, 16, 16, 1.0f + 0x1.57p-8f, 0x1p-7f, {16, 0}},
                        {"e4m3x4", Type::b32, 4, 8, 16, 1.0f + 0x1.57p-4f, 0x1p-3f, {16, 16, 0, 0}},
                        {"e5m2x4", Type::b32, 4, 8, 16, 0x1.57p-17f, 0x1p-16f, {16, 16, 0, 0}},  // subnormal
                        {"e2m3x4", Type::b32, 4, 8, 16, 2.0f + 0x1.57p-3f, 0x1p-2f, {16, 16, 0, 0}},
                        {"e3m2x4", Type::b32, 4, 8, 16, 1.0f + 0x1.57p-3f, 0x1p-2f, {16, 16, 0, 0}},
                        {"e2m1x4", Type::b16, 4, 4, 8, 2.0f + 0x1.57p-1f, 0x1p0f, {24, 8, 16, 0}}};
  for (const Form& form : forms) {
    for (int place = 0; place < form.count; ++place) {
      OneWarp machine({convert_opcodes()});
      const auto d = machine.reg(form.packed), random = machine.reg(Type::b32);
      std::vector<ptx::Operand> values;
      for (int i = 0; i < form.count; ++i) {
        values.push_back(machine.reg(Type::f32));
        machine.fill<float>(values.back(), [&](int) { return i == place ? -form.x : 0.0f; });
      }
      ptx::Operand vector;
      vector.kind = ptx::Operand::Kind::vector;
      vector.elements = values;
      const std::vector<ptx::Operand> all =
          form.count == 4 ? std::vector{d, vector, random} : std::vector{d, values[0], values[1], random};
      const int settings = 1 << form.random;
      std::map<uint32_t, int> results;
      for (int begin = 0; begin < settings; begin += 32) {
        machine.fill<uint32_t>(random, [&](int lane) {  // all other random bits are ones
          const uint32_t mask = static_cast<uint32_t>(settings - 1) << form.shift[place];
          return ~mask | static_cast<uint32_t>(begin + lane) << form.shift[place];
        });
        machine.run("cvt.rs.satfinite." + form.name + ".f32", all);
        for (int lane = 0; lane < 32; ++lane) {
          const uint32_t result =
              form.packed == Type::b16 ? machine.get<uint16_t>(d, lane) : machine.get<uint32_t>(d, lane);
          const uint32_t one = result >> (form.count - 1 - place) * form.field;
          ++results[one];
          EXPECT_EQ(one << (form.count - 1 - place) * form.field, result)
              << form.name << ": zeroes stay zero";
        }
      }
      const float fraction = std::fmod(form.x, form.step) / form.step;
      ASSERT_EQ(results.size(), 2u) << form.name;
      EXPECT_EQ(results.rbegin()->first, results.begin()->first + 1) << form.name << ": neighbours";
      EXPECT_EQ(results.rbegin()->second, static_cast<int>(fraction * static_cast<float>(settings)))
          << form.name << " " << place;
    }
  }
  const auto ends = [](const std::string& name, float a, float b) {
    OneWarp machine({convert_opcodes()});
    const auto d = machine.reg(Type::b32), x = machine.reg(Type::f32), y = machine.reg(Type::f32),
               random = machine.reg(Type::b32);
    machine.fill<float>(x, [=](int) { return a; });
    machine.fill<float>(y, [=](int) { return b; });
    machine.fill<uint32_t>(random, [=](int) { return ~0u; });
    machine.run("cvt.rs." + name + ".f32", {d, x, y, random});
    return machine.get<uint32_t>(d, 0);
  };
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  EXPECT_EQ(ends("bf16x2", infinity, nan), 0x7f807fffu);
  EXPECT_EQ(ends("bf16x2", 0x1.fffffep127f, -1.0f), 0x7f80bf80u);
  EXPECT_EQ(ends("satfinite.bf16x2", 0x1.fffffep127f, -infinity), 0x7f7fff7fu);
  EXPECT_EQ(ends("relu.f16x2", -1.5f, 0x1p-149f), 0u) << "too small for any carry";
}

TEST(Convert, PowersOfTwo) {
  const auto both = [](const std::string& rounding, float a) {
    return convert("cvt." + rounding + ".ue8m0x2.f32", Type::b16, a, 1.0f);
  };
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(both("rz", 3.9f), 0x807fu);
  EXPECT_EQ(both("rp", 2.0f), 0x807fu);
  EXPECT_EQ(both("rp", 2.1f), 0x817fu);
  EXPECT_EQ(both("rz", 0.0f), 0x007fu);
  EXPECT_EQ(both("rp", 0x1p-127f), 0x007fu);
  EXPECT_EQ(both("rp", 0x1.1p-127f), 0x017fu);
  EXPECT_EQ(both("rz", infinity), 0xff7fu);
  EXPECT_EQ(both("rz.satfinite", infinity), 0xfe7fu);
  EXPECT_EQ(both("rp.satfinite", 0x1.8p127f), 0xfe7fu);
  EXPECT_EQ(both("rp.satfinite", std::nanf("")), 0xff7fu);
  EXPECT_EQ(convert("cvt.rp.ue8m0x2.bf16x2", Type::b16, Type::b32, 0x40403f80), 0x817fu);
  EXPECT_EQ(convert("cvt.rn.bf16x2.ue8m0x2", Type::b32, Type::b16, 0x8100), 0x40800040u);
  EXPECT_EQ(convert("cvt.rn.bf16x2.ue8m0x2", Type::b32, Type::b16, 0xff7f), 0x7fff3f80u);
}

TEST(Convert, UnknownModifiersAndTypesAreRefused) {
  OneWarp machine({convert_opcodes()});
  const auto r = machine.reg(Type::b32), h = machine.reg(Type::b16), l = machine.reg(Type::b64),
             p = machine.reg(Type::pred);
  EXPECT_TRUE(machine.supports("cvt.rn.f32.s32", {r, r}));
  EXPECT_FALSE(machine.supports("cvt.f32.s32", {r, r}));  // without rounding
  EXPECT_FALSE(machine.supports("cvt.s32.f32", {r, r}));
  EXPECT_FALSE(machine.supports("cvt.rn.s32.f32", {r, r}));
  EXPECT_FALSE(machine.supports("cvt.f32.f64", {r, l}));
  EXPECT_FALSE(machine.supports("cvt.u32.u64", {h, l}));  // register too narrow
  EXPECT_FALSE(machine.supports("cvt.u32.u64", {r, r}));
  EXPECT_FALSE(machine.supports("cvt.u32.u32", {r, p}));
  EXPECT_TRUE(machine.supports("cvt.rs.f16x2.f32", {r, r, r, r}));
  EXPECT_FALSE(machine.supports("cvt.rs.f16x2.f32", {r, r, r}));  // without random bits
  EXPECT_FALSE(machine.supports("cvt.rs.f16.f32", {h, r, r}));
  EXPECT_FALSE(machine.supports("cvt.rn.e4m3x2.f32", {h, r, r}));  // .satfinite is a must
  EXPECT_FALSE(machine.supports("cvt.rz.satfinite.e4m3x2.f32", {h, r, r}));
  EXPECT_FALSE(machine.supports("cvt.rn.satfinite.e4m3x4.f32", {r, r, r}));
  EXPECT_FALSE(machine.supports("cvt.rn.satfinite.s2f6x2.f32", {h, r, r}));
  EXPECT_FALSE(machine.supports("cvt.rn.relu.f32.f64", {r, l}));
  EXPECT_FALSE(machine.supports("cvt.rna.f16.f32", {h, r}));
  EXPECT_FALSE(machine.supports("cvt.ftz.f64.f16", {l, h}));
  EXPECT_FALSE(machine.supports("cvt.pack.u16.s32", {r, r, r}));
  EXPECT_FALSE(machine.supports("cvt.pack.sat.u8.s32", {r, r, r}));
  EXPECT_FALSE(machine.supports("cvt.rn.noftz.f16.f32", {h, r}));
}

}  // namespace
}  // namespace simulator::tests
