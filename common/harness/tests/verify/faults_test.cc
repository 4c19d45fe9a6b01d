// The verifier against planted faults, in four kinds of output.
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

struct Output {
  std::string name;
  std::uint64_t cols;
  std::vector<bf16> right;
  std::vector<Expected> expected;

  std::uint64_t rows() const { return right.size() / cols; }
  Verdict check(const std::vector<bf16>& got) const { return check_all(got, expected, cols); }
  std::size_t largest() const {
    return std::size_t(
        std::max_element(right.begin(), right.end(), [](bf16 p, bf16 q) { return wide(p) < wide(q); }) -
        right.begin());
  }
  std::size_t smallest() const {
    return std::size_t(
        std::min_element(right.begin(), right.end(), [](bf16 p, bf16 q) { return wide(p) < wide(q); }) -
        right.begin());
  }
};

Output make_output(const std::string& name) {
  const bool gemm = name.starts_with("gemm");
  if (gemm) {
    const SmallGemm p(24, 20, 129, name == "gemm_of_whole_numbers" ? Data::whole : Data::normal, 7);
    return {name, p.n, p.computed(split_in_eight), p.expected(2)};
  }
  const SmallNorm p(9, 541, 7);
  if (name == "y_of_norm") return {name, p.cols, p.computed({.sum = pairwise}), p.expected()};
  Output h{name, p.cols, {}, {}};
  for (std::size_t i = 0; i < p.rows * p.cols; ++i) {
    h.right.push_back(narrow(p.x[i] + p.residual[i]));
    h.expected.push_back({wide(h.right[i]), 0});
  }
  return h;
}

class PlantedFault : public testing::TestWithParam<const char*> {
 protected:
  const Output output = make_output(GetParam());
  std::vector<bf16> got = output.right;

  // Exactly the planted elements are wrong, and the first of them is named.
  void expect_wrong(const std::vector<std::size_t>& at) const {
    const Verdict v = output.check(got);
    EXPECT_FALSE(v.passed());
    EXPECT_EQ(v.checked, got.size());
    EXPECT_EQ(v.wrong, at.size());
    const std::string name =
        "out[" + std::to_string(at[0] / output.cols) + "," + std::to_string(at[0] % output.cols) + "]";
    EXPECT_TRUE(v.first_wrong.starts_with(name)) << v.first_wrong;
  }
};
INSTANTIATE_TEST_SUITE_P(Outputs, PlantedFault,
                         testing::Values("gemm_of_whole_numbers", "gemm_of_normals", "h_of_norm",
                                         "y_of_norm"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(PlantedFault, NoneAndItPasses) {
  const Verdict v = output.check(got);
  EXPECT_TRUE(v.passed()) << v.first_wrong;
  EXPECT_EQ(v.checked, got.size());
  EXPECT_LE(v.error, v.bound);
}

TEST_P(PlantedFault, Nan) {
  for (const std::size_t at : {std::size_t(0), got.size() / 2, got.size() - 1}) {
    got = output.right;
    got[at] = narrow(float(nan));
    expect_wrong({at});
    EXPECT_NE(output.check(got).first_wrong.find(" is NaN,"), std::string::npos);
  }
}

TEST_P(PlantedFault, OneElementLeftPoisoned) {
  got[got.size() - 2] = from_bits(0xFFFF);
  expect_wrong({got.size() - 2});
  EXPECT_NE(output.check(got).first_wrong.find(" was never written,"), std::string::npos);
}

TEST_P(PlantedFault, WholeOutputLeftPoisoned) {
  std::fill(got.begin(), got.end(), from_bits(0xFFFF));
  EXPECT_EQ(output.check(got).wrong, got.size());
}

TEST_P(PlantedFault, OneElementLeftFromAnotherRun) {
  got[output.largest()] = output.right[output.smallest()];
  expect_wrong({output.largest()});
}

TEST_P(PlantedFault, RowHoldsTheNextRow) {
  std::copy(output.right.begin() + std::ptrdiff_t(output.cols), output.right.end(), got.begin());
  const Verdict v = output.check(got);
  EXPECT_FALSE(v.passed());
  EXPECT_GT(v.wrong, (output.rows() - 1) * output.cols * 9 / 10);
}

TEST_P(PlantedFault, SwappedPair) {
  const std::size_t p = output.largest(), q = output.smallest();
  std::swap(got[p], got[q]);
  expect_wrong({std::min(p, q), std::max(p, q)});
}

TEST_P(PlantedFault, Infinity) {
  got[3] = from_bits(0x7F80);
  expect_wrong({3});
  got = output.right;
  got[4] = from_bits(0xFF80);
  expect_wrong({4});
}

TEST_P(PlantedFault, WrongSign) {
  const std::size_t at = output.largest();
  got[at] = from_bits(std::uint16_t(bits(got[at]) ^ 0x8000));
  expect_wrong({at});
}

// What lies on the bound passes, its neighbour in bf16 does not: for every element, on both sides.
TEST_P(PlantedFault, OneUlpBeyondTheBound) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Expected e = output.expected[i];
    const bf16 low = round_to_bf16(e.exact - e.slack), high = round_to_bf16(e.exact + e.slack);
    EXPECT_TRUE(check_one(low, e).passed() && check_one(high, e).passed()) << i;
    EXPECT_FALSE(check_one(below(low), e).passed()) << i;
    EXPECT_FALSE(check_one(above(high), e).passed()) << i;
  }
}

}  // namespace
}  // namespace ladder
