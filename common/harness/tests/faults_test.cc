// The verifier against planted faults, and against right results in every order a kernel may compute them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "common/harness/tests/bf16_values.h"
#include "common/harness/verify/verify.h"

namespace ladder {
namespace {

// Inputs, exact in bf16.
std::vector<float> normal(std::size_t count, unsigned seed, float mean = 0, float deviation = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(mean, deviation);
  std::vector<float> values(count);
  for (float& v : values) v = wide(narrow(distribution(random)));
  return values;
}

std::vector<float> whole_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = float(int(random() % 7) - 3);
  return values;
}

// --- Ways to add up fp32 numbers -----------------------------------------------------------------

using Sum = std::function<float(const std::vector<float>&)>;

float sequential(const std::vector<float>& v) {
  float sum = 0;
  for (float x : v) sum += x;
  return sum;
}

float reversed(const std::vector<float>& v) {
  float sum = 0;
  for (auto x = v.rbegin(); x != v.rend(); ++x) sum += *x;
  return sum;
}

float pairwise(std::vector<float> v) {  // as a tree of shuffles does
  for (; v.size() > 1; v.resize((v.size() + 1) / 2))
    for (std::size_t i = 0; i < v.size() / 2; ++i) v[i] += v[v.size() - 1 - i];
  return v.empty() ? 0 : v[0];
}

std::vector<float> eight_parts(const std::vector<float>& v) {
  std::vector<float> parts(8, 0.0f);
  for (std::size_t i = 0; i < v.size(); ++i) parts[i * 8 / v.size()] += v[i];
  return parts;
}

float split_in_eight(const std::vector<float>& v) {
  return sequential(eight_parts(v));
}

// As a tensor core may: every addition cut off instead of rounded.
float truncated(const std::vector<float>& v) {
  float sum = 0;
  for (float x : v) {
    const double exact = double(sum) + double(x);
    sum = float(exact);
    if (std::abs(double(sum)) > std::abs(exact)) sum = std::nextafter(sum, 0.0f);
  }
  return sum;
}

float accumulated_in_bf16(const std::vector<float>& v) {
  float sum = 0;
  for (float x : v) sum = wide(narrow(sum + x));
  return sum;
}

float split_with_bf16_partials(const std::vector<float>& v) {
  std::vector<float> parts = eight_parts(v);
  for (float& part : parts) part = wide(narrow(part));
  return sequential(parts);
}

struct NamedSum {
  const char* name;
  Sum sum;
};
const NamedSum honest_sums[] = {{"sequential", sequential},
                                {"reversed", reversed},
                                {"pairwise", pairwise},
                                {"split in eight", split_in_eight},
                                {"truncated", truncated}};

// --- A small gemm and a small norm, with what the harness expects of them ------------------------

enum class Data { whole, normal };

struct SmallGemm {
  std::size_t m, n, k;
  Data data;
  std::vector<float> a, b;

  SmallGemm(std::size_t m_, std::size_t n_, std::size_t k_, Data data_, unsigned seed)
      : m(m_), n(n_), k(k_), data(data_) {
    a = data == Data::whole ? whole_numbers(m * k, seed) : normal(m * k, seed);
    b = data == Data::whole ? whole_numbers(k * n, seed + 1) : normal(k * n, seed + 1);
  }

  std::vector<float> products(std::size_t row, std::size_t col) const {
    std::vector<float> p(k);
    for (std::size_t i = 0; i < k; ++i) p[i] = a[row * k + i] * b[i * n + col];
    return p;
  }

  // `slacks`: 1 where the reference is fp64, 2 where it was accumulated in fp32 as well.
  std::vector<Expected> expected(int slacks = 1) const {
    std::vector<Expected> all;
    for (std::size_t row = 0; row < m; ++row)
      for (std::size_t col = 0; col < n; ++col) {
        double exact = 0, squares_a = 0, squares_b = 0;
        for (std::size_t i = 0; i < k; ++i) {
          const double x = a[row * k + i], y = b[i * n + col];
          exact += x * y;
          squares_a += x * x;
          squares_b += y * y;
        }
        const double slack =
            accumulation_slack(Precision::bf16, double(k), std::sqrt(squares_a), std::sqrt(squares_b));
        all.push_back({exact, data == Data::whole ? 0 : slacks * slack});
      }
    return all;
  }

  std::vector<bf16> computed(const Sum& sum, std::size_t terms_dropped = 0) const {
    std::vector<bf16> c;
    for (std::size_t row = 0; row < m; ++row)
      for (std::size_t col = 0; col < n; ++col) {
        std::vector<float> p = products(row, col);
        p.resize(k - terms_dropped);
        c.push_back(narrow(sum(p)));
      }
    return c;
  }

  Verdict check(const std::vector<bf16>& c, int slacks = 1) const {
    return check_all(c, expected(slacks), n);
  }
};

// What a wrong norm leaves out, and what a right one may do differently.
struct NormKernel {
  Sum sum = sequential;
  bool eps = true, gamma = true, rounded_h = true;
  std::size_t fewer_cols = 0;  // the mean is taken over cols - fewer_cols
  int rsqrt_ulps = 0;          // how far the hardware's rsqrt is off
};

struct SmallNorm {
  std::size_t rows, cols;
  std::vector<float> x, residual, gamma;
  float eps = 1e-5f;

  SmallNorm(std::size_t rows_, std::size_t cols_, unsigned seed, float deviation = 1)
      : rows(rows_),
        cols(cols_),
        x(normal(rows * cols, seed, 0, deviation)),
        residual(normal(rows * cols, seed + 1, 0, deviation)),
        gamma(normal(cols, seed + 2, 1, 0.25f)) {}

  float h(std::size_t i) const { return wide(narrow(x[i] + residual[i])); }

  std::vector<Expected> expected() const {
    std::vector<Expected> all;
    for (std::size_t row = 0; row < rows; ++row) {
      double squares = 0;
      for (std::size_t i = row * cols; i < (row + 1) * cols; ++i) squares += double(h(i)) * double(h(i));
      const double scale = 1 / std::sqrt(squares / double(cols) + double(eps));
      for (std::size_t col = 0; col < cols; ++col) {
        const double y = double(h(row * cols + col)) * scale * double(gamma[col]);
        all.push_back({y, norm_slack(y, double(cols))});
      }
    }
    return all;
  }

  std::vector<bf16> computed(const NormKernel& kernel) const {
    std::vector<bf16> y;
    for (std::size_t row = 0; row < rows; ++row) {
      std::vector<float> squares;
      for (std::size_t i = row * cols; i < (row + 1) * cols; ++i) {
        const float v = kernel.rounded_h ? h(i) : x[i] + residual[i];
        squares.push_back(v * v);
      }
      const float mean = kernel.sum(squares) / float(cols - kernel.fewer_cols);
      float scale = 1 / std::sqrt(mean + (kernel.eps ? eps : 0));
      for (int ulp = 0; ulp < std::abs(kernel.rsqrt_ulps); ++ulp)
        scale = std::nextafter(scale, kernel.rsqrt_ulps > 0 ? 2 * scale : 0);
      for (std::size_t col = 0; col < cols; ++col)
        y.push_back(narrow(h(row * cols + col) * scale * (kernel.gamma ? gamma[col] : 1)));
    }
    return y;
  }

  Verdict check(const NormKernel& kernel) const { return check_all(computed(kernel), expected(), cols); }
};

// --- Faults that any output may have, planted in four kinds of output ----------------------------

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
    EXPECT_NE(output.check(got).first_wrong.find("nan"), std::string::npos);
  }
}

TEST_P(PlantedFault, OneElementLeftPoisoned) {
  got[got.size() - 2] = from_bits(0xFFFF);
  expect_wrong({got.size() - 2});
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

// --- The gemm's bound ----------------------------------------------------------------------------

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

// --- The norm's bound ----------------------------------------------------------------------------

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

// What the bound cannot see, written down so that nobody relies on it: it allows for a sum of `cols` squares
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
