// The PTX parser: operands of instructions, constants among them.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/simulator/tests/ptx_fixture.h"

namespace simulator::ptx {
namespace {

int64_t immediate(const std::string& text) {
  Operands o("mov.b64 %rd1, " + text + ";");
  EXPECT_EQ(o[1].kind, Kind::immediate) << text;
  EXPECT_EQ(o[1].text, text);
  return o[1].value;
}
uint64_t floating(const std::string& text, int bits) {
  Operands o("mov.b64 %rd1, " + text + ";");
  EXPECT_EQ(o[1].kind, Kind::floating) << text;
  EXPECT_EQ(o[1].floating_bits, bits) << text;
  return static_cast<uint64_t>(o[1].value);
}
uint64_t bits_of(double number) {
  return std::bit_cast<uint64_t>(number);
}

TEST(PtxOperand, Integers) {
  EXPECT_EQ(immediate("0"), 0);
  EXPECT_EQ(immediate("-4"), -4);
  EXPECT_EQ(immediate("0x1F"), 31);
  EXPECT_EQ(immediate("0X1fU"), 31);
  EXPECT_EQ(immediate("017"), 15);
  EXPECT_EQ(immediate("0b101"), 5);
  EXPECT_EQ(immediate("12U"), 12);
  EXPECT_EQ(immediate("0xFFFFFFFFFFFFFFFF"), -1);
  EXPECT_EQ(immediate("9223372036854775808"), INT64_MIN);
  EXPECT_EQ(immediate("(1<<3)+2"), 10);
  EXPECT_EQ(immediate("1 + 2 * 3 - 10 / 3 % 2"), 6);
  EXPECT_EQ(immediate("~0xF & 0xFF ^ 1 | 0x100"), 0x1F1);
  EXPECT_EQ(immediate("!3 + !0"), 1);
  EXPECT_EQ(immediate("-8 >> 1"), -4);
  EXPECT_EQ(immediate("-8U >> 1"), INT64_MAX - 3);
  EXPECT_EQ(immediate("-1 < 0"), 1);
  EXPECT_EQ(immediate("-1 < 0U"), 0);
  EXPECT_EQ(immediate("(.u64)-1 > 5"), 1);
  EXPECT_EQ(immediate("3 >= 3 && 2 != 2 || 4 == 4"), 1);
  EXPECT_EQ(immediate("1 ? 2 : 3 ? 4 : 5"), 2);
  EXPECT_EQ(immediate("WARP_SZ - 1"), 31);
  EXPECT_EQ(immediate("0x8000000000000000 / (.s64)(-1)"), 0);  // unsigned
  EXPECT_EQ(immediate("-7 / 2"), -3);
  EXPECT_EQ(immediate("-7 % 3"), 0);             // of the unsigned number
  EXPECT_EQ(immediate("~0 > 0"), 1);             // unsigned
  EXPECT_EQ(immediate("(1 ? -1 : 1U) > 0"), 1);  // unsigned
  EXPECT_EQ(immediate("1 < 2 ? 1.5 < 2.5 : 0"), 1);
}

TEST(PtxOperand, ConstantErrors) {
  EXPECT_EQ(body_error("mov.b32 %r1, 1/0;"), "line 6: division by zero");
  EXPECT_EQ(body_error("mov.b32 %r1, 1 << 64;"), "line 6: a shift by more than 63 bits");
  EXPECT_EQ(body_error("mov.b32 %r1, 1 + 1.5;"),
            "line 6: an operator with an integer and a floating-point constant");
  EXPECT_EQ(body_error("mov.b32 %r1, 0f12;"),
            "line 6: a floating-point constant in hexadecimal has 8 digits");
  EXPECT_EQ(body_error("mov.b32 %r1, 12abc;"), "line 6: the end of a number expected, not 'abc'");
  EXPECT_EQ(body_error("mov.b32 %r1, 18446744073709551616;"), "line 6: an integer of more than 64 bits");
  EXPECT_EQ(body_error("mov.b32 %r1, (1;"), "line 6: ')' expected, not ';'");
}

TEST(PtxOperand, FloatingPoint) {
  EXPECT_EQ(floating("0f3F800000", 32), 0x3F800000u);
  EXPECT_EQ(floating("0Fbf800000", 32), 0xBF800000u);
  EXPECT_EQ(floating("-0f3F800000", 32), 0xBF800000u);
  EXPECT_EQ(floating("0d3FF8000000000000", 64), bits_of(1.5));
  EXPECT_EQ(floating("1.5", 64), bits_of(1.5));
  EXPECT_EQ(floating("-.5", 64), bits_of(-0.5));
  EXPECT_EQ(floating("2e-3", 64), bits_of(2e-3));
  EXPECT_EQ(floating("(1.0 + 2.0) * 4.0 / 8.0", 64), bits_of(1.5));
}

TEST(PtxOperand, RegistersPairsVectorsSinks) {
  Operands o("op.x %r1|%p1, %p0|_, _|%p2, !%p3, _, {%r1, _, 7, %f1}, {}, {%r1}|%p1;");
  EXPECT_EQ(o[0].kind, Kind::pair);
  EXPECT_EQ(o[0].text, "%r1|%p1");
  EXPECT_EQ(o.name(o[0].elements[0]), "%r1");
  EXPECT_EQ(o.name(o[0].elements[1]), "%p1");
  EXPECT_EQ(o[1].elements[1].kind, Kind::sink);
  EXPECT_EQ(o[2].elements[0].kind, Kind::sink);
  EXPECT_EQ(o[3].kind, Kind::reg);
  EXPECT_TRUE(o[3].negated);
  EXPECT_EQ(o[3].text, "!%p3");
  EXPECT_FALSE(o[0].elements[1].negated);
  EXPECT_EQ(o[4].kind, Kind::sink);
  ASSERT_EQ(o[5].kind, Kind::vector);
  ASSERT_EQ(o[5].elements.size(), 4u);
  EXPECT_EQ(o.name(o[5].elements[3]), "%f1");
  EXPECT_EQ(o[5].elements[2].value, 7);
  EXPECT_TRUE(o[6].elements.empty());
  EXPECT_EQ(o[7].elements[0].kind, Kind::vector);
}

TEST(PtxOperand, SpecialRegistersAndParts) {
  Operands o("op %tid.x, %clock64, WARP_SZ, %envreg3, %r1.b3, %r2.h0, %tid;");
  for (const size_t i : {0, 1, 2, 3, 6}) EXPECT_EQ(o[i].kind, Kind::special);
  EXPECT_EQ(o[0].text, "%tid.x");
  EXPECT_EQ(o[1].text, "%clock64");
  EXPECT_EQ(o[2].text, "WARP_SZ");
  EXPECT_EQ(o[6].text, "%tid");
  EXPECT_EQ(o[4].kind, Kind::part);
  EXPECT_EQ(o[4].text, "%r1.b3");
  EXPECT_EQ(o.name(o[4].elements.at(0)), "%r1");
}

TEST(PtxOperand, Addresses) {
  Operands o(
      "op [%rd1], [%rd1+-4], [%rd1 + 2*8-1], [sym], [sym+8], [0x10], [%rd2, {%r1, %r2}], [k_param_0+4], "
      "sym+16;",
      ".global .u32 sym[8];");
  EXPECT_EQ(o[0].kind, Kind::address);
  EXPECT_EQ(o.name(o[0].elements.at(0)), "%rd1");
  EXPECT_EQ(o[0].value, 0);
  EXPECT_EQ(o[1].value, -4);
  EXPECT_EQ(o[1].text, "[%rd1+-4]");
  EXPECT_EQ(o[2].value, 15);
  EXPECT_EQ(o[3].elements[0].kind, Kind::variable);
  EXPECT_EQ(o[3].elements[0].variable, o.module.find_variable("sym"));
  EXPECT_EQ(o[4].value, 8);
  EXPECT_EQ(o[4].elements[0].value, 0);
  EXPECT_EQ(o[5].elements[0].kind, Kind::immediate);
  EXPECT_EQ(o[5].elements[0].value, 16);
  ASSERT_EQ(o[6].elements.size(), 2u);
  EXPECT_EQ(o[6].elements[1].kind, Kind::vector);
  EXPECT_EQ(o[7].elements[0].variable, o.function.params[0]);
  EXPECT_EQ(o[7].value, 4);
  EXPECT_EQ(o[8].kind, Kind::variable);
  EXPECT_EQ(o[8].variable->name, "sym");
  EXPECT_EQ(o[8].value, 16);
}

}  // namespace
}  // namespace simulator::ptx
