// What the estimate must not take, whatever its costs are fitted to.
#include "08_warp_specialized/shapes/choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ladder::rung_08 {
namespace {

constexpr int sms = 132;
constexpr Cluster alone[] = {{}};
constexpr Choice in_two{
    .name = "in_two", .kind = Kind::straight_split, .rows = 64, .cols = 64, .clusters = alone, .parts = 2};
constexpr Choice whole_k{
    .name = "whole_k", .kind = Kind::straight, .rows = 64, .cols = 64, .clusters = alone};

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
  EXPECT_TRUE(std::isinf(estimate_cycles(shape(9934, 88, 72), in_two, Launch{{}, 2}, sms)));
  EXPECT_FALSE(std::isinf(estimate_cycles(shape(9934, 88, 72), whole_k, {}, sms)));
}

TEST(Choice, KIsSplitWhereTilesLeaveSmsIdle) {
  const Gemm few_tiles = shape(256, 256, 8192);
  EXPECT_LT(estimate_cycles(few_tiles, in_two, Launch{{}, 2}, sms),
            estimate_cycles(few_tiles, whole_k, {}, sms));
}

TEST(Choice, NoCtaOfAClusterIsWithoutRows) {
  for (const Choice& c : narrow_choices()) {
    const Launch pair{.cluster = {.m = 2}};
    EXPECT_TRUE(std::isinf(estimate_cycles(shape(c.rows, 96, 512), c, pair, sms))) << c.name;
    EXPECT_FALSE(std::isinf(estimate_cycles(shape(c.rows + 1, 96, 512), c, pair, sms))) << c.name;
  }
}

TEST(Choice, NoCtaOfAClusterIsWithoutColumns) {
  for (const Choice& c : narrow_choices()) {
    const Launch four{.cluster = {.n = 4}};
    EXPECT_TRUE(std::isinf(estimate_cycles(shape(512, 3 * c.cols, 512), c, four, sms))) << c.name;
    EXPECT_FALSE(std::isinf(estimate_cycles(shape(512, 3 * c.cols + 8, 512), c, four, sms))) << c.name;
  }
}

// A kernel is launched in the cluster that the estimate finds best for the problem, and never in another.
TEST(Choice, TakesAClusterOfTheKernels) {
  for (const Gemm& p :
       {shape(345, 4096, 4096), shape(64, 4096, 4096), shape(4096, 64, 4096), shape(8, 8, 8)}) {
    for (int rank = 0; rank < 8; ++rank) {
      Chosen chosen;
      ASSERT_EQ(choose(p, all_choices(), &chosen, rank), cudaSuccess);
      const auto& clusters = chosen.choice->clusters;
      EXPECT_NE(std::find(clusters.begin(), clusters.end(), chosen.how.cluster), clusters.end());
      for (const Cluster& other : clusters)
        EXPECT_GE(estimate_cycles(p, *chosen.choice, {other, chosen.how.parts}, sms), chosen.cycles);
    }
  }
}

// The larger matrix is asked for by CTAs that start one after the other, which L2 gives it at once.
TEST(Choice, ASingleWaveWithoutAClusterAsksL2ForLess) {
  constexpr Choice tile{.name = "tile", .kind = Kind::in_turn, .rows = 128, .cols = 64, .clusters = alone};
  const double one_wave = estimate_cycles(shape(2048, 512, 4096), tile, {}, sms);  // 128 tiles
  const double two_waves = estimate_cycles(shape(4096, 512, 4096), tile, {}, sms);
  ASSERT_FALSE(std::isinf(two_waves));
  EXPECT_GT(two_waves, 2.1 * one_wave);
}

// In every k-tile a pair waits for the slower of two. The tensor cores are what takes long here, not the
// loads.
TEST(Choice, APairTakesLongerThanItsCtasAlone) {
  constexpr Choice tile{.name = "tile", .kind = Kind::in_turn, .rows = 128, .cols = 128, .clusters = alone};
  const Gemm p = shape(1024, 1024, 8192);  // 64 tiles
  EXPECT_GT(estimate_cycles(p, tile, Launch{{.n = 2}}, sms), 1.1 * estimate_cycles(p, tile, {}, sms));
}

constexpr Choice in_memory{
    .name = "in_memory", .kind = Kind::in_memory, .rows = 128, .cols = 128, .clusters = alone, .parts = 16};

// Parts wait for each other in a loop: if they did not run at the same time, a launch would not end.
TEST(Choice, PartsInMemoryRunAtOnce) {
  const Gemm p = shape(1024, 1024, 65536);  // 64 tiles
  EXPECT_FALSE(std::isinf(estimate_cycles(p, in_memory, Launch{{}, 2}, sms)));
  EXPECT_TRUE(std::isinf(estimate_cycles(p, in_memory, Launch{{}, 3}, sms)));
}

TEST(Choice, AWholeTileAndAShortKAreNotSharedOutThroughMemory) {
  EXPECT_TRUE(std::isinf(estimate_cycles(shape(256, 256, 65536), in_memory, {}, sms)));
  EXPECT_TRUE(std::isinf(estimate_cycles(shape(256, 256, 448), in_memory, Launch{{}, 2}, sms)));
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
  EXPECT_GT(estimate_cycles(shape(4096, 4080, 4096), whole_k, {}, sms),
            estimate_cycles(shape(4096, 4096, 4096), whole_k, {}, sms));
  EXPECT_GT(estimate_cycles(shape(4096, 4096, 4080), whole_k, {}, sms),
            estimate_cycles(shape(4096, 4096, 4096), whole_k, {}, sms));
}

// At a short k what takes long is to store C.
TEST(Choice, RowsThatCutSectorsTakeLonger) {
  constexpr Choice wide{.name = "wide", .kind = Kind::in_turn, .rows = 128, .cols = 128, .clusters = alone};
  EXPECT_GT(estimate_cycles(shape(8192, 8168, 16), wide, {}, sms),
            1.2 * estimate_cycles(shape(8192, 8176, 16), wide, {}, sms));
}

// A kernel without one would be compared with the others as if it had been measured.
TEST(Choice, EveryKernelHasItsPace) {
  for (const Choice& c : all_choices()) {
    const Pace* const pace = measured_pace(c.name);
    ASSERT_NE(pace, nullptr) << c.name;
    EXPECT_EQ(c.pace, *pace) << c.name;
    for (const double each : {pace->one_wave, pace->several}) {
      EXPECT_GT(each, 0.5) << c.name;
      EXPECT_LT(each, 2) << c.name;
    }
  }
  EXPECT_EQ(measured_pace("no_kernel"), nullptr);
}

TEST(Choice, AKernelOfSlowerPaceTakesLonger) {
  Choice slower = whole_k;
  slower.pace = {.one_wave = 1.1, .several = 1.2};
  const Gemm one_wave = shape(512, 512, 512), several = shape(1024, 1024, 512);  // 64 tiles, and 256
  EXPECT_DOUBLE_EQ(estimate_cycles(one_wave, slower, {}, sms),
                   1.1 * estimate_cycles(one_wave, whole_k, {}, sms));
  EXPECT_DOUBLE_EQ(estimate_cycles(several, slower, {}, sms),
                   1.2 * estimate_cycles(several, whole_k, {}, sms));
}

// One that wastes half of each tile must not look as good.
TEST(Choice, ATileAsWideAsTheProblemIsFaster) {
  const Gemm tall = shape(8192, 96, 4096);
  double of_96 = 0, of_192 = 0;
  for (const Choice& c : narrow_choices()) {
    if (c.rows != 64) continue;
    if (c.cols == 96) of_96 = estimate_cycles(tall, c, {}, sms);
    if (c.cols == 192) of_192 = estimate_cycles(tall, c, {}, sms);
  }
  EXPECT_LT(of_96, of_192);
}

}  // namespace
}  // namespace ladder::rung_08
