// Logic, shifts, fields, counting, prmt against references written bit by bit: bits.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/simulator/instructions/scalar/opcodes.h"
#include "common/simulator/tests/decode_fixture.h"
#include "common/simulator/tests/lanewise.h"

namespace simulator::tests::bits {
namespace {

using ptx::Type;
using Values = std::vector<uint64_t>;

void check(const std::string& name, Type result, const std::vector<Type>& types, const Reference& reference) {
  check_lanes({bit_opcodes(), count_opcodes()}, name, result, types, reference);
}
// Amounts, positions and lengths of up to `bits` - 1 mostly; other operands anything.
uint64_t small_words(Generator& random, int bits) {
  return bits == 32 && random() % 4 ? random() % 70 : random_value(random, bits);
}
// The same, for instructions whose first operand is 32 bits wide too.
void check_fields(const std::string& name, Type result, const std::vector<Type>& types,
                  const Reference& reference) {
  check_lanes({bit_opcodes(), count_opcodes()}, name, result, types, reference, random_value);
  check_lanes({bit_opcodes(), count_opcodes()}, name, result, types, reference, small_words);
}
bool supported(const std::string& name, const std::vector<ptx::Operand>& operands, OneWarp& machine) {
  return machine.supports(name, operands);
}
bool supported(const std::string& name, const std::vector<Type>& types) {
  OneWarp machine({bit_opcodes(), count_opcodes()});
  std::vector<ptx::Operand> operands;
  for (const Type type : types) operands.push_back(machine.reg(type));
  return machine.supports(name, operands);
}

struct Width {
  std::string name;
  Type type;
  int bits;
};
const std::vector<Width> untyped{{"b16", Type::b16, 16}, {"b32", Type::b32, 32}, {"b64", Type::b64, 64}};
bool bit(uint64_t x, int i) {
  return x >> i & 1;
}

TEST(Bits, Logic) {
  std::vector<Width> types = untyped;
  types.push_back({"pred", Type::pred, 1});
  for (const Width& t : types) {
    const std::vector<Type> two{t.type, t.type};
    check("and." + t.name, t.type, two, [](const Values& v) { return v[0] & v[1]; });
    check("or." + t.name, t.type, two, [](const Values& v) { return v[0] | v[1]; });
    check("xor." + t.name, t.type, two, [](const Values& v) { return v[0] ^ v[1]; });
    check("not." + t.name, t.type, {t.type}, [](const Values& v) { return ~v[0]; });
    if (t.bits > 1)
      check("cnot." + t.name, t.type, {t.type}, [](const Values& v) { return uint64_t{v[0] == 0}; });
  }
}

TEST(Bits, Shifts) {
  for (const Width& t : untyped) {
    const std::vector<Type> types{t.type, Type::u32};
    const auto left = [&](const Values& v) {
      uint64_t result = 0;
      for (int i = 0; i < t.bits; ++i)
        if (static_cast<uint64_t>(i) >= v[1] && bit(v[0], i - static_cast<int>(v[1])))
          result |= uint64_t{1} << i;
      return result;
    };
    const auto right = [&](const Values& v, bool fill) {
      uint64_t result = 0;
      for (int i = 0; i < t.bits; ++i) {
        const uint64_t from = static_cast<uint64_t>(i) + v[1];
        if (from >= static_cast<uint64_t>(t.bits) ? fill : bit(v[0], static_cast<int>(from)))
          result |= uint64_t{1} << i;
      }
      return result;
    };
    const std::string width = std::to_string(t.bits);
    check_fields("shl." + t.name, t.type, types, left);
    check_fields("shr." + t.name, t.type, types, [&](const Values& v) { return right(v, false); });
    check_fields("shr.u" + width, t.type, types, [&](const Values& v) { return right(v, false); });
    check_fields("shr.s" + width, t.type, types,
                 [&](const Values& v) { return right(v, bit(v[0], t.bits - 1)); });
  }
}

TEST(Bits, FunnelShifts) {
  for (const bool clamp : {false, true})
    for (const bool left : {false, true}) {
      const std::string name = std::string(left ? "shf.l." : "shf.r.") + (clamp ? "clamp" : "wrap") + ".b32";
      check_fields(name, Type::b32, {Type::b32, Type::b32, Type::u32}, [=](const Values& v) {
        const uint64_t both = v[1] << 32 | v[0];
        const uint64_t amount = clamp ? std::min<uint64_t>(v[2], 32) : v[2] % 32;
        return left ? both << amount >> 32 : both >> amount;
      });
    }
}

TEST(Bits, Lop3) {
  Generator random(3);
  for (int table = 0; table < 256; ++table) {
    OneWarp machine({bit_opcodes(), count_opcodes()});
    const auto d = machine.reg(Type::b32), a = machine.reg(Type::b32), b = machine.reg(Type::b32);
    const auto c = machine.reg(Type::b32), p = machine.reg(Type::pred), q = machine.reg(Type::pred);
    for (const auto& source : {a, b, c, d})
      machine.fill<uint32_t>(source, [&](int lane) { return lane % 4 ? random() : 0; });
    const auto expected = [&](int lane) {
      uint32_t result = 0;
      for (int i = 0; i < 32; ++i) {
        const int index = 4 * bit(machine.get<uint32_t>(a, lane), i) +
                          2 * bit(machine.get<uint32_t>(b, lane), i) + bit(machine.get<uint32_t>(c, lane), i);
        if (table >> index & 1) result |= 1u << i;
      }
      return result;
    };
    const uint32_t mask = table % 2 ? ~0u : static_cast<uint32_t>(random());
    const uint32_t q_bits = static_cast<uint32_t>(random()), p_bits = static_cast<uint32_t>(random());
    machine.set_predicate(q, q_bits);
    for (const std::string op : {"", "and.", "or."}) {
      for (const bool negated : {false, true}) {
        if (op.empty() && negated) continue;
        machine.lanes(mask);
        machine.set_predicate(p, p_bits);
        machine.fill<uint32_t>(d, [](int lane) { return 77 + lane; });
        std::vector<ptx::Operand> operands{op.empty() ? d : OneWarp::pair(d, p), a, b, c,
                                           OneWarp::immediate(table)};
        if (!op.empty()) operands.push_back(negated ? OneWarp::negated(q) : q);
        machine.run("lop3." + op + "b32", operands);
        for (int lane = 0; lane < warp_size; ++lane) {
          const bool active = mask >> lane & 1;
          ASSERT_EQ(machine.get<uint32_t>(d, lane),
                    active ? expected(lane) : 77u + static_cast<uint32_t>(lane))
              << table;
          if (op.empty()) continue;
          const bool other = bit(q_bits, lane) != negated, nonzero = expected(lane) != 0;
          const bool combined = op == "or." ? nonzero || other : nonzero && other;
          ASSERT_EQ(bit(machine.predicate_bits(p), lane), active ? combined : bit(p_bits, lane))
              << table << op;
        }
      }
    }
    machine.lanes(~0u);
    machine.run("lop3.or.b32", {OneWarp::pair(OneWarp::sink(), p), a, b, c, OneWarp::immediate(table), q});
    EXPECT_EQ(bit(machine.predicate_bits(p), 5), expected(5) != 0 || bit(q_bits, 5));
    EXPECT_FALSE(
        supported("lop3.xor.b32", {OneWarp::pair(d, p), a, b, c, OneWarp::immediate(table), q}, machine));
    EXPECT_FALSE(supported("lop3.b32", {d, a, b, c, OneWarp::immediate(table + 256)}, machine));
    EXPECT_FALSE(supported("lop3.b32", {d, a, b, c, c}, machine));
    // In place.
    const uint32_t before = expected(9);
    machine.run("lop3.b32", {a, a, b, c, OneWarp::immediate(table)});
    EXPECT_EQ(machine.get<uint32_t>(a, 9), before);
  }
}

TEST(Bits, Fields) {
  for (const bool is_signed : {false, true})
    for (const int bits : {32, 64}) {
      const Type type = bits == 32 ? Type::b32 : Type::b64;
      check_fields((is_signed ? "bfe.s" : "bfe.u") + std::to_string(bits), type, {type, Type::u32, Type::u32},
                   [=](const Values& v) {
                     const int position = v[1] & 255, length = v[2] & 255, msb = bits - 1;
                     const bool sign = is_signed && length && bit(v[0], std::min(position + length - 1, msb));
                     uint64_t result = 0;
                     for (int i = 0; i < bits; ++i)
                       if (i < length && position + i <= msb ? bit(v[0], position + i) : sign)
                         result |= uint64_t{1} << i;
                     return result;
                   });
      if (is_signed) continue;
      check_fields("bfi.b" + std::to_string(bits), type, {type, type, Type::u32, Type::u32},
                   [=](const Values& v) {
                     const int position = v[2] & 255, length = v[3] & 255;
                     uint64_t result = v[1];
                     for (int i = 0; i < length && position + i < bits; ++i) {
                       const uint64_t place = uint64_t{1} << (position + i);
                       result = bit(v[0], i) ? result | place : result & ~place;
                     }
                     return result;
                   });
    }
}

TEST(Bits, Masks) {
  for (const bool clamp : {false, true}) {
    const std::string mode = clamp ? "clamp." : "wrap.";
    check_fields("bmsk." + mode + "b32", Type::b32, {Type::b32, Type::b32}, [=](const Values& v) {
      const uint64_t first = clamp ? v[0] : v[0] % 32, count = clamp ? v[1] : v[1] % 32;
      uint64_t result = 0;
      for (uint64_t i = 0; i < 32; ++i)
        if (i >= first && i < first + count) result |= uint64_t{1} << i;
      return result;
    });
    for (const bool is_signed : {false, true})
      check_fields("szext." + mode + (is_signed ? "s32" : "u32"), Type::b32, {Type::b32, Type::u32},
                   [=](const Values& v) {
                     const int width = static_cast<int>(clamp ? std::min<uint64_t>(v[1], 32) : v[1] % 32);
                     if (width == 0) return uint64_t{0};
                     const uint64_t low = low_bits(v[0], width);
                     return is_signed ? static_cast<uint64_t>(sign_extended(low, width)) : low;
                   });
  }
}

TEST(Bits, Counting) {
  for (const int bits : {32, 64}) {
    const Type type = bits == 32 ? Type::b32 : Type::b64;
    const std::string width = std::to_string(bits);
    check("popc.b" + width, Type::u32, {type}, [=](const Values& v) {
      uint64_t count = 0;
      for (int i = 0; i < bits; ++i) count += bit(v[0], i);
      return count;
    });
    check("clz.b" + width, Type::u32, {type}, [=](const Values& v) {
      uint64_t count = 0;
      while (count < static_cast<uint64_t>(bits) && !bit(v[0], bits - 1 - static_cast<int>(count))) ++count;
      return count;
    });
    check("brev.b" + width, type, {type}, [=](const Values& v) {
      uint64_t result = 0;
      for (int i = 0; i < bits; ++i) result |= uint64_t{bit(v[0], i)} << (bits - 1 - i);
      return result;
    });
    for (const bool is_signed : {false, true})
      for (const bool shift : {false, true})
        check(std::string("bfind.") + (shift ? "shiftamt." : "") + (is_signed ? "s" : "u") + width, Type::u32,
              {type}, [=](const Values& v) {
                const bool sign = is_signed && bit(v[0], bits - 1);
                for (int i = bits - 1; i >= 0; --i)
                  if (bit(v[0], i) != sign) return static_cast<uint64_t>(shift ? bits - 1 - i : i);
                return ~uint64_t{0};
              });
  }
}

TEST(Bits, FindNthSetBit) {
  const auto reference = [](const Values& v) {
    if (v[1] > 31) return ~uint64_t{0};
    const int64_t offset = sign_extended(v[2], 32);
    const int base = static_cast<int>(v[1]);
    if (offset == 0) return bit(v[0], base) ? v[1] : ~uint64_t{0};
    std::vector<int> found;
    for (int i = base; i >= 0 && i<32; i += offset> 0 ? 1 : -1)
      if (bit(v[0], i)) found.push_back(i);
    const uint64_t nth = static_cast<uint64_t>(offset > 0 ? offset : -offset);
    return nth <= found.size() ? static_cast<uint64_t>(found[nth - 1]) : ~uint64_t{0};
  };
  check_fields("fns.b32", Type::b32, {Type::b32, Type::b32, Type::s32}, reference);
  check_lanes(
      {bit_opcodes(), count_opcodes()}, "fns.b32", Type::b32, {Type::b32, Type::b32, Type::s32}, reference,
      [](Generator& random, int) { return random() % 3 ? low_bits(random() % 40 - 20, 32) : random() % 32; });
}

TEST(Bits, Permute) {
  const std::vector<Type> three{Type::b32, Type::b32, Type::b32};
  const auto byte = [](const Values& v, int i) { return (v[1] << 32 | v[0]) >> 8 * i & 0xff; };
  check("prmt.b32", Type::b32, three, [&](const Values& v) {
    uint64_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const int choice = static_cast<int>(v[2] >> 4 * i & 15);
      const uint64_t value = byte(v, choice % 8);
      result |= (choice < 8 ? value : value >= 0x80 ? 0xff : 0) << 8 * i;
    }
    return result;
  });
  // Which source byte goes to byte i of d, for n = c & 3.
  struct Mode {
    std::string name;
    int (*source)(int n, int i);
  };
  const std::vector<Mode> modes{
      {"f4e", [](int n, int i) { return n + i; }},
      {"b4e", [](int n, int i) { return (n - i + 8) % 8; }},
      {"rc8", [](int n, int) { return n; }},
      {"ecl", [](int n, int i) { return std::max(n, i); }},
      {"ecr", [](int n, int i) { return std::min(n, i); }},
      {"rc16", [](int n, int i) { return n % 2 * 2 + i % 2; }},
  };
  for (const Mode& mode : modes)
    check("prmt.b32." + mode.name, Type::b32, three, [&](const Values& v) {
      uint64_t result = 0;
      for (int i = 0; i < 4; ++i) result |= byte(v, mode.source(static_cast<int>(v[2] & 3), i)) << 8 * i;
      return result;
    });
}

TEST(Bits, RefusesWhatItDoesNotKnow) {
  const std::vector<Type> three{Type::b32, Type::b32, Type::b32};
  const std::vector<Type> four{Type::b32, Type::b32, Type::b32, Type::b32};
  EXPECT_TRUE(supported("and.b32", three));
  EXPECT_FALSE(supported("and.u32", three));
  EXPECT_FALSE(supported("and.cc.b32", three));
  EXPECT_FALSE(supported("and.pred", three));
  EXPECT_FALSE(supported("cnot.pred", {Type::pred, Type::pred}));
  EXPECT_FALSE(supported("shl.u32", three));
  EXPECT_FALSE(supported("shl.b64", {Type::b64, Type::b64, Type::b64})) << "the amount has 32 bits";
  EXPECT_FALSE(supported("shf.l.b32", four));
  EXPECT_FALSE(supported("shf.wrap.b32", four));
  EXPECT_FALSE(supported("shf.l.wrap.b64", {Type::b64, Type::b64, Type::b64, Type::b32}));
  EXPECT_FALSE(supported("bfe.b32", four));
  EXPECT_FALSE(supported("bfe.u16", {Type::b16, Type::b16, Type::b32, Type::b32}));
  EXPECT_FALSE(supported("bfi.b16", {Type::b16, Type::b16, Type::b16, Type::b32, Type::b32}));
  EXPECT_FALSE(supported("bfi.b32", four));
  EXPECT_FALSE(supported("bmsk.b32", three));
  EXPECT_FALSE(supported("szext.clamp.b32", three));
  EXPECT_FALSE(supported("popc.b16", {Type::b32, Type::b16}));
  EXPECT_FALSE(supported("popc.b64", {Type::b64, Type::b64})) << "the result has 32 bits";
  EXPECT_FALSE(supported("bfind.b32", {Type::b32, Type::b32}));
  EXPECT_FALSE(supported("bfind.u16", {Type::b32, Type::b16}));
  EXPECT_FALSE(supported("brev.b16", {Type::b16, Type::b16}));
  EXPECT_FALSE(supported("prmt.b32.f4x", four));
  EXPECT_FALSE(supported("prmt.b32", three));
}

}  // namespace
}  // namespace simulator::tests::bits
