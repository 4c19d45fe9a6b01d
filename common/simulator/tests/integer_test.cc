// Integer arithmetic against references in 128 bits: arithmetic.cc, extended.cc, packed.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/simulator/instructions/scalar/opcodes.h"
#include "common/simulator/tests/decode_fixture.h"
#include "common/simulator/tests/lanewise.h"

namespace simulator::tests::integer {
namespace {

using ptx::Type;
using Values = std::vector<uint64_t>;
__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

struct Integer {
  std::string name;
  Type type;
  int bits;
  bool is_signed;

  int128 value(uint64_t raw) const {
    return is_signed ? int128{sign_extended(raw, bits)} : static_cast<int128>(low_bits(raw, bits));
  }
};
const std::vector<Integer> integers{{"u16", Type::u16, 16, false}, {"s16", Type::s16, 16, true},
                                    {"u32", Type::u32, 32, false}, {"s32", Type::s32, 32, true},
                                    {"u64", Type::u64, 64, false}, {"s64", Type::s64, 64, true}};
const Integer& s32 = integers[3];

Type of_bits(int bits) {
  return bits == 16 ? Type::b16 : bits == 32 ? Type::b32 : Type::b64;
}
uint64_t raw(int128 value) {
  return static_cast<uint64_t>(value);
}
int128 saturated(int128 value) {
  return std::clamp<int128>(value, INT32_MIN, INT32_MAX);
}
int128 magnitude(int128 value) {
  return value < 0 ? -value : value;
}

std::vector<std::span<const Opcode>> family() {
  return {arithmetic_opcodes()};
}
void check(const std::string& name, Type result, const std::vector<Type>& types, const Reference& reference) {
  check_lanes(family(), name, result, types, reference);
}

// Two operands and a result of one type.
void check_binary(const std::string& name, const Integer& t, int128 (*f)(int128, int128)) {
  check(name + "." + t.name, t.type, {t.type, t.type},
        [&](const Values& v) { return raw(f(t.value(v[0]), t.value(v[1]))); });
}
// On both 16-bit halves.
void check_halves(const std::string& name, bool is_signed, int128 (*f)(int128, int128)) {
  const Integer& half = integers[is_signed];
  check(name, Type::b32, {Type::b32, Type::b32}, [&](const Values& v) {
    const uint64_t low = raw(f(half.value(v[0]), half.value(v[1]))) & 0xffff;
    const uint64_t high = raw(f(half.value(v[0] >> 16), half.value(v[1] >> 16))) & 0xffff;
    return high << 16 | low;
  });
}

bool supported(const std::string& name, const std::vector<Type>& types) {
  OneWarp machine(family());
  std::vector<ptx::Operand> operands;
  for (const Type type : types) operands.push_back(machine.reg(type));
  return machine.supports(name, operands);
}

TEST(Integer, AddSubtract) {
  for (const Integer& t : integers) {
    check_binary("add", t, [](int128 a, int128 b) { return a + b; });
    check_binary("sub", t, [](int128 a, int128 b) { return a - b; });
  }
  check_binary("add.sat", s32, [](int128 a, int128 b) { return saturated(a + b); });
  check_binary("sub.sat", s32, [](int128 a, int128 b) { return saturated(a - b); });
  check_halves("add.u16x2", false, [](int128 a, int128 b) { return a + b; });
  check_halves("sub.s16x2", true, [](int128 a, int128 b) { return a - b; });
}

TEST(Integer, MinMaxAbsNeg) {
  for (const Integer& t : integers) {
    check_binary("min", t, [](int128 a, int128 b) { return std::min(a, b); });
    check_binary("max", t, [](int128 a, int128 b) { return std::max(a, b); });
    if (!t.is_signed) continue;
    check("abs." + t.name, t.type, {t.type}, [&](const Values& v) { return raw(magnitude(t.value(v[0]))); });
    check("neg." + t.name, t.type, {t.type}, [&](const Values& v) { return raw(-t.value(v[0])); });
  }
  const auto min_relu = [](int128 a, int128 b) { return std::max<int128>(0, std::min(a, b)); };
  const auto max_relu = [](int128 a, int128 b) { return std::max<int128>(0, std::max(a, b)); };
  check_binary("min.relu", s32, min_relu);
  check_binary("max.relu", s32, max_relu);
  check_halves("min.relu.s16x2", true, min_relu);
  check_halves("max.s16x2.relu", true, max_relu);
  for (const bool is_signed : {false, true}) {
    const std::string type = is_signed ? "s16x2" : "u16x2";
    check_halves("min." + type, is_signed, [](int128 a, int128 b) { return std::min(a, b); });
    check_halves("max." + type, is_signed, [](int128 a, int128 b) { return std::max(a, b); });
  }
}

// The whole product, exactly: up to 128 bits, as unsigned (the low 128 bits are those of a signed product
// too).
uint128 product(const Integer& t, const Values& v) {
  return static_cast<uint128>(t.value(v[0])) * static_cast<uint128>(t.value(v[1]));
}
uint64_t high_part(const Integer& t, const Values& v) {
  return static_cast<uint64_t>(product(t, v) >> t.bits);
}

TEST(Integer, Multiply) {
  for (const Integer& t : integers) {
    check("mul.lo." + t.name, t.type, {t.type, t.type},
          [&](const Values& v) { return static_cast<uint64_t>(product(t, v)); });
    check("mul.hi." + t.name, t.type, {t.type, t.type}, [&](const Values& v) { return high_part(t, v); });
    check("mad.lo." + t.name, t.type, {t.type, t.type, t.type},
          [&](const Values& v) { return static_cast<uint64_t>(product(t, v)) + v[2]; });
    check("mad.hi." + t.name, t.type, {t.type, t.type, t.type},
          [&](const Values& v) { return high_part(t, v) + v[2]; });
    if (t.bits == 64) continue;
    const Type wide = of_bits(2 * t.bits);
    check("mul.wide." + t.name, wide, {t.type, t.type},
          [&](const Values& v) { return static_cast<uint64_t>(product(t, v)); });
    check("mad.wide." + t.name, wide, {t.type, t.type, wide},
          [&](const Values& v) { return static_cast<uint64_t>(product(t, v)) + v[2]; });
  }
  check("mad.hi.sat.s32", Type::s32, {Type::s32, Type::s32, Type::s32}, [](const Values& v) {
    return raw(saturated((s32.value(v[0]) * s32.value(v[1]) >> 32) + s32.value(v[2])));
  });
}

TEST(Integer, Multiply24) {
  for (const Integer& t : {integers[2], integers[3]}) {
    const auto product24 = [&](const Values& v) {
      const auto cut = [&](uint64_t x) {
        return t.is_signed ? int128{sign_extended(x & 0xffffff, 24)} : static_cast<int128>(x & 0xffffff);
      };
      return cut(v[0]) * cut(v[1]);
    };
    const std::vector<Type> two{t.type, t.type}, three{t.type, t.type, t.type};
    check("mul24.lo." + t.name, t.type, two, [&](const Values& v) { return raw(product24(v)); });
    check("mul24.hi." + t.name, t.type, two, [&](const Values& v) { return raw(product24(v) >> 16); });
    check("mad24.lo." + t.name, t.type, three, [&](const Values& v) { return raw(product24(v)) + v[2]; });
    check("mad24.hi." + t.name, t.type, three,
          [&](const Values& v) { return raw(product24(v) >> 16) + v[2]; });
    if (!t.is_signed) continue;
    check("mad24.hi.sat.s32", t.type, three, [&](const Values& v) {
      const int128 high = sign_extended(raw(product24(v) >> 16), 32);
      return raw(saturated(high + t.value(v[2])));
    });
  }
}

TEST(Integer, SumOfAbsoluteDifferences) {
  for (const Integer& t : integers)
    check("sad." + t.name, t.type, {t.type, t.type, t.type},
          [&](const Values& v) { return v[2] + raw(magnitude(t.value(v[0]) - t.value(v[1]))); });
}

TEST(Integer, DivideTruncatesAndDividesByZeroLikeTheHardware) {
  for (const Integer& t : integers) {
    check_binary("div", t, [](int128 a, int128 b) { return b == 0 ? int128{-1} : a / b; });
    check_binary("rem", t, [](int128 a, int128 b) { return b == 0 ? int128{-1} : a % b; });
  }
  OneWarp machine(family());
  const auto d = machine.reg(Type::s32), a = machine.reg(Type::s32);
  machine.fill<int32_t>(a, [](int lane) { return lane % 2 ? INT32_MIN : -7; });
  machine.run("div.s32", {d, a, OneWarp::immediate(-1)});
  EXPECT_EQ(machine.get<int32_t>(d, 1), INT32_MIN);
  machine.run("rem.s32", {d, a, OneWarp::immediate(-1)});
  EXPECT_EQ(machine.get<int32_t>(d, 1), 0);
  machine.run("rem.s32", {d, a, OneWarp::immediate(4)});
  EXPECT_EQ(machine.get<int32_t>(d, 0), -3);
  machine.run("div.s32", {d, a, OneWarp::immediate(0)});
  EXPECT_EQ(machine.get<int32_t>(d, 0), -1);
}

TEST(Integer, DotProducts) {
  for (const bool a_signed : {false, true})
    for (const bool b_signed : {false, true}) {
      const std::string types = std::string(a_signed ? ".s32" : ".u32") + (b_signed ? ".s32" : ".u32");
      const auto part = [](uint64_t x, int from, int bits, bool is_signed) {
        const uint64_t cut = low_bits(x >> from, bits);
        return is_signed ? sign_extended(cut, bits) : static_cast<int64_t>(cut);
      };
      const std::vector<Type> three{Type::b32, Type::b32, Type::b32};
      check("dp4a" + types, Type::b32, three, [=](const Values& v) {
        int64_t sum = static_cast<int64_t>(v[2]);
        for (int i = 0; i < 4; ++i) sum += part(v[0], 8 * i, 8, a_signed) * part(v[1], 8 * i, 8, b_signed);
        return static_cast<uint64_t>(sum);
      });
      for (const int half : {0, 1})
        check(std::string(half ? "dp2a.hi" : "dp2a.lo") + types, Type::b32, three, [=](const Values& v) {
          int64_t sum = static_cast<int64_t>(v[2]);
          for (int i = 0; i < 2; ++i)
            sum += part(v[0], 16 * i, 16, a_signed) * part(v[1], 16 * half + 8 * i, 8, b_signed);
          return static_cast<uint64_t>(sum);
        });
    }
}

TEST(Integer, SimdVideo) {
  struct Operation {
    std::string name;
    int (*f)(int, int);
  };
  const std::vector<Operation> operations{
      {"vadd", [](int a, int b) { return a + b; }},
      {"vsub", [](int a, int b) { return a - b; }},
      {"vavrg", [](int a, int b) { return a + b >= 0 ? (a + b + 1) / 2 : (a + b - 1) / 2; }},
      {"vabsdiff", [](int a, int b) { return std::abs(a - b); }},
      {"vmin", [](int a, int b) { return std::min(a, b); }},
      {"vmax", [](int a, int b) { return std::max(a, b); }},
  };
  const std::vector<Operation> comparisons{
      {"eq", [](int a, int b) { return int{a == b}; }}, {"ne", [](int a, int b) { return int{a != b}; }},
      {"lt", [](int a, int b) { return int{a < b}; }},  {"le", [](int a, int b) { return int{a <= b}; }},
      {"gt", [](int a, int b) { return int{a > b}; }},  {"ge", [](int a, int b) { return int{a >= b}; }},
  };
  const auto expect = [](const std::string& name, int width, int (*f)(int, int), bool a_signed, bool b_signed,
                         int lowest, int highest, bool add) {
    check(name, Type::b32, {Type::b32, Type::b32, Type::b32}, [=](const Values& v) {
      uint64_t result = add ? v[2] : 0;
      for (int from = 0; from < 32; from += width) {
        const uint64_t a = low_bits(v[0] >> from, width), b = low_bits(v[1] >> from, width);
        const int value =
            std::clamp(f(static_cast<int>(a_signed ? sign_extended(a, width) : static_cast<int64_t>(a)),
                         static_cast<int>(b_signed ? sign_extended(b, width) : static_cast<int64_t>(b))),
                       lowest, highest);
        result += add ? static_cast<uint64_t>(value) : low_bits(static_cast<uint64_t>(value), width) << from;
      }
      return result;
    });
  };
  for (const int width : {8, 16})
    for (const int types : {0, 1, 2, 3, 4, 5, 6, 7}) {
      const bool d = types & 1, a = types & 2, b = types & 4;
      const std::string count = width == 8 ? "4" : "2";
      const std::string ab = std::string(a ? ".s32" : ".u32") + (b ? ".s32" : ".u32");
      const std::string dab = (d ? ".s32" : ".u32") + ab;
      const int most = (1 << width) - 1;
      for (const Operation& op : operations) {
        expect(op.name + count + dab, width, op.f, a, b, INT32_MIN, INT32_MAX, false);
        expect(op.name + count + dab + ".sat", width, op.f, a, b, d ? -(most / 2) - 1 : 0,
               d ? most / 2 : most, false);
        expect(op.name + count + dab + ".add", width, op.f, a, b, INT32_MIN, INT32_MAX, true);
      }
      if (d) continue;
      for (const Operation& op : comparisons) {
        expect("vset" + count + ab + "." + op.name, width, op.f, a, b, 0, 1, false);
        expect("vset" + count + ab + "." + op.name + ".add", width, op.f, a, b, 0, 1, true);
      }
    }
}

// Sums and products of 32 and 64 bits with the carry flag of each lane, in all lanes and in some.
void check_carry(const std::string& name, const Integer& t, size_t sources, bool in, bool out,
                 uint128 (*f)(const Integer&, const Values&, uint64_t carry)) {
  SCOPED_TRACE(name + "." + t.name);
  OneWarp machine(family());
  Generator random(t.bits + sources);
  std::vector<ptx::Operand> operands;
  for (size_t i = 0; i <= sources; ++i) operands.push_back(machine.reg(t.type));
  const ptx::Operand apart = operands[0];
  for (int round = 0; round < 64; ++round) {
    operands[0] = round % 4 == 3 ? operands[1] : apart;
    const uint32_t mask = round % 2 ? static_cast<uint32_t>(random()) : ~0u;
    const uint32_t carry = static_cast<uint32_t>(random());
    std::vector<uint64_t> expected(warp_size);
    uint32_t expected_carry = 0;
    for (int lane = 0; lane < warp_size; ++lane) {
      Values v;
      write_lane(machine, operands[0], t.type, lane, random_value(random, t.bits));
      for (size_t i = 1; i <= sources; ++i) {
        v.push_back(random_value(random, t.bits));
        if (i > 1 && random() % 4 == 0) v[i - 1] = low_bits(~v[0] + (random() & 1), t.bits);  // near the edge
        write_lane(machine, operands[i], t.type, lane, v.back());
      }
      const uint64_t old = read_lane(machine, operands[0], t.type, lane);
      const uint128 exact = f(t, v, in ? carry >> lane & 1 : 0);
      const bool active = mask >> lane & 1;
      expected[static_cast<size_t>(lane)] = active ? low_bits(static_cast<uint64_t>(exact), t.bits) : old;
      const uint32_t flag = active && out ? static_cast<uint32_t>(exact >> t.bits) & 1 : carry >> lane & 1;
      expected_carry |= flag << lane;
    }
    machine.set_carry(carry);
    machine.lanes(mask);
    machine.run(name + "." + t.name, operands);
    for (int lane = 0; lane < warp_size; ++lane)
      ASSERT_EQ(read_lane(machine, operands[0], t.type, lane), expected[static_cast<size_t>(lane)])
          << "lane " << lane;
    ASSERT_EQ(machine.carry_bits(), expected_carry);
  }
}
uint128 cut(const Integer& t, uint128 x) {
  return t.bits == 64 ? static_cast<uint64_t>(x) : static_cast<uint32_t>(x);
}

TEST(Integer, Carry) {
  const auto sum = [](const Integer&, const Values& v, uint64_t carry) {
    return uint128{v[0]} + v[1] + carry;
  };
  // The flag of a subtraction is set where there is no borrow.
  const auto difference = [](const Integer& t, const Values& v, uint64_t carry) {
    return uint128{v[0]} + cut(t, ~uint128{v[1]}) + carry;
  };
  const auto first_difference = [](const Integer& t, const Values& v, uint64_t) {
    return uint128{v[0]} + cut(t, ~uint128{v[1]}) + 1;
  };
  const auto low = [](const Integer& t, const Values& v, uint64_t carry) {
    return cut(t, product(t, v)) + v[2] + carry;
  };
  const auto high = [](const Integer& t, const Values& v, uint64_t carry) {
    return cut(t, product(t, v) >> t.bits) + v[2] + carry;
  };
  for (const Integer& t : integers) {
    if (t.bits == 16) continue;
    check_carry("add.cc", t, 2, false, true, sum);
    check_carry("addc", t, 2, true, false, sum);
    check_carry("addc.cc", t, 2, true, true, sum);
    check_carry("sub.cc", t, 2, false, true, first_difference);
    check_carry("subc", t, 2, true, false, difference);
    check_carry("subc.cc", t, 2, true, true, difference);
    check_carry("mad.lo.cc", t, 3, false, true, low);
    check_carry("mad.hi.cc", t, 3, false, true, high);
    check_carry("madc.lo", t, 3, true, false, low);
    check_carry("madc.hi", t, 3, true, false, high);
    check_carry("madc.lo.cc", t, 3, true, true, low);
    check_carry("madc.hi.cc", t, 3, true, true, high);
  }
}

TEST(Integer, RefusesWhatItDoesNotKnow) {
  const std::vector<Type> three{Type::u32, Type::u32, Type::u32};
  const std::vector<Type> four{Type::u32, Type::u32, Type::u32, Type::u32};
  EXPECT_TRUE(supported("add.u32", three));
  EXPECT_FALSE(supported("add.rn.u32", three));
  EXPECT_FALSE(supported("add.sat.u32", three));
  EXPECT_FALSE(supported("add.cc.sat.s32", three));
  EXPECT_FALSE(supported("add.b32", three));
  EXPECT_FALSE(supported("add.u16", three)) << "registers of another width";
  EXPECT_FALSE(supported("add.u32", {Type::u32, Type::u32}));
  EXPECT_FALSE(supported("add.u32", four));
  EXPECT_FALSE(supported("mul.u32", three));
  EXPECT_FALSE(supported("mul.wide.u64", {Type::b64, Type::u64, Type::u64}));
  EXPECT_FALSE(supported("mad.lo.sat.s32", four));
  EXPECT_FALSE(supported("mad.hi.sat.u32", four));
  EXPECT_FALSE(supported("mad.wide.cc.u32", four));
  EXPECT_FALSE(supported("madc.wide.u32", four));
  EXPECT_FALSE(supported("addc.u16", {Type::u16, Type::u16, Type::u16}));
  EXPECT_FALSE(supported("mul24.wide.u32", three));
  EXPECT_FALSE(supported("mul24.lo.u64", {Type::b64, Type::b64, Type::b64}));
  EXPECT_FALSE(supported("abs.u32", {Type::u32, Type::u32}));
  EXPECT_FALSE(supported("neg.u64", {Type::u64, Type::u64}));
  EXPECT_FALSE(supported("min.relu.u32", three));
  EXPECT_FALSE(supported("min.relu.u16x2", three));
  EXPECT_FALSE(supported("div.full.u32", three));
  EXPECT_FALSE(supported("fma.u32", four));
  EXPECT_FALSE(supported("copysign.b32", three));
  EXPECT_FALSE(supported("dp4a.u32", four));
  EXPECT_FALSE(supported("dp4a.u32.u64", four));
  EXPECT_FALSE(supported("dp2a.u32.u32", four));
  EXPECT_FALSE(supported("vadd4.u32.u32.u32.sat.add", four));
  EXPECT_FALSE(supported("vset4.u32.u32.nan", four));
  EXPECT_FALSE(supported("vadd4.u32.u32.u32", three));
}

}  // namespace
}  // namespace simulator::tests::integer
