// The CPU's roundings to the precisions of common/rung.h, against the toolkit's own and against the
// definition.
#include "common/harness/verify/precision.h"

#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "common/harness/verify/verify.h"

namespace ladder {
namespace {

constexpr Precision all[] = {Precision::fp8, Precision::mxfp8, Precision::nvfp4_blocks, Precision::nvfp4};

float largest_of(const std::vector<float>& matrix) {
  float largest = 0;
  for (const float x : matrix) largest = std::max(largest, std::abs(x));
  return largest;
}

TEST(Elements, AreWhatTheToolkitRoundsTo) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> exponent(-12, 10);
  for (int i = 0; i < 100000; ++i) {
    // Half of them few bits long, so that many lie in the middle between two.
    float x = std::ldexp(normal(random), exponent(random));
    if (i % 2) x = std::ldexp(std::round(normal(random) * 16), exponent(random) - 4);
    const auto fp8 = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
    const auto fp4 = __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest);
    ASSERT_EQ(rounded_element(Precision::fp8, x, 1), decoded_element(Precision::fp8, fp8)) << x;
    ASSERT_EQ(rounded_element(Precision::nvfp4, x, 1), decoded_element(Precision::nvfp4, fp4)) << x;
  }
}

TEST(Elements, EveryCodeMeansWhatTheToolkitSays) {
  for (int code = 0; code < 256; ++code) {
    const auto byte = static_cast<unsigned char>(code);
    const float fp8 = __half2float(__half(__nv_cvt_fp8_to_halfraw(byte, __NV_E4M3)));
    const float got = decoded_element(Precision::mxfp8, byte);
    EXPECT_TRUE(got == fp8 || (std::isnan(got) && std::isnan(fp8))) << code;
    if (code < 16) {
      EXPECT_EQ(decoded_element(Precision::nvfp4, byte),
                __half2float(__half(__nv_cvt_fp4_to_halfraw(byte, __NV_E2M1))))
          << code;
    }
  }
}

TEST(Scales, OfMxfp8AreTheSmallestThatFit) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 100000; ++i) {
    const float largest = i < 40 ? std::ldexp(448.0f, i - 20) : std::abs(normal(random));
    const float scale = scale_of(Precision::mxfp8, largest);
    ASSERT_EQ(scale, std::ldexp(1.0f, std::ilogb(scale)));
    ASSERT_LE(largest, 448 * scale);
    ASSERT_GT(largest, 448 * scale / 2);
    ASSERT_EQ(decoded_scale(Precision::mxfp8,
                            __nv_cvt_float_to_e8m0(largest / 448, __NV_SATFINITE, cudaRoundPosInf)),
              scale)
        << largest;
  }
  EXPECT_EQ(scale_of(Precision::mxfp8, 0), std::ldexp(1.0f, -127));
  EXPECT_EQ(decoded_scale(Precision::mxfp8, 0), std::ldexp(1.0f, -127));
  EXPECT_TRUE(std::isnan(decoded_scale(Precision::mxfp8, 0xFF)));
}

TEST(Scales, OfNvfp4AreASixthAsE4m3) {
  EXPECT_EQ(scale_of(Precision::nvfp4, 6), 1);
  EXPECT_EQ(scale_of(Precision::nvfp4, 2), 0.34375f);
  EXPECT_EQ(scale_of(Precision::nvfp4, 1e9f), 448);
  EXPECT_EQ(scale_of(Precision::nvfp4, 1e-9f), 0);
  EXPECT_EQ(rounded_element(Precision::nvfp4, 1e-9f, 0), 0);
  EXPECT_TRUE(std::isnan(decoded_scale(Precision::nvfp4, 0xB8)));  // a sign
}

// With the matrix's scale the largest block's is 448, whatever the size of the numbers.
TEST(Scales, OfNvfp4CoverAnyRange) {
  EXPECT_EQ(matrix_scale_of(Precision::nvfp4, 2688), 1);
  EXPECT_EQ(matrix_scale_of(Precision::nvfp4, 0), 1);
  EXPECT_EQ(matrix_scale_of(Precision::nvfp4, 0x1p-149f), 1);
  EXPECT_EQ(matrix_scale_of(Precision::nvfp4_blocks, 2688), 1);
  for (const float largest : {1e-30f, 1e-4f, 5.0f, 3e4f, 1e30f}) {
    const float of_matrix = matrix_scale_of(Precision::nvfp4, largest);
    EXPECT_EQ(scale_of(Precision::nvfp4, largest, of_matrix), 448 * of_matrix);
    EXPECT_EQ(scale_of(Precision::nvfp4, largest / 448, of_matrix), of_matrix);
    EXPECT_EQ(scale_of(Precision::nvfp4, largest / 1e7f, of_matrix), 0);
  }
}

// What a matrix of one element of A becomes.
float rounded(Precision precision, float x) {
  std::vector<float> matrix{x};
  round_matrix(precision, Factor::a, matrix, 1, 1);
  return matrix[0];
}

TEST(Types, RoundAsTheToolkitDoes) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> exponent(-28, 20);
  for (int i = 0; i < 100000; ++i) {
    float x = std::ldexp(normal(random), exponent(random));
    if (i % 2) x = std::ldexp(std::round(normal(random) * 16), exponent(random) - 4);
    ASSERT_EQ(rounded(Precision::f16, x), __half2float(__float2half_rn(x))) << x;
    ASSERT_EQ(rounded(Precision::bf16_sparse, x), __bfloat162float(__float2bfloat16_rn(x))) << x;
    ASSERT_EQ(rounded(Precision::fp8_e5m2, x),
              __half2float(__half(
                  __nv_cvt_fp8_to_halfraw(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2), __NV_E5M2))))
        << x;
    ASSERT_EQ(rounded(Precision::fp32, x), x);
  }
}

TEST(Types, Tf32HasTenBitsOfFractionAndTiesGoAway) {
  EXPECT_EQ(rounded(Precision::tf32, 1 + 0x1p-10f), 1 + 0x1p-10f);
  EXPECT_EQ(rounded(Precision::tf32, 1 + 0x1p-11f), 1 + 0x1p-10f);
  EXPECT_EQ(rounded(Precision::tf32, -1 - 0x1p-11f), -1 - 0x1p-10f);
  EXPECT_EQ(rounded(Precision::tf32, 1 + 0x1.FFp-12f), 1);
  EXPECT_EQ(rounded(Precision::tf32, 2 - 0x1p-20f), 2);  // carries into the exponent
  EXPECT_EQ(rounded(Precision::tf32, 1e38f * 1e38f), 1e38f * 1e38f);
}

TEST(Types, S8IsAWholeNumberOfThirtySeconds) {
  EXPECT_EQ(rounded(Precision::s8, 1), 32);
  EXPECT_EQ(rounded(Precision::s8, 0.5f / 32), 0);
  EXPECT_EQ(rounded(Precision::s8, 1.5f / 32), 2);
  EXPECT_EQ(rounded(Precision::s8, 100), 127);
  EXPECT_EQ(rounded(Precision::s8, -100), -127);
}

TEST(Types, MixedOperandsHaveAScaleForEachColumnOfB) {
  constexpr int k = 200, n = 3;
  for (const Precision precision : {Precision::bf16_s8, Precision::bf16_e4m3}) {
    const float most = precision == Precision::bf16_s8 ? 127 : 448;
    std::vector<float> b(k * n), a{1 + 0x1p-8f, 1000, -0x1p-100f};
    for (int i = 0; i < k; ++i) b[i * n] = 1, b[i * n + 1] = float(i % 3) / 7;
    b[3 * n] = -2 * most;
    b[4 * n] = std::numeric_limits<float>::quiet_NaN();
    round_matrix(precision, Factor::b, b, k, n);
    EXPECT_EQ(b[3 * n], -2 * most);
    EXPECT_EQ(b[5 * n], precision == Precision::bf16_s8 ? 0 : 1)
        << "half a step of 2, to even; or 0.5 in e4m3";
    EXPECT_EQ(std::isnan(b[4 * n]), precision == Precision::bf16_e4m3);
    EXPECT_FLOAT_EQ(b[5 * n + 1], 2.0f / 7) << "the largest of its column";
    EXPECT_NEAR(b[4 * n + 1], 1.0f / 7, 0.004f);
    EXPECT_EQ(b[n + 2], 0) << "a column of zeros";
    round_matrix(precision, Factor::a, a, 1, 3);
    EXPECT_EQ(a, (std::vector<float>{1, 1000, -0x1p-100f})) << "bf16, without a scale";
  }
}

TEST(Types, SparseKeepsTheTwoLargestOfFour) {
  std::vector<float> a{1, -3, 2, 0.5f, 4, 4, 4, -4, 0, 0, 0, 7, -1, 1, 2}, b = a;
  round_matrix(Precision::bf16_sparse, Factor::a, a, 1, int(a.size()));
  EXPECT_EQ(a, (std::vector<float>{0, -3, 2, 0, 4, 4, 0, 0, 0, 0, 0, 7, -1, 0, 2}));
  const std::vector<float> whole = b;
  round_matrix(Precision::bf16_sparse, Factor::b, b, 1, int(b.size()));
  EXPECT_EQ(b, whole);
}

TEST(Types, ScalesOfBlocksAreOfRowsInAAndOfSquaresInB) {
  constexpr int lines = 130, length = 140;  // two blocks each way, of which the second is small
  std::vector<float> a(lines * length, 1), b(length * lines, 1);
  a[3 * length + 5] = 448 * 3;
  b[5 * lines + 3] = 448 * 3;
  round_matrix(Precision::fp8_block, Factor::a, a, lines, length);
  round_matrix(Precision::fp8_block, Factor::b, b, length, lines);
  const float coarse = 3 * rounded_element(Precision::fp8, 1.0f / 3, 1);
  for (int line = 0; line < lines; ++line)
    for (int i = 0; i < length; ++i) {
      const bool largest = line == 3 && i == 5;
      const float in_a = largest ? 448 * 3 : line == 3 && i < 128 ? coarse : 1;
      const float in_b = largest ? 448 * 3 : line < 128 && i < 128 ? coarse : 1;
      EXPECT_FLOAT_EQ(a[line * length + i], in_a) << line << ", " << i;
      EXPECT_FLOAT_EQ(b[i * lines + line], in_b) << line << ", " << i;
    }
}

TEST(Types, OfTwoInFp8EachMayBeE5m2) {
  auto of_b = [](Precision precision, float x) {
    std::vector<float> matrix{x};
    round_matrix(precision, Factor::b, matrix, 1, 1);
    return matrix[0];
  };
  constexpr float x = 1.125f;  // a number of e4m3, and in e5m2 in the middle between two
  EXPECT_EQ(rounded(Precision::fp8_e4m3_e5m2, x), x);
  EXPECT_EQ(of_b(Precision::fp8_e4m3_e5m2, x), 1);
  EXPECT_EQ(rounded(Precision::fp8_e5m2_e5m2, x), 1);
  EXPECT_EQ(of_b(Precision::fp8_e5m2_e5m2, x), 1);
  EXPECT_EQ(of_b(Precision::fp8_e5m2, x), x);
}

// The error of numbers that are all rounded is one of their size; without the matrix's scale the small ones
// are lost and the large ones cut off.
TEST(Types, OfNvfp4TheErrorDoesNotDependOnTheSize) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> of_size_one(64 * 64);
  for (float& x : of_size_one) x = normal(random);
  auto error = [&](Precision precision, Factor factor, float size) {
    std::vector<float> matrix = of_size_one;
    for (float& x : matrix) x *= size;
    round_matrix(precision, factor, matrix, 64, 64);
    double squares = 0, of_difference = 0;
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      squares += std::pow(of_size_one[i], 2);
      of_difference += std::pow(matrix[i] / size - of_size_one[i], 2);
    }
    return std::sqrt(of_difference / squares);
  };
  for (const Factor factor : {Factor::a, Factor::b}) {
    const double usual = error(Precision::nvfp4, factor, 1);
    EXPECT_LT(usual, 0.12);
    EXPECT_NEAR(error(Precision::nvfp4_blocks, factor, 1), usual, 0.01);
    for (const float size : {1e-12f, 3e-5f, 1e4f, 1e12f})
      EXPECT_NEAR(error(Precision::nvfp4, factor, size), usual, 0.001) << size;
    EXPECT_EQ(error(Precision::nvfp4_blocks, factor, 3e-5f), 1);
    EXPECT_GT(error(Precision::nvfp4_blocks, factor, 1e4f), 0.5);
  }
}

// As in fp8_tensor.
TEST(Types, OfNvfp4AnInfinityIsEverywhere) {
  for (const Factor factor : {Factor::a, Factor::b}) {
    std::vector<float> matrix(32 * 32, 1);
    matrix[40] = std::numeric_limits<float>::infinity();
    round_matrix(Precision::nvfp4, factor, matrix, 32, 32);
    for (const float x : matrix) EXPECT_TRUE(std::isnan(x));
  }
}

TEST(Types, OfFp8TensorShareOneScale) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(scale_of(Precision::fp8_tensor, 7), 1.0f / 64);
  EXPECT_EQ(scale_of(Precision::fp8_tensor, 0), 1);
  EXPECT_EQ(scale_of(Precision::fp8_tensor, 0x1p-149f), 1);
  for (const Factor factor : {Factor::a, Factor::b}) {
    std::vector<float> matrix(200 * 300, 1);
    matrix[150 * 300 + 7] = -448 * 3;
    matrix[9] = nan;
    round_matrix(Precision::fp8_tensor, factor, matrix, 200, 300);
    EXPECT_EQ(matrix[150 * 300 + 7], -448 * 3);
    EXPECT_TRUE(std::isnan(matrix[9]));
    EXPECT_EQ(matrix[0],
              3 * rounded_element(Precision::fp8, 1.0f / 3, 1));  // not 1: it is far from the largest

    std::vector<float> zeros(6), with_infinity{1, 2, infinity, -4};
    round_matrix(Precision::fp8_tensor, factor, zeros, 2, 3);
    EXPECT_EQ(zeros, std::vector<float>(6));
    round_matrix(Precision::fp8_tensor, factor, with_infinity, 2, 2);
    for (const float x : with_infinity) EXPECT_TRUE(std::isnan(x));
  }
}

// Of a matrix of N(0, 1) that ends with `last`: the error of the others, as a root mean square.
float error_beside(float last, Precision precision, Factor factor) {
  constexpr int lines = 256;
  std::mt19937 random(6);
  std::normal_distribution<float> normal;
  std::vector<float> matrix(lines * lines);
  for (float& x : matrix) x = normal(random);
  matrix.back() = last;
  std::vector<float> rounded_matrix = matrix;
  round_matrix(precision, factor, rounded_matrix, lines, lines);
  double squares = 0;
  for (std::size_t i = 0; i + 1 < matrix.size(); ++i) squares += std::pow(rounded_matrix[i] - matrix[i], 2);
  return float(std::sqrt(squares / double(matrix.size())));
}

// 448 · 512 makes a scale of 512, and e4m3's smallest number a one: the others become whole numbers. In
// blocks that is what becomes of its own block alone: 127 elements of A, a quarter of this B.
TEST(Types, AnOutlierCostsOthersWhatShareItsScale) {
  constexpr float outlier = 448 * 512, whole = 0.289f, e4m3 = 0.0265f;  // 1/sqrt(12); e4m3's own
  for (const Factor factor : {Factor::a, Factor::b}) {
    for (const Precision precision : {Precision::fp8, Precision::fp8_tensor, Precision::fp8_block})
      EXPECT_NEAR(error_beside(1, precision, factor), e4m3, 0.001f);
    EXPECT_NEAR(error_beside(outlier, Precision::fp8_tensor, factor), whole, 0.003f);
  }
  EXPECT_NEAR(error_beside(outlier, Precision::fp8_block, Factor::a), e4m3, 0.003f);
  EXPECT_NEAR(error_beside(outlier, Precision::fp8_block, Factor::b), whole / 2, 0.005f);
}

TEST(Matrices, BlocksRunAlongRowsOrDownColumns) {
  constexpr int rows = 64, cols = 32;
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> matrix(rows * cols), transposed(rows * cols);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) transposed[c * rows + r] = matrix[r * cols + c] = normal(random);
  for (const Precision precision : all) {
    auto along = transposed, down = matrix;
    round_matrix(precision, Factor::a, along, cols, rows);
    round_matrix(precision, Factor::b, down, rows, cols);
    const int block = std::max(1, QuantisedLayout(precision, 1, rows).block);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        float largest = 0;
        for (int i = r / block * block; i < (r / block + 1) * block; ++i)
          largest = std::max(largest, std::abs(matrix[i * cols + c]));
        const float scale = scale_of(precision, largest, matrix_scale_of(precision, largest_of(matrix)));
        const float right = rounded_element(precision, matrix[r * cols + c], scale);
        EXPECT_EQ(down[r * cols + c], right);
        EXPECT_EQ(along[c * rows + r], right);
      }
    }
  }
}

TEST(Layout, OfScalesIsTilesOf128By4) {
  const QuantisedLayout layout(Precision::nvfp4, 300, 16 * 9);
  EXPECT_EQ(layout.tiles_across(), 3);
  EXPECT_EQ(layout.tiles_down(), 3);
  EXPECT_EQ(layout.scale_bytes(), 9u * 512);
  EXPECT_EQ(layout.pitch(), 80u);  // 72, but for whole vectors
  EXPECT_EQ(layout.scale_at(0, 3), 3u);
  EXPECT_EQ(layout.scale_at(0, 4), 512u);
  EXPECT_EQ(layout.scale_at(1, 0), 16u);
  EXPECT_EQ(layout.scale_at(32, 0), 4u);
  EXPECT_EQ(layout.scale_at(33, 5), 512u + 16 + 4 + 1);
  EXPECT_EQ(layout.scale_at(128, 0), 3u * 512);
}

// Scales of A for neighbouring rows are neighbours, so that a tile's are one box; those of B along k.
TEST(BlockScales, LieAsTheLibraryReadsThem) {
  const BlockScales a = BlockScales::of_a(130, 300), b = BlockScales::of_b(130, 300);
  EXPECT_EQ(a.at(1, 0), a.at(0, 0) + 1);
  EXPECT_EQ(a.at(0, 1), 132u);  // rows, rounded up to 16 bytes
  EXPECT_EQ(a.count(), 3u * 132);
  EXPECT_EQ(b.at(0, 1), b.at(0, 0) + 1);
  EXPECT_EQ(b.at(1, 0), 4u);  // three blocks of k, rounded up
  EXPECT_EQ(b.count(), 2u * 4);
}

}  // namespace
}  // namespace ladder
