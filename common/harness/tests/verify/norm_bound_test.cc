// The same of a norm's bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "common/harness/tests/verify/small_kernels.h"

namespace ladder {
namespace {

constexpr std::size_t norm_cols[] = {1, 7, 541, 8192, 65537};

TEST(NormBound, LetsHonestKernelsPass) {
  for (const std::size_t cols : norm_cols)
    for (const float deviation : {1.0f, 1e-3f, 100.0f}) {
      const SmallNorm p(cols < 1000 ? 40 : 2, cols, 11, deviation);
      for (const auto& [name, sum] : honest_sums)
        for (const int ulps : {-2, 0, 2}) {
          const Verdict v = p.check({.sum = sum, .rsqrt_ulps = ulps});
          EXPECT_TRUE(v.passed()) << name << ", cols = " << cols << ", deviation " << deviation << ": "
                                  << v.first_wrong;
        }
    }
}

// Equal squares make the rounding errors of their sum add up instead of cancelling.
TEST(NormBound, LetsBiasedSumsPass) {
  for (const float value : {1.1015625f, 1.5f, 1.9921875f}) {
    SmallNorm p(1, 65537, 11);
    std::fill(p.x.begin(), p.x.end(), value);
    std::fill(p.residual.begin(), p.residual.end(), 0.0f);
    for (const auto& [name, sum] : honest_sums) {
      const Verdict v = p.check({.sum = sum});
      EXPECT_TRUE(v.passed()) << name << ", " << value << ": " << v.first_wrong;
    }
  }
}

TEST(NormBound, CatchesGammaLeftOut) {
  for (const std::size_t cols : norm_cols) {
    const SmallNorm p(8, cols, 13);
    EXPECT_GT(p.check({.gamma = false}).wrong, p.rows * p.cols / 2) << cols;
  }
}

// eps = 1e-5 shows where the mean of the squares is about as small.
TEST(NormBound, CatchesEpsLeftOutOfSmallRows) {
  for (const std::size_t cols : norm_cols) {
    const SmallNorm p(8, cols, 13, 1e-3f);
    EXPECT_GT(p.check({.eps = false}).wrong, p.rows * p.cols / 2) << cols;
  }
}

TEST(NormBound, CatchesEpsLeftOutOfARowOfZeros) {
  SmallNorm p(1, 541, 13);
  std::fill(p.x.begin(), p.x.end(), 0.0f);
  std::fill(p.residual.begin(), p.residual.end(), 0.0f);
  EXPECT_TRUE(p.check({}).passed());
  EXPECT_EQ(p.check({.eps = false}).wrong, p.cols);  // 0 · rsqrt(0) is NaN
}

TEST(NormBound, CatchesAMeanOverOneColumnLess) {
  for (const std::size_t cols : {2, 7, 541, 1000}) {
    const SmallNorm p(8, cols, 13);
    EXPECT_GT(p.check({.fewer_cols = 1}).wrong, p.rows * p.cols / 50) << cols;
  }
}

// On random rows rounding h changes the mean of its squares by 2^-9 / √cols or so: seen where rows are short.
TEST(NormBound, CatchesASumOverTheUnroundedHOfShortRows) {
  const SmallNorm p(200, 7, 13);
  EXPECT_GT(p.check({.rounded_h = false}).wrong, p.rows * p.cols / 50);
}

// Where every h is rounded the same way the error does not average out, and long rows show it, too.
TEST(NormBound, CatchesASumOverTheUnroundedHWhereAllRoundDown) {
  for (const std::size_t cols : {7, 541, 8192}) {
    SmallNorm p(4, cols, 13);
    std::fill(p.x.begin(), p.x.end(), 1.0f);
    std::fill(p.residual.begin(), p.residual.end(), 0x1p-8f);  // 1 + 2^-8 rounds to 1
    EXPECT_TRUE(p.check({}).passed());
    EXPECT_GT(p.check({.rounded_h = false}).wrong, p.rows * p.cols / 4) << cols;
  }
}

// What the bound cannot see, written down so that no one relies on it: it allows for a sum of `cols` squares
// in the worst order, 6e-8 · cols relative, and a fault that changes y by less is within it. A tighter bound
// would fail these lines.
TEST(NormBound, IsBlindToLessThanItsWorstCase) {
  EXPECT_TRUE(SmallNorm(8, 541, 13).check({.eps = false}).passed());         // 2.5e-6 of y at h ~ N(0, 2)
  EXPECT_TRUE(SmallNorm(2, 8192, 13).check({.fewer_cols = 1}).passed());     // 6e-5 of y
  EXPECT_TRUE(SmallNorm(2, 8192, 13).check({.rounded_h = false}).passed());  // about 1e-5 of y
}

TEST(NormBound, GrowsWithColsAndWithY) {
  EXPECT_DOUBLE_EQ(norm_slack(0, 8192), 0x1p-133);
  EXPECT_DOUBLE_EQ(norm_slack(-3, 16), norm_slack(3, 16));
  EXPECT_NEAR(norm_slack(1, 65537) / norm_slack(1, 1), 3856.06, 0.01);
}

}  // namespace
}  // namespace ladder
