// What stands below the table of a sweep.
#include "common/harness/report/sweep_summary.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ladder {
namespace {

TEST(SweepSummary, GeometricMean) {
  EXPECT_DOUBLE_EQ(geometric_mean({3}), 3);
  EXPECT_DOUBLE_EQ(geometric_mean({0.5, 2}), 1);
  EXPECT_NEAR(geometric_mean({1, 10, 100}), 10, 1e-12);
}

TEST(SweepSummary, OfNothingIsNothing) {
  EXPECT_EQ(ratio_summary({}, ""), "");
  EXPECT_EQ(regret_summary({}), "");
}

TEST(SweepSummary, OfRatios) {
  const std::string text = ratio_summary({{"1x8x8", 1, 2},
                                          {"64x8x8", 64, 0.5},
                                          {"65x8x8", 65, 0.97},
                                          {"256x8x16", 256, 0.97},
                                          {"1025x8x8", 1025, 0.9}},
                                         "in a dream ");
  EXPECT_EQ(text,
            "\n5 shapes in a dream beside the faster of cuBLAS's two: geometric mean 0.9673x\n"
            "  1.00x or more     1\n"
            "  0.97x or more     3\n"
            "  0.90x or more     4\n"
            "  the worst    0.5000x  64x8x8\n"
            "  m 1-64       1.0000x  of 2 shapes\n"
            "  m 65-256     0.9700x  of 2 shapes\n"
            "  m above      0.9000x  of 1 shape\n");
}

TEST(SweepSummary, TheFirstChoiceAndTheBestOfThem) {
  Result rung;
  rung.measurement = Measurement{{{"rung", 10}, {"slower", 30}, {"faster", 8}}, {}};
  rung.best16_us = 5;
  SweepSummary summary;
  summary.add_result("8x8x8", 8, rung);
  const std::string text = summary.text();
  const auto first = text.find("\n1 shape beside the faster of cuBLAS's two: geometric mean 0.8000x\n");
  const auto best = text.find(
      "\n1 shape with the fastest of the first 16 choices, each tried, beside the faster of cuBLAS's two: "
      "geometric mean 1.6000x\n");
  EXPECT_EQ(first, 0u) << text;
  EXPECT_NE(best, std::string::npos) << text;
}

TEST(SweepSummary, OfRegrets) {
  std::vector<ShapeRegret> regrets;
  for (int i = 10; i > 0; --i) regrets.push_back({std::to_string(i) + "x8x8", i / 100.0});
  EXPECT_EQ(regret_summary(regrets),
            "\n10 shapes beside the fastest variant of each: regret 5.50 % in the mean, "
            "9.00 % at the 90th percentile, 10.00 % at worst (10x8x8)\n");
  EXPECT_EQ(regret_summary({{"7x8x8", 0}}),
            "\n1 shape beside the fastest variant of each: regret 0.00 % in the mean, "
            "0.00 % at the 90th percentile, 0.00 % at worst (7x8x8)\n");
}

}  // namespace
}  // namespace ladder
