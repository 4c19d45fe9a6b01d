// What surrounds a measurement: statistics, buffer sets, the card's state. Nothing here launches a kernel.
#include "common/harness/measure/benchmark.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "common/harness/measure/nvml.h"
#include "common/harness/measure/rotation.h"

namespace ladder::benchmark {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20, gibibyte = 1 << 30;

// --- Statistics ----------------------------------------------------------------------------------

TEST(L2Text, SaysWhetherTheRotationLeavesTheCacheCold) {
  constexpr std::uint64_t l2 = 60 * mebibyte;
  EXPECT_EQ(l2_text(121 * mebibyte, 1, l2), "cold: one buffer set, over twice the L2");
  EXPECT_EQ(l2_text(6 * mebibyte, sets_to_rotate(6 * mebibyte, l2), l2), "cold: rotates over 21 buffer sets");
  EXPECT_EQ(l2_text(24 << 10, sets_to_rotate(24 << 10, l2), l2), "warm: rotates over 256 buffer sets");
}

TEST(Quantile, OfOneSampleIsThatSample) {
  for (const double p : {0.0, 0.1, 0.5, 1.0}) EXPECT_EQ(quantile({7}, p), 7);
}

TEST(Quantile, SortsItself) {
  EXPECT_EQ(quantile({9, 1, 5}, 0), 1);
  EXPECT_EQ(quantile({9, 1, 5}, 0.5), 5);
  EXPECT_EQ(quantile({9, 1, 5}, 1), 9);
}

TEST(Quantile, InterpolatesLinearly) {
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({0, 10, 20, 30, 40}, 0.1), 4);
  EXPECT_DOUBLE_EQ(quantile({0, 10, 20, 30, 40}, 0.9), 36);
}

TEST(Quantile, OneSlowSampleDoesNotMoveTheMedian) {
  EXPECT_EQ(quantile({1, 1, 1, 1, 1e6}, 0.5), 1);
}

TEST(MediansInTurns, OfOneContenderIsItsMedian) {
  EXPECT_DOUBLE_EQ(medians_in_turns({{4, 9, 5}})[0], 5);
}

// Half of the rounds at a lower clock: the plain medians are 12 and 11, of times that are as 10 to 11.
TEST(MediansInTurns, AClockThatFallsLeavesTheRatio) {
  const std::vector<std::vector<double>> samples = {{10, 10, 12, 12, 12}, {11, 11, 11, 13.2, 13.2}};
  const std::vector<double> medians = medians_in_turns(samples);
  EXPECT_DOUBLE_EQ(medians[1] / medians[0], 1.1);
}

TEST(MediansInTurns, ADisturbedSampleOrRoundDoesNotMoveThem) {
  const std::vector<double> medians = medians_in_turns({{4, 4, 400, 4}, {2, 90, 200, 2}, {1, 1, 100, 1}});
  EXPECT_DOUBLE_EQ(medians[0], 4);
  EXPECT_DOUBLE_EQ(medians[1], 2);
  EXPECT_DOUBLE_EQ(medians[2], 1);
}

// --- Buffer sets ---------------------------------------------------------------------------------

TEST(SetsToRotate, OneWhereASetIsOverTwiceTheCache) {
  EXPECT_EQ(sets_to_rotate(100 * mebibyte + 1, 50 * mebibyte), 1);
  EXPECT_EQ(sets_to_rotate(100 * gibibyte, 50 * mebibyte), 1);
}

// Between two uses of a set all others are used: together at least twice the cache.
TEST(SetsToRotate, TheOtherSetsFillTheCacheTwice) {
  for (const std::uint64_t footprint : {3 * mebibyte, 25 * mebibyte, 50 * mebibyte, 100 * mebibyte}) {
    const std::uint64_t sets = std::uint64_t(sets_to_rotate(footprint, 50 * mebibyte));
    EXPECT_GE((sets - 1) * footprint, (100 - footprint / mebibyte) * mebibyte) << footprint;
    EXPECT_GT(sets * footprint, 100 * mebibyte) << footprint;
  }
}

TEST(SetsToRotate, NeverWithoutEnd) {
  EXPECT_EQ(sets_to_rotate(2, 50 * mebibyte), 256);
  EXPECT_EQ(sets_to_rotate(0, 50 * mebibyte), 1);
  EXPECT_EQ(sets_to_rotate(mebibyte, 0), 1) << "a device that does not say how large its cache is";
}

// --- The card's state ----------------------------------------------------------------------------

TEST(ThrottleText, NoneAndIdle) {
  EXPECT_EQ(throttle_text(0), "none");
  EXPECT_EQ(throttle_text(0x1), "none");
}

TEST(ThrottleText, EveryReasonHasItsOwnName) {
  std::set<std::string> names;
  for (std::uint64_t bit = 0x2; bit <= 0x100; bit *= 2) names.insert(throttle_text(bit));
  EXPECT_EQ(names.size(), 8u);
  EXPECT_FALSE(names.contains("none"));
  EXPECT_EQ(throttle_text(0x4), "power_cap");
  EXPECT_EQ(throttle_text(0x40), "hw_thermal");
}

TEST(ThrottleText, SeveralAreJoined) {
  EXPECT_EQ(throttle_text(0x1 | 0x4 | 0x20), "power_cap+sw_thermal");
}

}  // namespace
}  // namespace ladder::benchmark
