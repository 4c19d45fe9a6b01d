// The check of quantised outputs against planted faults.
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

#include "common/harness/verify/precision.h"
#include "common/harness/verify/verify.h"

namespace ladder::quantised {
namespace {

float largest_of(const std::vector<float>& matrix) {
  float largest = 0;
  for (const float x : matrix) largest = std::max(largest, std::abs(x));
  return largest;
}

constexpr int rows = 130, cols = 96;  // 130: two tiles of scales; 96: less than a tile of mxfp8

// An output that is right, and what it should be.
struct Output {
  Precision precision;
  std::vector<std::byte> elements, scales;
  std::vector<Expected> expected;
  float matrix_scale;

  explicit Output(Precision p) : precision(p) {
    const QuantisedLayout layout(p, rows, cols);
    elements.resize(layout.element_bytes());
    scales.resize(layout.scale_bytes());
    std::mt19937 random(4);
    std::normal_distribution<float> normal;
    std::vector<float> x(rows * cols);
    for (float& value : x) {
      value = normal(random);
      expected.push_back({value, 1e-6});
    }
    matrix_scale = matrix_scale_of(p, largest_of(x));
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        const int block = layout.block ? layout.block : 1;
        float largest = 0;
        for (int i = col / block * block; i < std::min((col / block + 1) * block, cols); ++i)
          largest = std::max(largest, std::abs(x[row * cols + i]));
        const float scale = scale_of(p, largest, matrix_scale);
        if (layout.fp32_scales()) {
          std::memcpy(&scales[layout.scale_at(row, col / block)], &scale, sizeof scale);
        } else if (layout.block != 0) {
          scales[layout.scale_at(row, col / block)] = std::byte(
              p == Precision::nvfp4 ? __nv_cvt_float_to_fp8(scale / matrix_scale, __NV_SATFINITE, __NV_E4M3)
                                    : __nv_cvt_float_to_e8m0(scale, __NV_SATFINITE, cudaRoundZero));
        }
        std::byte& to = elements[row * layout.pitch() + col * layout.bits / 8];
        if (p == Precision::nvfp4) {
          const int half = __nv_cvt_float_to_fp4(x[row * cols + col] / scale, __NV_E2M1, cudaRoundNearest);
          to |= std::byte(half << (col % 2 * 4));
        } else {
          to = std::byte(__nv_cvt_float_to_fp8(x[row * cols + col] / scale, __NV_SATFINITE, __NV_E4M3));
        }
      }
    }
  }
  Verdict check() const {
    return check_quantised(
        "y", precision, rows, cols, elements, scales, [&](std::uint64_t i) { return expected[i]; },
        matrix_scale);
  }
};

constexpr Precision stored[] = {Precision::fp8, Precision::fp8_block, Precision::mxfp8, Precision::nvfp4};

TEST(CheckQuantised, WhatIsRightPasses) {
  for (const Precision precision : stored) {
    const Verdict verdict = Output(precision).check();
    EXPECT_EQ(verdict.wrong, 0u) << verdict.first_wrong;
    EXPECT_EQ(verdict.checked, std::uint64_t(rows * cols));
    EXPECT_GT(verdict.error, 0);
    EXPECT_LE(verdict.error, verdict.bound);
  }
}

TEST(CheckQuantised, FindsAnElement) {
  for (const Precision precision : stored) {
    Output output(precision);
    const QuantisedLayout layout(precision, rows, cols);
    output.elements[129 * layout.pitch() + 95 * layout.bits / 8] ^=
        std::byte(precision == Precision::nvfp4 ? 0x70 : 0x08);  // of col 95, the upper half
    const Verdict verdict = output.check();
    EXPECT_EQ(verdict.wrong, 1u);
    EXPECT_NE(verdict.first_wrong.find("y[129,95]"), std::string::npos) << verdict.first_wrong;
  }
}

TEST(CheckQuantised, FindsNanAndPoison) {
  Output output(Precision::mxfp8);
  output.elements[5] = std::byte(0x7F);
  EXPECT_EQ(output.check().wrong, 1u);
  Output unwritten(Precision::nvfp4);
  std::fill(unwritten.elements.begin(), unwritten.elements.end(), std::byte(0xFF));
  std::fill(unwritten.scales.begin(), unwritten.scales.end(), std::byte(0xFF));
  EXPECT_GE(unwritten.check().wrong, std::uint64_t(rows * cols));
}

TEST(CheckQuantised, FindsAScaleOneStepOff) {
  for (const Precision precision : {Precision::mxfp8, Precision::nvfp4}) {
    Output output(precision);
    std::byte& scale = output.scales[QuantisedLayout(precision, rows, cols).scale_at(129, 2)];
    scale = std::byte(std::to_integer<int>(scale) + 1);
    const Verdict verdict = output.check();
    EXPECT_GE(verdict.wrong, 1u);
    EXPECT_NE(verdict.first_wrong.find("the scale of y[129], block 2"), std::string::npos)
        << verdict.first_wrong;
  }
}

TEST(CheckQuantised, FindsTheScaleOfAllDropped) {
  Output output(Precision::nvfp4);
  output.matrix_scale = 1;
  EXPECT_GE(output.check().wrong, std::uint64_t(rows * cols) * 9 / 10);  // not what is 0
}

TEST(CheckQuantised, FindsAnFp32ScaleThatIsOff) {
  Output output(Precision::fp8_block);
  std::byte* const scale = &output.scales[QuantisedLayout(Precision::fp8_block, rows, cols).scale_at(129, 0)];
  float value;
  std::memcpy(&value, scale, sizeof value);
  for (const float wrong : {value * 1.0001f, std::numeric_limits<float>::quiet_NaN()}) {
    std::memcpy(scale, &wrong, sizeof wrong);
    const Verdict verdict = output.check();
    EXPECT_GE(verdict.wrong, 1u);
    EXPECT_NE(verdict.first_wrong.find("the scale of y[129], block 0"), std::string::npos)
        << verdict.first_wrong;
  }
}

TEST(CheckQuantised, FindsScalesOfTwoRowsSwapped) {
  Output output(Precision::nvfp4);
  const QuantisedLayout layout(Precision::nvfp4, rows, cols);
  std::swap(output.scales[layout.scale_at(3, 1)], output.scales[layout.scale_at(35, 1)]);
  EXPECT_GE(output.check().wrong, 1u);
}

TEST(CheckQuantised, FindsAScalePastTheRowsEnd) {
  Output output(Precision::mxfp8);  // three blocks: the fourth of the tile must be 0
  output.scales[QuantisedLayout(Precision::mxfp8, rows, cols).scale_at(7, 3)] = std::byte(1);
  EXPECT_EQ(output.check().wrong, 1u);
}

}  // namespace
}  // namespace ladder::quantised
