// What the estimate must not take, whatever its costs are fitted to.
#include "08_warp_specialized/shapes/choice.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ladder::rung_08 {
namespace {

constexpr int sms = 132;
constexpr Choice in_two{.name = "in_two", .kind = Kind::straight_split, .rows = 64, .cols = 64, .parts = 2};
constexpr Choice whole_k{.name = "whole_k", .kind = Kind::straight, .rows = 64, .cols = 64};

Gemm shape(int m, int n, int k) {
  Gemm p{};
  p.m = m;
  p.n = n;
  p.k = k;
  return p;
}

// A split leaves fewer SMs idle. At 9934 x 88 x 72, where none are, it took 2.7 times as long as a whole
// tile.
TEST(Choice, KIsNotSplitWhereTilesFillTheGpu) {
  EXPECT_TRUE(std::isinf(estimate_cycles(shape(9934, 88, 72), in_two, 2, sms)));
  EXPECT_FALSE(std::isinf(estimate_cycles(shape(9934, 88, 72), whole_k, 1, sms)));
}

TEST(Choice, KIsSplitWhereTilesLeaveSmsIdle) {
  const Gemm few_tiles = shape(256, 256, 8192);
  EXPECT_LT(estimate_cycles(few_tiles, in_two, 2, sms), estimate_cycles(few_tiles, whole_k, 1, sms));
}

TEST(Choice, NoCtaOfAClusterIsWithoutRows) {
  for (const Choice& c : narrow_choices()) {
    if (c.cluster_m == 1) continue;
    EXPECT_TRUE(std::isinf(estimate_cycles(shape(c.rows, 96, 512), c, 1, sms))) << c.name;
    EXPECT_FALSE(std::isinf(estimate_cycles(shape(c.rows + 1, 96, 512), c, 1, sms))) << c.name;
  }
}

TEST(Choice, NoCtaOfAClusterIsWithoutColumns) {
  for (const Choice& c : narrow_choices()) {
    if (c.cluster_n == 1) continue;
    const int others = (c.cluster_n - 1) * c.cols;
    EXPECT_TRUE(std::isinf(estimate_cycles(shape(512, others, 512), c, 1, sms))) << c.name;
    EXPECT_FALSE(std::isinf(estimate_cycles(shape(512, others + 8, 512), c, 1, sms))) << c.name;
  }
}

constexpr Choice in_memory{
    .name = "in_memory", .kind = Kind::in_memory, .rows = 128, .cols = 128, .parts = 16};

// Parts wait for each other in a loop: if they did not run at the same time, a launch would not end.
TEST(Choice, PartsInMemoryRunAtOnce) {
  const Gemm p = shape(1024, 1024, 65536);  // 64 tiles
  EXPECT_FALSE(std::isinf(estimate_cycles(p, in_memory, 2, sms)));
  EXPECT_TRUE(std::isinf(estimate_cycles(p, in_memory, 3, sms)));
}

TEST(Choice, AWholeTileAndAShortKAreNotSharedOutThroughMemory) {
  EXPECT_TRUE(std::isinf(estimate_cycles(shape(256, 256, 65536), in_memory, 1, sms)));
  EXPECT_TRUE(std::isinf(estimate_cycles(shape(256, 256, 448), in_memory, 2, sms)));
}

// The workspace holds the parts of as many CTAs as a launch may have.
TEST(Choice, WorkspaceGrowsWithTheTilesAndIsBounded) {
  const Gemm one = shape(8, 8, 65536), few = shape(512, 512, 65536), many = shape(16384, 16384, 65536);
  EXPECT_EQ(workspace_of_parts(shape(256, 256, 448)), 0u);
  EXPECT_GT(workspace_of_parts(one), 0u);
  EXPECT_GT(workspace_of_parts(few), workspace_of_parts(one));
  EXPECT_LE(workspace_of_parts(many), std::size_t{64} << 20);
}

// As many tiles, and fewer columns; but a row of a box lies in two lines of L2.
TEST(Choice, RowsThatCutLinesTakeLonger) {
  EXPECT_GT(estimate_cycles(shape(4096, 4080, 4096), whole_k, 1, sms),
            estimate_cycles(shape(4096, 4096, 4096), whole_k, 1, sms));
  EXPECT_GT(estimate_cycles(shape(4096, 4096, 4080), whole_k, 1, sms),
            estimate_cycles(shape(4096, 4096, 4096), whole_k, 1, sms));
}

// At a short k what takes long is to store C.
TEST(Choice, RowsThatCutSectorsTakeLonger) {
  constexpr Choice wide{.name = "wide", .kind = Kind::straight, .rows = 128, .cols = 256, .cluster_m = 2};
  EXPECT_GT(estimate_cycles(shape(8192, 8168, 16), wide, 1, sms),
            1.2 * estimate_cycles(shape(8192, 8176, 16), wide, 1, sms));
}

// A kernel without one would be compared with the others as if it had been measured.
TEST(Choice, EveryKernelHasItsPace) {
  for (const Choice& c : all_choices()) {
    const double* const pace = measured_pace(c.name);
    ASSERT_NE(pace, nullptr) << c.name;
    EXPECT_EQ(c.pace, *pace) << c.name;
    EXPECT_GT(*pace, 0.7) << c.name;
    EXPECT_LT(*pace, 1.4) << c.name;
  }
  EXPECT_EQ(measured_pace("no_kernel"), nullptr);
}

TEST(Choice, AKernelOfSlowerPaceTakesLonger) {
  Choice slower = whole_k;
  slower.pace = 1.1;
  const Gemm p = shape(512, 512, 512);
  EXPECT_DOUBLE_EQ(estimate_cycles(p, slower, 1, sms), 1.1 * estimate_cycles(p, whole_k, 1, sms));
}

// One that wastes a third of each tile must not look as good.
TEST(Choice, ATileAsWideAsTheProblemIsFaster) {
  const Gemm tall = shape(8192, 96, 4096);
  double of_96 = 0, of_160 = 0;
  for (const Choice& c : narrow_choices()) {
    if (c.rows != 64) continue;
    if (c.cols == 96) of_96 = estimate_cycles(tall, c, 1, sms);
    if (c.cols == 160) of_160 = estimate_cycles(tall, c, 1, sms);
  }
  EXPECT_LT(of_96, of_160);
}

}  // namespace
}  // namespace ladder::rung_08
