// What a gemm's bound lets pass, whatever the order of its sums, and which faults it catches.
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

TEST(GemmBound, LetsEveryOrderOfFp32AccumulationPass) {
  for (const std::size_t k : {1, 7, 129, 4096})
    for (const Data data : {Data::whole, Data::normal})
      for (unsigned seed = 1; seed <= 4; ++seed) {
        const SmallGemm p(6, 5, k, data, 10 * seed);
        for (const auto& [name, sum] : honest_sums) {
          const Verdict v = p.check(p.computed(sum));
          EXPECT_TRUE(v.passed()) << name << ", k = " << k << ", seed " << seed << ": " << v.first_wrong;
        }
      }
}

// Terms of one size and sign make the errors of a truncating unit add up instead of cancelling. The sum is
// made to lie just above a tie, so that they show in bf16: the result is not the nearest one and may still
// not be called wrong.
TEST(GemmBound, LetsBiasedSumsPass) {
  SmallGemm p(1, 1, 4097, Data::normal, 1);
  std::fill(p.a.begin(), p.a.end(), 1 + 0x1p-7f);
  std::fill(p.b.begin(), p.b.end(), 1 - 0x1p-8f);
  p.a.back() = p.b.back() = 0.5f;  // 4096 · (1 + 2^-8 - 2^-15) + 0.25 = 4112.125, and 4112 is a tie
  EXPECT_EQ(wide(p.computed(truncated)[0]), 4096);
  EXPECT_EQ(wide(p.computed(pairwise)[0]), 4128);
  for (const auto& [name, sum] : honest_sums) EXPECT_TRUE(p.check(p.computed(sum)).passed()) << name;
}

TEST(GemmBound, CatchesADroppedTermOnWholeNumbers) {
  for (const std::size_t k : {1, 7, 129, 4096}) {
    SmallGemm p(16, 16, k, Data::whole, 3);
    // In bf16 a term of 9 can drown in a sum of 1000: the row of B that is dropped is made to show.
    for (std::size_t col = 0; col < p.n; ++col) p.b[(k - 1) * p.n + col] = 3;
    for (std::size_t row = 0; row < p.m; ++row) p.a[row * k + k - 1] = 3;
    EXPECT_GT(p.check(p.computed(sequential, 1)).wrong, p.m * p.n / 2) << k;
  }
}

// The harness's own whole numbers, nothing made to show: a matrix of them still cannot hide a dropped term.
TEST(GemmBound, CatchesADroppedTermOnTheCoursesWholeNumbers) {
  for (const std::size_t k : {1, 7, 129, 4096}) {
    const SmallGemm p(16, 16, k, Data::whole, 3);
    const Verdict v = p.check(p.computed(sequential, 1));
    EXPECT_GT(v.wrong, p.m * p.n / 10) << k;
  }
}

// At k = 129 the bound is 0.002 and a bf16 ulp of a typical element 0.06: a term of about 0.6 cannot hide.
TEST(GemmBound, CatchesADroppedTermOnNormalData) {
  for (const std::size_t k : {1, 7, 129}) {
    const SmallGemm p(16, 16, k, Data::normal, 3);
    const std::vector<bf16> got = p.computed(sequential, 1);
    const std::vector<Expected> expected = p.expected(2);
    EXPECT_GT(p.check(got, 2).wrong, p.m * p.n * 3 / 4) << k;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double dropped = std::abs(p.products(i / p.n, i % p.n).back());
      const double ulp = std::abs(expected[i].exact) * 0x1p-7 + dropped * 0x1p-7;
      const bool too_large_to_hide = dropped > expected[i].slack + 2 * ulp;
      EXPECT_FALSE(too_large_to_hide && check_one(got[i], expected[i]).passed())
          << "element " << i << ", k = " << k;
    }
  }
}

// A whole tile of k (16 terms) is still seen on normal data where a single term is within the worst case.
TEST(GemmBound, CatchesADroppedTileOfK) {
  const SmallGemm p(16, 16, 1000, Data::normal, 3);
  EXPECT_GT(p.check(p.computed(sequential, 16), 2).wrong, p.m * p.n / 2);
}

TEST(GemmBound, CatchesAccumulationInBf16) {
  for (const std::size_t k : {129, 1000, 4096}) {
    const SmallGemm p(8, 8, k, Data::normal, 5);
    EXPECT_GT(p.check(p.computed(accumulated_in_bf16), 2).wrong, p.m * p.n / 4) << k;
  }
  const SmallGemm p(8, 8, 4096, Data::whole, 5);
  EXPECT_GT(p.check(p.computed(accumulated_in_bf16)).wrong, p.m * p.n / 4);
}

// Partial sums rounded to bf16, then added and rounded again. On normal data it is seen for small k only,
// since the worst case grows as k² and this error as √k; whole numbers see it for every k.
TEST(GemmBound, CatchesDoubleRounding) {
  const SmallGemm small(16, 16, 129, Data::normal, 5);
  EXPECT_GT(small.check(small.computed(split_with_bf16_partials), 2).wrong, 10u);
  const SmallGemm large(24, 24, 4096, Data::whole, 5);
  EXPECT_FALSE(large.check(large.computed(split_with_bf16_partials)).passed());
}

TEST(GemmBound, GrowsWithKAndWithTheNorms) {
  EXPECT_DOUBLE_EQ(accumulation_slack(Precision::bf16, 8, 1, 1), 0x1p-20);
  EXPECT_DOUBLE_EQ(accumulation_slack(Precision::bf16, 8, 3, 5), 15 * 0x1p-20);
  EXPECT_DOUBLE_EQ(accumulation_slack(Precision::bf16, 4096, 0, 5), 0);
}

}  // namespace
}  // namespace ladder
