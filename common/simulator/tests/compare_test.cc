// setp, set, selp, slct, testp for every relation and type: compare.cc, select.cc.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/simulator/instructions/scalar/opcodes.h"
#include "common/simulator/tests/decode_fixture.h"
#include "common/simulator/tests/lanewise.h"

namespace simulator::tests::compare {
namespace {

using ptx::Type;
using Values = std::vector<uint64_t>;

// A format: exponent and mantissa bits; 0 exponent bits for integers.
struct Format {
  std::string name;
  Type type;
  int bits;
  int exponent = 0, mantissa = 0;
  bool is_signed = false, ordered = true;  // bit-size types have no order
};
const std::vector<Format> integers{{"b16", Type::b16, 16, 0, 0, false, false},
                                   {"b32", Type::b32, 32, 0, 0, false, false},
                                   {"b64", Type::b64, 64, 0, 0, false, false},
                                   {"u16", Type::u16, 16},
                                   {"u32", Type::u32, 32},
                                   {"u64", Type::u64, 64},
                                   {"s16", Type::s16, 16, 0, 0, true},
                                   {"s32", Type::s32, 32, 0, 0, true},
                                   {"s64", Type::s64, 64, 0, 0, true}};
const Format f16{"f16", Type::f16, 16, 5, 10}, bf16{"bf16", Type::bf16, 16, 8, 7};
const std::vector<Format> floats{f16, bf16, {"f32", Type::f32, 32, 8, 23}, {"f64", Type::f64, 64, 11, 52}};

bool is_nan(const Format& f, uint64_t raw) {
  const uint64_t infinity = ((uint64_t{1} << f.exponent) - 1) << f.mantissa;
  return (raw & (infinity | (infinity - 1))) > infinity;
}
bool is_subnormal(const Format& f, uint64_t raw) {
  const uint64_t exponent = raw >> f.mantissa & ((uint64_t{1} << f.exponent) - 1);
  return exponent == 0 && low_bits(raw, f.mantissa) != 0;
}
// Numbers of the same format compare like these integers. Not for NaN.
int64_t rank(const Format& f, uint64_t raw, bool ftz) {
  const auto magnitude = ftz && is_subnormal(f, raw) ? 0 : static_cast<int64_t>(low_bits(raw, f.bits - 1));
  return raw >> (f.bits - 1) & 1 ? -magnitude : magnitude;
}
// -1, 0, 1; 2 where an operand is NaN.
int order(const Format& f, uint64_t a, uint64_t b, bool ftz) {
  if (f.exponent == 0) {
    if (a == b) return 0;
    return f.is_signed ? (sign_extended(a, f.bits) < sign_extended(b, f.bits) ? -1 : 1) : (a < b ? -1 : 1);
  }
  if (is_nan(f, a) || is_nan(f, b)) return 2;
  const int64_t x = rank(f, a, ftz), y = rank(f, b, ftz);
  return x < y ? -1 : x > y;
}

struct Relation {
  std::string name;
  bool below, equal, above, unordered;
  bool holds(int compared) const {
    return compared == 2 ? unordered : compared < 0 ? below : compared > 0 ? above : equal;
  }
};
const std::vector<Relation> equalities{{"eq", false, true, false, false}, {"ne", true, false, true, false}};
const std::vector<Relation> orders{{"lt", true, false, false, false},
                                   {"le", true, true, false, false},
                                   {"gt", false, false, true, false},
                                   {"ge", false, true, true, false}};
const std::vector<Relation> unsigned_orders{{"lo", true, false, false, false},
                                            {"ls", true, true, false, false},
                                            {"hi", false, false, true, false},
                                            {"hs", false, true, true, false}};
const std::vector<Relation> unordered{{"equ", false, true, false, true}, {"neu", true, false, true, true},
                                      {"ltu", true, false, false, true}, {"leu", true, true, false, true},
                                      {"gtu", false, false, true, true}, {"geu", false, true, true, true},
                                      {"num", true, true, true, false},  {"nan", false, false, false, true}};

// Every relation that a format has.
std::vector<Relation> relations(const Format& f) {
  std::vector<Relation> list = equalities;
  if (f.ordered) list.insert(list.end(), orders.begin(), orders.end());
  if (f.exponent) list.insert(list.end(), unordered.begin(), unordered.end());
  if (!f.exponent && f.ordered && !f.is_signed)
    list.insert(list.end(), unsigned_orders.begin(), unsigned_orders.end());
  return list;
}
bool has_ftz(const Format& f) {
  return f.exponent && f.name != "bf16" && f.name != "f64";
}

// Special values of the format, often the same; and numbers of any kind.
std::function<uint64_t(Generator&, int)> values_of(const Format& f) {
  return [f](Generator& random, int bits) {
    if (f.exponent == 0 || bits != f.bits)
      return random() % 2 ? random_value(random, bits) : low_bits(random() % 5 - 2, bits);
    const uint64_t infinity = ((uint64_t{1} << f.exponent) - 1) << f.mantissa;
    const uint64_t one = ((uint64_t{1} << (f.exponent - 1)) - 1) << f.mantissa;
    const uint64_t specials[] = {0,
                                 1,
                                 (uint64_t{1} << f.mantissa) - 1,
                                 uint64_t{1} << f.mantissa,
                                 one,
                                 one + 1,
                                 infinity - 1,
                                 infinity,
                                 infinity + 1,
                                 infinity | infinity >> 1};
    const uint64_t sign = (random() & 1) << (bits - 1);
    return random() % 4 ? specials[random() % 10] | sign : low_bits(random(), bits);
  };
}

// setp in all its forms, with predicates as operands of check_lanes: q and c are looked at here.
void check_setp(const Format& f, const Relation& relation, bool ftz) {
  const std::string suffix = std::string(ftz ? ".ftz" : "") + "." + f.name;
  const auto compared = [&](const Values& v) { return relation.holds(order(f, v[0], v[1], ftz)); };
  check_lanes(
      {compare_opcodes()}, "setp." + relation.name + suffix, Type::pred, {f.type, f.type},
      [&](const Values& v) { return uint64_t{compared(v)}; }, values_of(f));
  const auto with = [&](const std::string& op, bool (*boolean)(bool, bool)) {
    check_lanes(
        {compare_opcodes()}, "setp." + relation.name + "." + op + suffix, Type::pred,
        {f.type, f.type, Type::pred},
        [&](const Values& v) { return uint64_t{boolean(compared(v), v[2] & 1)}; }, values_of(f));
  };
  with("and", [](bool t, bool c) { return t && c; });
  with("or", [](bool t, bool c) { return t || c; });
  with("xor", [](bool t, bool c) { return t != c; });
}

TEST(Compare, SetpOfEveryRelationAndType) {
  for (const Format& f : integers)
    for (const Relation& relation : relations(f)) check_setp(f, relation, false);
  for (const Format& f : floats)
    for (const Relation& relation : relations(f)) {
      check_setp(f, relation, false);
      if (has_ftz(f)) check_setp(f, relation, true);
    }
}

TEST(Compare, SetpWithTwoDestinationsAndNegatedPredicate) {
  OneWarp machine({compare_opcodes()});
  const auto p = machine.reg(Type::pred), q = machine.reg(Type::pred), c = machine.reg(Type::pred);
  const auto a = machine.reg(Type::u32);
  machine.fill<uint32_t>(a, [](int lane) { return lane; });
  const uint32_t less = 0x0000ffff, cs = 0x00ff00ff, mask = 0x0ffffff0;
  machine.set_predicate(c, cs);
  machine.lanes(mask);
  const auto immediate = OneWarp::immediate(16);
  const auto expect = [&](uint32_t first, uint32_t second) {
    EXPECT_EQ(machine.predicate_bits(p), (first & mask) | (0xa5a5a5a5 & ~mask));
    EXPECT_EQ(machine.predicate_bits(q), (second & mask) | (0x5a5a5a5a & ~mask));
    machine.set_predicate(p, 0xa5a5a5a5);
    machine.set_predicate(q, 0x5a5a5a5a);
  };
  machine.set_predicate(p, 0xa5a5a5a5);
  machine.set_predicate(q, 0x5a5a5a5a);
  const auto pq = OneWarp::pair(p, q);
  machine.run("setp.lt.u32", {pq, a, immediate});
  expect(less, ~less);
  machine.run("setp.lt.and.u32", {pq, a, immediate, c});
  expect(less & cs, ~less & cs);
  machine.run("setp.lt.or.u32", {pq, a, immediate, OneWarp::negated(c)});
  expect(less | ~cs, ~less | ~cs);
  machine.run("setp.lt.xor.u32", {pq, a, immediate, OneWarp::negated(c)});
  expect(less ^ ~cs, ~less ^ ~cs);
  machine.run("setp.lt.u32", {OneWarp::pair(OneWarp::sink(), q), a, immediate});
  expect(0xa5a5a5a5, ~less);
  machine.run("setp.lt.u32", {OneWarp::pair(p, OneWarp::sink()), a, immediate});
  expect(less, 0x5a5a5a5a);
  machine.run("setp.lt.and.u32", {p, a, immediate, OneWarp::negated(c)});
  expect(less & ~cs, 0x5a5a5a5a);
  // c is a destination too.
  machine.lanes(~0u);
  machine.run("setp.lt.and.u32", {OneWarp::pair(c, q), a, immediate, c});
  EXPECT_EQ(machine.predicate_bits(c), less & cs);
  EXPECT_EQ(machine.predicate_bits(q), ~less & cs);
}

// The packed types: each half alone.
uint64_t half(uint64_t raw, int i) {
  return raw >> 16 * i & 0xffff;
}
std::function<uint64_t(Generator&, int)> packed_values(const Format& f) {
  return [f](Generator& random, int bits) {
    if (bits != 32) return random_value(random, bits);
    const auto one = values_of(f);
    const uint64_t high = one(random, 16);
    return high << 16 | one(random, 16);
  };
}

TEST(Compare, SetpOfPackedHalves) {
  for (const Format& f : {f16, bf16})
    for (const bool ftz : {false, true}) {
      if (ftz && !has_ftz(f)) continue;
      for (const Relation& relation : relations(f)) {
        OneWarp machine({compare_opcodes()});
        Generator random(1);
        const auto a = machine.reg(Type::b32), b = machine.reg(Type::b32), p = machine.reg(Type::pred);
        const auto q = machine.reg(Type::pred), c = machine.reg(Type::pred);
        const std::string name = std::string(ftz ? ".ftz." : ".") + f.name + "x2";
        const auto make = packed_values(f);
        for (int round = 0; round < 20; ++round) {
          machine.fill<uint32_t>(a, [&](int) { return make(random, 32); });
          machine.fill<uint32_t>(b, [&](int) { return make(random, 32); });
          machine.set_predicate(c, static_cast<uint32_t>(random()));
          machine.run("setp." + relation.name + name, {OneWarp::pair(p, q), a, b});
          for (const bool with_c : {false, true}) {
            if (with_c) machine.run("setp." + relation.name + ".or" + name, {OneWarp::pair(p, q), a, b, c});
            for (int lane = 0; lane < warp_size; ++lane) {
              const uint64_t x = machine.get<uint32_t>(a, lane), y = machine.get<uint32_t>(b, lane);
              const bool other = with_c && (machine.predicate_bits(c) >> lane & 1);
              ASSERT_EQ(machine.predicate_bits(p) >> lane & 1,
                        relation.holds(order(f, half(x, 0), half(y, 0), ftz)) || other);
              ASSERT_EQ(machine.predicate_bits(q) >> lane & 1,
                        relation.holds(order(f, half(x, 1), half(y, 1), ftz)) || other);
            }
          }
        }
        EXPECT_FALSE(machine.supports("setp." + relation.name + name, {p, a, b})) << "needs two destinations";
      }
    }
}

TEST(Compare, Set) {
  struct Result {
    std::string name;
    Type type;
    uint64_t one;
  };
  const std::vector<Result> words{
      {"u32", Type::u32, ~0u}, {"s32", Type::s32, ~0u}, {"f32", Type::f32, 0x3f800000}};
  const std::vector<Result> halves{{"f16", Type::f16, 0x3c00}, {"bf16", Type::bf16, 0x3f80}};
  const std::vector<Result> short_integers{{"u16", Type::u16, 0xffff}, {"s16", Type::s16, 0xffff}};
  std::vector<Format> all = integers;
  all.insert(all.end(), floats.begin(), floats.end());
  for (const Format& f : all) {
    const bool is_half = f.exponent && f.bits == 16;
    std::vector<Result> results = halves;
    results.insert(results.end(), words.begin(), words.end() - (is_half ? 1 : 0));
    if (is_half) results.insert(results.end(), short_integers.begin(), short_integers.end());
    for (const Result& result : results)
      for (const Relation& relation : relations(f))
        for (const bool ftz : {false, true}) {
          if (ftz && !has_ftz(f)) continue;
          const std::string suffix = std::string(ftz ? ".ftz." : ".") + result.name + "." + f.name;
          const auto compared = [&](const Values& v) { return relation.holds(order(f, v[0], v[1], ftz)); };
          check_lanes(
              {compare_opcodes()}, "set." + relation.name + suffix, result.type, {f.type, f.type},
              [&](const Values& v) { return compared(v) ? result.one : 0; }, values_of(f));
          check_lanes(
              {compare_opcodes()}, "set." + relation.name + ".xor" + suffix, result.type,
              {f.type, f.type, Type::pred},
              [&](const Values& v) { return compared(v) != (v[2] & 1) ? result.one : 0; }, values_of(f));
        }
  }
}

TEST(Compare, SetOfPackedHalves) {
  for (const Format& f : {f16, bf16})
    for (const std::string result : {"u32", "s32", "x2"})
      for (const Relation& relation : relations(f)) {
        const uint64_t one = result != "x2" ? 0xffff : f.name == "f16" ? 0x3c00 : 0x3f80;
        const std::string suffix = "." + (result == "x2" ? f.name + "x2" : result) + "." + f.name + "x2";
        const auto compared = [&](const Values& v, int i) {
          return relation.holds(order(f, half(v[0], i), half(v[1], i), false));
        };
        check_lanes(
            {compare_opcodes()}, "set." + relation.name + suffix, Type::b32, {Type::b32, Type::b32},
            [&](const Values& v) { return (compared(v, 1) ? one << 16 : 0) | (compared(v, 0) ? one : 0); },
            packed_values(f));
        check_lanes(
            {compare_opcodes()}, "set." + relation.name + ".and" + suffix, Type::b32,
            {Type::b32, Type::b32, Type::pred},
            [&](const Values& v) {
              return v[2] & 1 ? (compared(v, 1) ? one << 16 : 0) | (compared(v, 0) ? one : 0) : 0;
            },
            packed_values(f));
      }
}

TEST(Compare, Select) {
  for (const std::string name :
       {"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"}) {
    Type type = Type::none;
    ASSERT_TRUE(ptx::parse_type(name, type));
    check_lanes({compare_opcodes()}, "selp." + name, type, {type, type, Type::pred},
                [](const Values& v) { return v[2] ? v[0] : v[1]; });
    check_lanes({compare_opcodes()}, "slct." + name + ".s32", type, {type, type, Type::s32},
                [](const Values& v) { return sign_extended(v[2], 32) >= 0 ? v[0] : v[1]; });
    for (const bool ftz : {false, true})
      check_lanes(
          {compare_opcodes()}, std::string(ftz ? "slct.ftz." : "slct.") + name + ".f32", type,
          {type, type, Type::f32},
          [&](const Values& v) {
            return order(floats[2], v[2], 0, ftz) == 0 || order(floats[2], v[2], 0, ftz) == 1 ? v[0] : v[1];
          },
          values_of(floats[2]));
  }
}

TEST(Compare, Testp) {
  for (const Format& f : {floats[2], floats[3]}) {
    const auto check = [&](const std::string& test, bool (*reference)(int)) {
      check_lanes(
          {compare_opcodes()}, "testp." + test + "." + f.name, Type::pred, {f.type},
          [&](const Values& v) {
            const double x = f.bits == 32 ? std::bit_cast<float>(static_cast<uint32_t>(v[0]))
                                          : std::bit_cast<double>(v[0]);
            const int kind = f.bits == 32 ? std::fpclassify(static_cast<float>(x)) : std::fpclassify(x);
            return uint64_t{reference(kind)};
          },
          values_of(f));
    };
    check("finite", [](int kind) { return kind != FP_INFINITE && kind != FP_NAN; });
    check("infinite", [](int kind) { return kind == FP_INFINITE; });
    check("number", [](int kind) { return kind != FP_NAN; });
    check("notanumber", [](int kind) { return kind == FP_NAN; });
    check("normal", [](int kind) { return kind == FP_NORMAL || kind == FP_ZERO; });
    check("subnormal", [](int kind) { return kind == FP_SUBNORMAL; });
  }
}

bool supported(const std::string& name, const std::vector<Type>& types) {
  OneWarp machine({compare_opcodes()});
  std::vector<ptx::Operand> operands;
  for (const Type type : types) operands.push_back(machine.reg(type));
  return machine.supports(name, operands);
}

TEST(Compare, RefusesWhatItDoesNotKnow) {
  const std::vector<Type> words{Type::pred, Type::u32, Type::u32};
  EXPECT_TRUE(supported("setp.eq.u32", words));
  EXPECT_FALSE(supported("setp.u32", words));
  EXPECT_FALSE(supported("setp.lt.b32", words));
  EXPECT_FALSE(supported("setp.lo.s32", words));
  EXPECT_FALSE(supported("setp.equ.u32", words));
  EXPECT_FALSE(supported("setp.lo.f32", words));
  EXPECT_FALSE(supported("setp.eq.ftz.u32", words));
  EXPECT_FALSE(supported("setp.eq.ftz.bf16", {Type::pred, Type::b16, Type::b16}));
  EXPECT_FALSE(supported("setp.eq.ftz.f64", {Type::pred, Type::b64, Type::b64}));
  EXPECT_FALSE(supported("setp.eq.and.u32", words)) << "without c";
  EXPECT_FALSE(supported("setp.eq.u32", {Type::pred, Type::u32, Type::u32, Type::pred}))
      << "c without BoolOp";
  EXPECT_FALSE(supported("setp.eq.sat.u32", words));
  EXPECT_FALSE(supported("setp.eq.u64", words)) << "registers of another width";
  EXPECT_FALSE(supported("setp.eq.u32", {Type::u32, Type::u32, Type::u32}));
  EXPECT_FALSE(supported("setp.eq.and.u32", {Type::pred, Type::u32, Type::u32, Type::u32}));
  EXPECT_FALSE(supported("set.eq.u16.u32", {Type::u16, Type::u32, Type::u32}));
  EXPECT_FALSE(supported("set.eq.f32.f16", {Type::f32, Type::f16, Type::f16}));
  EXPECT_FALSE(supported("set.eq.f16.f16x2", {Type::f16, Type::b32, Type::b32}));
  EXPECT_FALSE(supported("set.eq.bf16x2.f16x2", {Type::b32, Type::b32, Type::b32}));
  EXPECT_FALSE(supported("set.eq.u64.u32", {Type::b64, Type::u32, Type::u32}));
  EXPECT_FALSE(supported("selp.pred", {Type::pred, Type::pred, Type::pred, Type::pred}));
  EXPECT_FALSE(supported("selp.u32", {Type::u32, Type::u32, Type::u32, Type::u32}));
  EXPECT_FALSE(supported("slct.u32.u32", {Type::u32, Type::u32, Type::u32, Type::u32}));
  EXPECT_FALSE(supported("slct.ftz.u32.s32", {Type::u32, Type::u32, Type::u32, Type::u32}));
  EXPECT_FALSE(supported("testp.odd.f32", {Type::pred, Type::f32}));
  EXPECT_FALSE(supported("testp.finite.f16", {Type::pred, Type::f16}));
}

}  // namespace
}  // namespace simulator::tests::compare
