// The CPU's references against the plainest loops that compute the same.
#include "common/harness/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace ladder {
namespace {

HostMatrix random_matrix(std::uint64_t elements, double deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, deviation);
  HostMatrix matrix(elements);
  for (auto& element : matrix) element = __float2bfloat16_rn(float(normal(random)));
  return matrix;
}

double wide(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

TEST(GemmReference, IsTheProductOfNonSquareRowMajorMatrices) {
  const Gemm shape = gemm_shape(5, 70, 33);
  const HostMatrix a = random_matrix(5 * 33, 1, 1), b = random_matrix(33 * 70, 1, 2);
  const GemmReference reference(shape, a, b, false);
  const std::vector<double> all = reference.all();
  ASSERT_EQ(all.size(), 5u * 70u);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 70; ++j) {
      double sum = 0;
      for (int k = 0; k < 33; ++k) sum += wide(a[i * 33 + k]) * wide(b[k * 70 + j]);
      EXPECT_NEAR(reference.exact(i * 70 + j), sum, 1e-12);
      EXPECT_EQ(all[i * 70 + j], reference.exact(i * 70 + j));
    }
}

TEST(GemmReference, SlackComesFromTheElementsOwnRowAndColumn) {
  const Gemm shape = gemm_shape(2, 3, 2);
  HostMatrix a, b;
  for (const float v : {3.f, 4.f, 0.f, 2.f}) a.push_back(v);            // row norms 5 and 2
  for (const float v : {6.f, 1.f, 0.f, 8.f, 0.f, 3.f}) b.push_back(v);  // column norms 10, 1 and 3
  const GemmReference reference(shape, a, b, false);
  EXPECT_EQ(reference.expected(0, 7, 1).slack, accumulation_slack(Precision::bf16, 2, 5, 10));
  EXPECT_EQ(reference.expected(2, 7, 1).slack, accumulation_slack(Precision::bf16, 2, 5, 3));
  EXPECT_EQ(reference.expected(3, 7, 2).slack, 2 * accumulation_slack(Precision::bf16, 2, 2, 10));
  EXPECT_EQ(reference.expected(3, 7, 2).exact, 7);
  EXPECT_EQ(GemmReference(shape, a, b, true).expected(3, 7, 2).slack, 0);
}

TEST(NormReference, IsTheNormOfTheRoundedSum) {
  const int rows = 7, cols = 541;
  const FusedNorm shape = norm_shape(rows, cols);
  for (const double deviation : {1.0, 0.5 * std::sqrt(double(shape.eps))}) {
    const HostMatrix x = random_matrix(rows * cols, deviation, 3),
                     residual = random_matrix(rows * cols, deviation, 4);
    const HostMatrix gamma = random_matrix(cols, 1, 5);
    const NormReference reference(shape, x, residual, gamma);
    for (int row = 0; row < rows; ++row) {
      double mean = 0;
      for (int i = row * cols; i < (row + 1) * cols; ++i) {
        const double h = wide(round_to_bf16(wide(x[i]) + wide(residual[i])));
        EXPECT_EQ(reference.h(i).exact, h);
        EXPECT_EQ(reference.h(i).slack, 0);
        mean += h * h / cols;
      }
      for (int i = row * cols; i < (row + 1) * cols; ++i) {
        const double y = reference.h(i).exact / std::sqrt(mean + shape.eps) * wide(gamma[i % cols]);
        EXPECT_NEAR(reference.y(i).exact, y, 1e-12 * std::abs(y));
        EXPECT_EQ(reference.y(i).slack, norm_slack(reference.y(i).exact, cols));
      }
    }
  }
}

// The data of the norm's first pass is there for this: a kernel without eps is found out at every width.
TEST(NormReference, SmallRowsShowAMissingEps) {
  for (const int cols : {1, 541, 8192, 65537}) {
    FusedNorm shape = norm_shape(1, cols);
    const double deviation = 0.5 * std::sqrt(double(shape.eps));
    const HostMatrix x = random_matrix(cols, deviation, 6), residual = random_matrix(cols, deviation, 7);
    const HostMatrix gamma(cols, __float2bfloat16_rn(1.0f));
    const NormReference right(shape, x, residual, gamma);
    shape.eps = 0;
    const NormReference without(shape, x, residual, gamma);
    Verdict verdict;
    for (int i = 0; i < cols; ++i)
      check_element("y", round_to_bf16(without.y(i).exact), i, cols, right.y(i), verdict);
    EXPECT_GT(verdict.wrong, 0.9 * cols) << cols;
  }
}

}  // namespace
}  // namespace ladder
