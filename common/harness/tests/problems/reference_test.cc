// The CPU's references against the plainest loops that compute the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "common/harness/problems/registry.h"

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

TEST(GroupedReference, IsEachGroupsProduct) {
  const int rows[] = {3, 1, 5}, n = 4, k = 7;
  GroupedReference grouped;
  std::vector<GemmReference> alone;
  for (int g = 0; g < 3; ++g) {
    const HostMatrix a = random_matrix(rows[g] * k, 1, 20 + g), b = random_matrix(k * n, 1, 30 + g);
    alone.emplace_back(gemm_shape(rows[g], n, k), a, b, false);
    grouped.add(gemm_shape(rows[g], n, k), a, b, false);
  }
  const std::vector<double> all = grouped.all();
  ASSERT_EQ(all.size(), 9u * n);
  std::uint64_t index = 0;
  for (int g = 0; g < 3; ++g)
    for (int i = 0; i < rows[g] * n; ++i, ++index) {
      EXPECT_EQ(grouped.exact(index), alone[g].exact(i));
      EXPECT_EQ(all[index], alone[g].all()[i]);
      EXPECT_EQ(grouped.expected(index, 1, 2).slack, alone[g].expected(i, 1, 2).slack);
    }
}

struct NormGemmInputs {
  NormGemm shape = norm_gemm_shape(5, 541, 24);
  HostMatrix x = random_matrix(5 * 541, 1, 8), residual = random_matrix(5 * 541, 1, 9),
             gamma = random_matrix(541, 0.25, 10), w = random_matrix(541 * 24, 1, 11);
  NormGemmReference reference() const { return NormGemmReference(shape, x, residual, gamma, w, false); }
  double h(int row, int col) const {
    return wide(round_to_bf16(wide(x[row * 541 + col]) + wide(residual[row * 541 + col])));
  }
  double scale(int row) const {
    double squares = 0;
    for (int k = 0; k < 541; ++k) squares += h(row, k) * h(row, k);
    return 1 / std::sqrt(squares / 541 + shape.eps);
  }
};

TEST(NormGemmReference, IsTheScaledProductWithTheFoldedWeights) {
  const NormGemmInputs in;
  const NormGemmReference reference = in.reference();
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 24; ++j) {
      double sum = 0;
      for (int k = 0; k < 541; ++k)
        sum += in.h(i, k) * wide(round_to_bf16(wide(in.gamma[k]) * wide(in.w[k * 24 + j])));
      const double product = reference.product().exact(i * 24 + j);
      EXPECT_NEAR(product, sum, 1e-10);
      const Expected c = reference.c(i * 24 + j, product, 1);
      EXPECT_NEAR(c.exact, in.scale(i) * sum, 1e-10);
      EXPECT_GT(c.slack, in.scale(i) * reference.product().expected(i * 24 + j, product, 1).slack);
    }
  EXPECT_EQ(reference.h(7).exact, in.h(0, 7));
}

// In whole numbers nothing but the scale may be off.
TEST(NormGemmReference, OfWholeNumbersLeavesTheScaleAlone) {
  NormGemm shape = norm_gemm_shape(2, 8, 8);
  HostMatrix x(16, __float2bfloat16_rn(1.0f)), w(64, __float2bfloat16_rn(2.0f)),
      gamma(8, __float2bfloat16_rn(3.0f));
  shape.eps = 4;
  const NormGemmReference reference(shape, x, x, gamma, w, true);
  const Expected c = reference.c(3, reference.product().exact(3), 2);
  EXPECT_DOUBLE_EQ(c.exact, 8 * 2 * 6 / std::sqrt(8.0));  // h = 2: its mean square is 4, and so is eps
  EXPECT_EQ(c.slack, norm_slack(c.exact, 8));
}

// One product of 1 by 1: A = x, B = 1 or `b`, Gate = 1.
static Expected linear_of(Epilogue epilogue, double x, double b, double bias, bool whole_numbers) {
  const auto one = [](double value) { return HostMatrix(1, round_to_bf16(value)); };
  const LinearReference reference(linear_shape(1, 1, 1), epilogue, one(x), one(b), one(1), one(bias),
                                  whole_numbers);
  return reference.c(0, reference.product().exact(0), 1, is_gated(epilogue) ? reference.gate().exact(0) : 0,
                     1);
}

TEST(LinearReference, IsTheFunctionOfTheProduct) {
  const auto gelu = [](double x) {
    return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
  };
  const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  for (const double x : {-9.0, -3.0, -1.0, -0.25, 0.0, 0.5, 1.5, 4.0, 30.0}) {
    EXPECT_EQ(linear_of(Epilogue::bias, x, 1, 2, true).exact, x + 2);
    EXPECT_EQ(linear_of(Epilogue::bias, x, 1, 2, true).slack, 0);
    EXPECT_NEAR(linear_of(Epilogue::gelu, x, 1, 2, true).exact, gelu(x + 2), 1e-13);
    EXPECT_NEAR(linear_of(Epilogue::silu, x, 1, 2, true).exact, silu(x + 2), 1e-13);
    // The bias is not a gated one's.
    EXPECT_NEAR(linear_of(Epilogue::geglu, x, 3, 2, true).exact, gelu(x) * 3 * x, 1e-12);
    EXPECT_NEAR(linear_of(Epilogue::swiglu, x, 3, 2, true).exact, silu(x) * 3 * x, 1e-12);
  }
}

// What is left for a kernel's exp and its roundings is far below bf16's, and what the product may be off by
// comes through the activation.
TEST(LinearReference, AllowsTheErrorOfTheEpilogue) {
  for (const Epilogue epilogue : {Epilogue::gelu, Epilogue::silu, Epilogue::swiglu, Epilogue::geglu})
    for (const double x : {-2.0, 0.5, 3.0}) {
      const Expected exact = linear_of(epilogue, x, 1, 0, true), off = linear_of(epilogue, x, 1, 0, false);
      EXPECT_GT(exact.slack, 0);
      EXPECT_LT(exact.slack, std::abs(exact.exact) * 0x1p-15);
      EXPECT_GT(off.slack, exact.slack);
    }
}

// x, gamma and beta of a row_operator with rows far from 0, each with another mean.
struct RowsFarFromZero {
  static constexpr int rows = 3, cols = 137;
  RowOperator shape = row_operator_shape(rows, cols);
  HostMatrix x = random_matrix(rows * cols, 1, 21), gamma = random_matrix(cols, 1, 22),
             beta = random_matrix(cols, 1, 23);
  RowsFarFromZero() {
    for (int i = 0; i < rows * cols; ++i) x[i] = round_to_bf16(wide(x[i]) + 50 * (1 + i / cols));
  }
  // How many elements of this y, rounded, are wrong.
  template <class Y>
  std::uint64_t wrong(RowOperation operation, const Y& y) const {
    const RowReference reference(shape, operation, x, gamma, beta);
    Verdict verdict;
    for (int i = 0; i < rows * cols; ++i)
      check_element("y", round_to_bf16(y(i)), i, cols, reference.y(i), verdict);
    return verdict.wrong;
  }
  double mean(int row) const {
    double sum = 0;
    for (int col = 0; col < cols; ++col) sum += wide(x[row * cols + col]);
    return sum / cols;
  }
  double variance(int row, double about) const {
    double squares = 0;
    for (int col = 0; col < cols; ++col) squares += std::pow(wide(x[row * cols + col]) - about, 2);
    return squares / cols;
  }
  double largest(int row) const {
    double most = wide(x[row * cols]);
    for (int col = 0; col < cols; ++col) most = std::max(most, wide(x[row * cols + col]));
    return most;
  }
};

TEST(RowReference, IsLayerNorm) {
  const RowsFarFromZero r;
  const auto y = [&](int i, double mean, double variance) {
    return (wide(r.x[i]) - mean) / std::sqrt(variance) * wide(r.gamma[i % r.cols]) + wide(r.beta[i % r.cols]);
  };
  const auto right = [&](int i) {
    const double mean = r.mean(i / r.cols);
    return y(i, mean, r.variance(i / r.cols, mean) + 1e-5);
  };
  EXPECT_EQ(r.wrong(RowOperation::layer_norm, right), 0u);
  const std::uint64_t most = r.rows * r.cols * 3 / 4;
  EXPECT_GT(r.wrong(RowOperation::layer_norm, [&](int i) { return y(i, 0, r.variance(i / r.cols, 0)); }),
            most)
      << "RMSNorm";
  EXPECT_GT(
      r.wrong(RowOperation::layer_norm, [&](int i) { return y(i, r.mean(0), r.variance(0, r.mean(0))); }),
      r.rows * r.cols / 2u)
      << "the mean of another row";
  EXPECT_GT(r.wrong(RowOperation::layer_norm,
                    [&](int i) {  // each row without its last column
                      const double mean = r.mean(i / r.cols) * r.cols / (r.cols - 1);
                      return y(i, mean, r.variance(i / r.cols, mean) + 1e-5);
                    }),
            most);
  EXPECT_GT(r.wrong(RowOperation::layer_norm, [&](int i) { return right(i) - wide(r.beta[i % r.cols]); }),
            most);
  EXPECT_EQ(r.wrong(RowOperation::layer_norm, [&](int i) { return i == 200 ? right(i) * 1.02 : right(i); }),
            1u)
      << "one element";
  EXPECT_EQ(r.wrong(RowOperation::layer_norm, [&](int i) { return i == 7 ? NAN : right(i); }), 1u);
}

TEST(RowReference, IsSoftmax) {
  const RowsFarFromZero r;
  const auto y = [&](int i, int begin, int end) {
    double sum = 0;
    for (int col = begin; col < end; ++col)
      sum += std::exp(wide(r.x[i / r.cols * r.cols + col]) - r.largest(i / r.cols));
    return std::exp(wide(r.x[i]) - r.largest(i / r.cols)) / sum;
  };
  const auto right = [&](int i) { return y(i, 0, r.cols); };
  EXPECT_EQ(r.wrong(RowOperation::softmax, right), 0u);
  const std::uint64_t most = r.rows * r.cols * 3 / 4;
  EXPECT_GT(r.wrong(RowOperation::softmax, [&](int i) { return y(i, 0, r.cols / 2); }), most)
      << "half of a row";
  EXPECT_EQ(r.wrong(RowOperation::softmax, [&](int i) { return i == 200 ? right(i) * 1.02 : right(i); }), 1u)
      << "one element";
  EXPECT_EQ(r.wrong(RowOperation::softmax, [&](int i) { return right(i) * 1.02; }),
            std::uint64_t(r.rows * r.cols));
  double sum = 0;
  const RowReference reference(r.shape, RowOperation::softmax, r.x, r.gamma, r.beta);
  for (int col = 0; col < r.cols; ++col) sum += reference.y(r.cols + col).exact;
  EXPECT_NEAR(sum, 1, 1e-12);
}

// What is left for fp32 is below a rounding to bf16, as long as a row's mean is not thousands of deviations.
TEST(RowReference, AllowsTheErrorsOfFp32) {
  const RowsFarFromZero r;
  for (const RowOperation operation : {RowOperation::layer_norm, RowOperation::softmax}) {
    const RowReference reference(r.shape, operation, r.x, r.gamma, r.beta);
    for (int i = 0; i < r.rows * r.cols; ++i) {
      EXPECT_GT(reference.y(i).slack, 0);
      const double near = operation == RowOperation::softmax ? std::abs(reference.y(i).exact)
                                                             : std::max(1.0, std::abs(reference.y(i).exact));
      EXPECT_LT(reference.y(i).slack, near * 0x1p-9) << i;
    }
  }
}

// The data of norm_gemm's first pass are there for this: what a kernel leaves out is found in them.
TEST(NormGemmReference, WholeNumbersShowWhatIsMissing) {
  const int rows = 3, cols = 520, n = 24;
  NormGemm shape = norm_gemm_shape(rows, cols, n);
  shape.eps = 4;
  std::mt19937 random(12);
  const auto draw = [&](int elements) {
    HostMatrix matrix(elements);
    for (auto& element : matrix) element = __float2bfloat16_rn(float(random() % 4));
    return matrix;
  };
  const HostMatrix x = draw(rows * cols), residual = draw(rows * cols),
                   gamma(cols, __float2bfloat16_rn(2.0f)), w(cols * n, __float2bfloat16_rn(3.0f));
  const NormGemmReference right(shape, x, residual, gamma, w, true);
  // How many elements of another reference's C are wrong.
  const auto wrong = [&](const NormGemmReference& other) {
    Verdict verdict;
    for (int i = 0; i < rows * n; ++i)
      check_element("C", round_to_bf16(other.c(i, other.product().exact(i), 1).exact), i, n,
                    right.c(i, right.product().exact(i), 1), verdict);
    return int(verdict.wrong);
  };
  EXPECT_EQ(wrong(right), 0);
  NormGemm without_eps = shape;
  without_eps.eps = 0;
  EXPECT_EQ(wrong(NormGemmReference(without_eps, x, residual, gamma, w, true)), rows * n);
  HostMatrix cut = w;  // the last eight terms of each sum
  std::fill(cut.end() - 8 * n, cut.end(), __float2bfloat16_rn(0.0f));
  EXPECT_EQ(wrong(NormGemmReference(shape, x, residual, gamma, cut, true)), rows * n);
  EXPECT_EQ(
      wrong(NormGemmReference(shape, x, residual, HostMatrix(cols, __float2bfloat16_rn(1.0f)), w, true)),
      rows * n);
}

// What the fold costs is what rounding y costs: each is at most half a unit of bf16, 2^-8, for every term.
TEST(NormGemmReference, FoldingGammaIsAsAccurateAsRoundingY) {
  const NormGemmInputs in;
  const NormGemmReference reference = in.reference();
  for (int i = 0; i < 5; ++i) {
    const double scale = in.scale(i);
    for (int j = 0; j < 24; ++j) {
      double exact = 0, terms = 0, of_rounded_y = 0;
      for (int k = 0; k < 541; ++k) {
        const double y = in.h(i, k) * scale * wide(in.gamma[k]), b = wide(in.w[k * 24 + j]);
        exact += y * b;
        terms += std::abs(y * b);
        of_rounded_y += wide(round_to_bf16(y)) * b;
      }
      const double folded = reference.c(i * 24 + j, reference.product().exact(i * 24 + j), 1).exact;
      EXPECT_LE(std::abs(folded - exact), 0x1p-8 * terms);
      EXPECT_LE(std::abs(of_rounded_y - exact), 0x1p-8 * terms);
      EXPECT_NE(folded, of_rounded_y);
    }
  }
}

}  // namespace
}  // namespace ladder
