// What the estimate must not take, whatever its costs are fitted to.
#include "08_warp_specialized/shapes/choice.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ladder::rung_08 {
namespace {

constexpr Gpu h200{.sms = 132, .dram = 2432};
constexpr Choice in_two{.name = "in_two", .kind = Kind::straight_split, .rows = 64, .cols = 64, .parts = 2};
constexpr Choice whole_k{.name = "whole_k", .kind = Kind::straight, .rows = 64, .cols = 64};

// A split leaves fewer SMs idle. At 9934 x 88 x 72, where none are, it took 2.7 times as long as a whole
// tile.
TEST(Choice, KIsNotSplitWhereTilesFillTheGpu) {
  const Gemm tall{.m = 9934, .n = 88, .k = 72};
  EXPECT_TRUE(std::isinf(estimate_cycles(tall, in_two, 2, h200)));
  EXPECT_FALSE(std::isinf(estimate_cycles(tall, whole_k, 1, h200)));
}

TEST(Choice, KIsSplitWhereTilesLeaveSmsIdle) {
  const Gemm few_tiles{.m = 256, .n = 256, .k = 8192};
  EXPECT_LT(estimate_cycles(few_tiles, in_two, 2, h200), estimate_cycles(few_tiles, whole_k, 1, h200));
}

}  // namespace
}  // namespace ladder::rung_08
