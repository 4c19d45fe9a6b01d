// The verifier element by element: comparing, merging verdicts, guard zones, rounding.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/harness/tests/verify/bf16_values.h"
#include "common/harness/verify/verify.h"

namespace ladder {
namespace {

// --- Elements ------------------------------------------------------------------------------------

// Every bf16, and what lies between it and the next.
TEST(Rounded, Bf16IsWhatCudaMakesOfIt) {
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const std::uint32_t lower : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const float x = std::bit_cast<float>(upper << 16 | lower);
      ASSERT_EQ(__nv_bfloat16_raw(rounded<__nv_bfloat16>(x)).x, __nv_bfloat16_raw(__float2bfloat16_rn(x)).x)
          << upper << ' ' << lower;
    }
  }
}

TEST(Verifier, EmptyOutputDoesNotPass) {
  const Verdict v = check_all({}, {}, 1);
  EXPECT_EQ(v.checked, 0u);
  EXPECT_FALSE(v.passed());
  EXPECT_FALSE(Verdict{}.passed());
}

// -0 and +0 compare equal, and a verifier of arithmetic lets either stand for the other.
TEST(Verifier, SignOfZeroDoesNotMatter) {
  EXPECT_TRUE(check_one(from_bits(0x8000), {0.0, 0}).passed());
  EXPECT_TRUE(check_one(from_bits(0x0000), {-0.0, 0}).passed());
}

TEST(Verifier, SmallestSubnormalIsNotZero) {
  EXPECT_FALSE(check_one(from_bits(0x0001), {0, 0}).passed());
  EXPECT_FALSE(check_one(from_bits(0x0000), {0x1p-133, 0}).passed());
  EXPECT_TRUE(check_one(from_bits(0x0001), {0x1p-133, 0}).passed());
}

TEST(Verifier, InfinityIsRightOnlyWhereTheResultOverflows) {
  const bf16 plus = from_bits(0x7F80), largest = from_bits(0x7F7F);
  EXPECT_TRUE(check_one(plus, {1e39, 0}).passed());
  EXPECT_FALSE(check_one(largest, {1e39, 0}).passed());
  EXPECT_FALSE(check_one(plus, {wide(largest), 0}).passed());
  EXPECT_FALSE(check_one(from_bits(0xFF80), {1e39, 0}).passed());
}

TEST(Verifier, NanNeverPasses) {
  EXPECT_FALSE(check_one(from_bits(0x7FC0), {0, infinity}).passed());
  EXPECT_FALSE(check_one(from_bits(0x3F80), {nan, 0}).passed()) << "nor as the reference";
  EXPECT_FALSE(check_one(from_bits(0x7FC0), {nan, 0}).passed());
  EXPECT_FALSE(check_one(from_bits(0x3F80), {1, nan}).passed());
}

TEST(Verifier, NamesTheElementBeyondThirtyTwoBits) {
  const std::uint64_t first = 5'000'000'000;
  const std::vector<bf16> got(3, narrow(1));
  const Verdict v = check_elements<bf16>("C", got, first, 1000, [&](std::uint64_t i) {
    return Expected{i == first + 2 ? 2.0 : 1.0, 0};
  });
  EXPECT_EQ(v.wrong, 1u);
  EXPECT_EQ(v.first_wrong, "C[5000000,2] is 1, expected 2 (at most 0 off)");
}

TEST(Verifier, ReportsTheElementNearestToItsBound) {
  // Off by 0.25 of at most 1, by 0.5 of at most 0.5, and by nothing.
  const Verdict v = check_all({narrow(10.25f), narrow(20.5f), narrow(3)}, {{10, 1}, {20, 0.5}, {3, 2}}, 3);
  EXPECT_TRUE(v.passed());
  EXPECT_DOUBLE_EQ(v.error, 0.5);
  EXPECT_DOUBLE_EQ(v.bound, 0.5);
}

TEST(Verifier, ReportsAnyErrorWhereNoneIsAllowed) {
  const Verdict v = check_all({narrow(1.5f), narrow(5)}, {{1, 1}, {4, 0}}, 2);
  EXPECT_DOUBLE_EQ(v.error, 1);
  EXPECT_DOUBLE_EQ(v.bound, 0);
}

// --- Other types of output -----------------------------------------------------------------------

template <class T>
Verdict check_as(T got, Expected expected) {
  return check_elements<T>("out", std::vector<T>{got}, 0, 1, [&](std::uint64_t) { return expected; });
}

TEST(OtherTypes, F16OverflowsAt65520) {
  const __half infinite = __float2half_rn(70000.0f), largest = __float2half_rn(65504.0f);
  EXPECT_TRUE(check_as(infinite, {65520, 0}).passed());
  EXPECT_FALSE(check_as(infinite, {65519, 0}).passed());
  EXPECT_TRUE(check_as(largest, {65519, 0}).passed());
  EXPECT_TRUE(check_as(infinite, {65000, 600}).passed()) << "where the slack reaches that far";
  EXPECT_FALSE(check_as(__float2half_rn(std::nanf("")), {1, 1}).passed());
  EXPECT_FALSE(check_as(__float2half_rn(1 + 0x1p-10f), {1, 0}).passed());
}

TEST(OtherTypes, Fp32HasOneRightAnswerWithoutSlack) {
  EXPECT_TRUE(check_as(1.0f, {1, 0}).passed());
  EXPECT_FALSE(check_as(std::nextafter(1.0f, 2.0f), {1, 0}).passed());
  EXPECT_TRUE(check_as(std::nextafter(1.0f, 2.0f), {1, 0x1p-22}).passed());
}

TEST(OtherTypes, Fp64IsNotRoundedToFp32) {
  EXPECT_TRUE(check_as(1 + 0x1p-52, {1 + 0x1p-52, 0}).passed());
  EXPECT_FALSE(check_as(1 + 0x1p-52, {1, 0}).passed());
  EXPECT_FALSE(check_as(1 + 0x1p-50, {1, 0x1p-51}).passed());
  EXPECT_TRUE(check_as(1 + 0x1p-50, {1, 0x1p-50}).passed());
  EXPECT_FALSE(check_as(std::nan(""), {1, 1}).passed());
}

TEST(OtherTypes, WholeNumbersAreExact) {
  EXPECT_TRUE(check_as(std::int32_t(-2147479552), {-2147479552.0, 0}).passed());
  EXPECT_FALSE(check_as(std::int32_t(-2147479551), {-2147479552.0, 0}).passed());
  EXPECT_FALSE(check_as(std::int32_t(0x80808080u), {-2139000000.0, 0}).passed()) << "what was never written";
}

TEST(OtherTypes, WhatWasNeverWrittenIsSaidToBe) {
  const auto said_of = []<class T>(T, std::uint64_t bits) {
    T got;
    std::memcpy(static_cast<void*>(&got), &bits, sizeof got);
    return check_as(got, {1, 0}).first_wrong;
  };
  const std::string never = "out[0,0] was never written, expected 1 (at most 0 off)";
  const std::uint64_t all = ~std::uint64_t(0);
  EXPECT_EQ(said_of(bf16(), all), never);
  EXPECT_EQ(said_of(__half(), all), never);
  EXPECT_EQ(said_of(1.0f, all), never);
  EXPECT_EQ(said_of(1.0, all), never);
  EXPECT_EQ(said_of(std::int32_t(), 0x80808080), never);
  EXPECT_EQ(said_of(bf16(), 0x7FFF), "out[0,0] is NaN, expected 1 (at most 0 off)");
  EXPECT_EQ(said_of(1.0f, 0xFFC00000), "out[0,0] is NaN, expected 1 (at most 0 off)");
  EXPECT_EQ(said_of(std::int32_t(), 0xFFFFFFFF), "out[0,0] is -1, expected 1 (at most 0 off)");
}

TEST(OtherTypes, TheSlackIsOfWhatSumsAreKeptIn) {
  EXPECT_EQ(accumulation_slack(Precision::s8, 4096, 64, 64), 0);
  EXPECT_EQ(accumulation_slack(Precision::tf32, 8, 1, 1), 0x1p-20);
  EXPECT_EQ(accumulation_slack(Precision::f16, 8, 1, 1), 0x1p-20);
  EXPECT_EQ(accumulation_slack(Precision::f16_f16, 8, 1, 1), 0x1p-8);
  EXPECT_GT(accumulation_slack(Precision::fp8, 8, 1, 1), 0x1p-10);
  EXPECT_EQ(accumulation_slack(Precision::bf16_e4m3, 8, 1, 1), 0x1p-20);
  EXPECT_EQ(accumulation_slack(Precision::fp64, 8, 1, 1), 0x1p-50);
  EXPECT_EQ(exact_bits(Precision::fp64), 53);
  EXPECT_EQ(exact_bits(Precision::bf16), 24);
  EXPECT_EQ(exact_bits(Precision::bf16_e4m3), 24);
  EXPECT_EQ(exact_bits(Precision::f16), 24);
  EXPECT_EQ(exact_bits(Precision::f16_f16), 11);
  EXPECT_EQ(exact_bits(Precision::fp8), 13);
  EXPECT_EQ(exact_bits(Precision::s8), 31);
}

// --- Verdict::add and the slices of a check ------------------------------------------------------

Verdict right_ones() {
  return {10, 0, "", 0, 0};
}
Verdict wrong_one(const std::string& line) {
  return {10, 1, line, 0, 0};
}
Verdict off_by(double error, double bound) {
  return {1, 0, "", error, bound};
}

TEST(VerdictAdd, KeepsTheFirstWrongElementAndAllCounts) {
  Verdict all;
  all.add(right_ones());
  EXPECT_TRUE(all.passed());
  all.add(wrong_one("third"));
  all.add(right_ones());
  all.add(wrong_one("seventh"));
  EXPECT_EQ(all.first_wrong, "third");
  EXPECT_EQ(all.wrong, 2u);
  EXPECT_EQ(all.checked, 40u);
}

TEST(VerdictAdd, ErrorAndBoundDoNotDependOnTheOrder) {
  const std::vector<Verdict> parts = {off_by(0.5, 1), off_by(3, 0), off_by(0, 0), off_by(0, 2)};
  std::vector<std::size_t> order = {0, 1, 2, 3};
  do {
    Verdict all;
    for (const std::size_t i : order) all.add(parts[i]);
    EXPECT_EQ(all.error, 3);
    EXPECT_EQ(all.bound, 0);
  } while (std::next_permutation(order.begin(), order.end()));
}

// Two faults far apart: whatever the pieces and the threads, the first is named and both are counted.
TEST(CheckElements, AnyNumberOfPiecesGivesOneVerdict) {
  const std::uint64_t count = 200'001, cols = 1000;
  std::vector<bf16> got(count, narrow(1));
  got[60'005] = narrow(2);
  got[170'000] = narrow(3);
  const auto expected = [](std::uint64_t) { return Expected{1, 0.25}; };
  for (const std::uint64_t pieces : {1, 2, 3, 7, 64}) {
    Verdict all;
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
      const std::uint64_t begin = count * piece / pieces, end = count * (piece + 1) / pieces;
      all.add(check_elements<bf16>("C", {got.data() + begin, got.data() + end}, begin, cols, expected));
    }
    EXPECT_EQ(all.checked, count) << pieces;
    EXPECT_EQ(all.wrong, 2u) << pieces;
    EXPECT_TRUE(all.first_wrong.starts_with("C[60,5] ")) << pieces << ": " << all.first_wrong;
    EXPECT_DOUBLE_EQ(all.error, 2) << pieces;
  }
}

TEST(ParallelSlices, CoverEveryIndexOnce) {
  for (const std::uint64_t count : {0, 1, 2, 99, 100'000}) {
    std::vector<std::atomic<int>> seen(count);
    const std::size_t slices =
        parallel_slices(count, 10, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
          for (std::uint64_t i = begin; i < end; ++i) ++seen[i];
        });
    EXPECT_GE(slices, 1u);
    EXPECT_LE(slices, max_slices());
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](const auto& times) { return times == 1; })) << count;
  }
}

TEST(ParallelSlices, ThrowWhatASliceThrew) {
  const auto body = [](std::size_t, std::uint64_t, std::uint64_t end) {
    if (end == 1000) throw std::runtime_error("the last slice");
  };
  EXPECT_THROW(parallel_slices(1000, 1, body), std::runtime_error);
}

// --- Guard zones ---------------------------------------------------------------------------------

class GuardZones : public testing::Test {
 protected:
  static constexpr std::size_t zone = 64, output = 100;  // bytes
  std::vector<unsigned char> memory = std::vector<unsigned char>(zone + output + zone, 0xA5);

  void write(std::ptrdiff_t element, float value) {  // relative to the output's start, as a kernel would
    const bf16 v = narrow(value);
    std::memcpy(memory.data() + std::ptrdiff_t(zone) + 2 * element, &v, 2);
  }
  std::uint64_t before() const { return count_overwritten({memory.data(), zone}, 0xA5); }
  std::uint64_t after() const { return count_overwritten({memory.data() + zone + output, zone}, 0xA5); }
};

TEST_F(GuardZones, WritesInsideAreNoDamage) {
  for (int i = 0; i < int(output / 2); ++i) write(i, float(i));
  EXPECT_EQ(before(), 0u);
  EXPECT_EQ(after(), 0u);
}

TEST_F(GuardZones, AWritePastTheEndIsFound) {
  write(output / 2, 1);
  EXPECT_EQ(before(), 0u);
  EXPECT_EQ(after(), 2u);
}

TEST_F(GuardZones, AWriteBeforeTheStartIsFound) {
  write(-1, 1);
  EXPECT_EQ(before(), 2u);
  EXPECT_EQ(after(), 0u);
}

TEST_F(GuardZones, AWriteAtTheFarEdgesIsFound) {
  write(-std::ptrdiff_t(zone) / 2, 0);
  write((output + zone) / 2 - 1, 0);
  EXPECT_EQ(before(), 2u);
  EXPECT_EQ(after(), 2u);
}

// --- Rounding ------------------------------------------------------------------------------------

TEST(RoundToBf16, TiesGoToEven) {
  EXPECT_EQ(bits(round_to_bf16(1)), 0x3F80);
  EXPECT_EQ(bits(round_to_bf16(1 + 0x1p-8)), 0x3F80);           // half-way, down to the even
  EXPECT_EQ(bits(round_to_bf16(1 + 0x1p-7 + 0x1p-8)), 0x3F82);  // half-way, up to the even
  EXPECT_EQ(bits(round_to_bf16(1 + 0x1p-8 + 0x1p-20)), 0x3F81);
  EXPECT_EQ(bits(round_to_bf16(1 + 0x1p-8 - 0x1p-20)), 0x3F80);
  EXPECT_EQ(bits(round_to_bf16(-1 - 0x1p-7 - 0x1p-8)), 0xBF82);
}

// Every bf16 value is its own rounding, and so is every tie between neighbours.
TEST(RoundToBf16, EveryFiniteValue) {
  for (unsigned b = 0; b < 0x7F80; ++b) {
    const double value = wide(from_bits(std::uint16_t(b)));
    ASSERT_EQ(bits(round_to_bf16(value)), b);
    ASSERT_EQ(bits(round_to_bf16(-value)), b | 0x8000);
    if (b == 0x7F7F) break;
    const double tie = 0.5 * (value + wide(from_bits(std::uint16_t(b + 1))));
    ASSERT_EQ(bits(round_to_bf16(tie)), b + b % 2) << b;
  }
}

TEST(RoundToBf16, OverflowsToInfinity) {
  const double largest = wide(from_bits(0x7F7F)), half_ulp = 0x1p119;
  EXPECT_EQ(bits(round_to_bf16(largest + 0.75 * half_ulp)), 0x7F7F);
  EXPECT_EQ(bits(round_to_bf16(largest + half_ulp)), 0x7F80);
  EXPECT_EQ(bits(round_to_bf16(-1e300)), 0xFF80);
  EXPECT_EQ(bits(round_to_bf16(infinity)), 0x7F80);
}

TEST(RoundToBf16, KeepsSubnormals) {
  EXPECT_EQ(bits(round_to_bf16(0x1p-133)), 0x0001);
  EXPECT_EQ(bits(round_to_bf16(0x1p-134)), 0x0000);  // a tie, to even
  EXPECT_EQ(bits(round_to_bf16(0x1.8p-134)), 0x0001);
  EXPECT_EQ(bits(round_to_bf16(0x1.8p-133)), 0x0002);  // a tie, to even
  EXPECT_EQ(bits(round_to_bf16(0x1p-126 - 0x1p-133)), 0x007F);
}

// It rounds to fp32 on the way, as a kernel does: a hair above a tie is a tie.
TEST(RoundToBf16, GoesThroughFp32) {
  EXPECT_EQ(bits(round_to_bf16(1 + 0x1p-8 + 0x1p-40)), 0x3F80);
}

}  // namespace
}  // namespace ladder
