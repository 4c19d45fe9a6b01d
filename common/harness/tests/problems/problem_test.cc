// The problems: their names, sizes and scores, and the shapes that they are verified at.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "common/harness/problems/registry.h"

namespace ladder {
namespace {

TEST(Problems, ShapeTexts) {
  EXPECT_EQ(shape_text(gemm_shape(1, 22, 333)), "1x22x333");
  EXPECT_EQ(shape_text(norm_shape(4096, 5)), "4096x5");
  EXPECT_EQ(shape_text(norm_gemm_shape(1, 22, 333)), "1x22x333");
  EXPECT_EQ(shape_text(grouped_shape(4, 1, 22, 333)), "4x1x22x333");
}

TEST(Problems, Footprints) {
  EXPECT_EQ(footprint_bytes(gemm_shape(2, 3, 5)), 2u * (2 * 5 + 5 * 3 + 2 * 3));
  EXPECT_EQ(footprint_bytes(norm_shape(3, 7)), 2u * (4 * 3 * 7 + 7));
  EXPECT_EQ(footprint_bytes(norm_gemm_shape(2, 5, 3)), 2u * (3 * 2 * 5 + 5 + 5 * 3 + 2 * 3));
  EXPECT_EQ(footprint_bytes(grouped_shape(3, 2, 7, 5)), 2u * (2 * 5 + 3 * 5 * 7 + 2 * 7) + 4 * 4);
}

TEST(Problems, FootprintsBeyondThirtyTwoBits) {
  EXPECT_EQ(footprint_bytes(gemm_shape(65536, 65536, 1)), 2u * (65536 + 65536 + 0x1'0000'0000u));
  EXPECT_EQ(footprint_bytes(norm_shape(65536, 65536)), 0x8'0000'0000u + 2 * 65536);
  EXPECT_EQ(footprint_bytes(gemm_shape(max_dimension, max_dimension, max_dimension)),
            6 * (std::uint64_t(1) << 60));
  EXPECT_EQ(footprint_bytes(norm_shape(max_dimension, max_dimension)), (std::uint64_t(1) << 63) + (1u << 31));
}

TEST(Problems, Scores) {
  EXPECT_DOUBLE_EQ(score(gemm_shape(1000, 1000, 1000), Precision::bf16, 1000),
                   2);  // 2 GFLOP in a millisecond: 2 TFLOPS
  EXPECT_DOUBLE_EQ(score(norm_shape(1000, 1000), Precision::bf16, 1.0),
                   8002);  // 8.002 MB in a microsecond: 8002 GB/s
  EXPECT_DOUBLE_EQ(score(row_operator_shape(1000, 500), RowOperation::softmax, 1), 2000);
  EXPECT_DOUBLE_EQ(score(row_operator_shape(1000, 500), RowOperation::layer_norm, 1), 2002);  // gamma, beta
  EXPECT_DOUBLE_EQ(score(norm_gemm_shape(500, 1000, 2000), Precision::bf16, 1000), 2);  // the product alone
  EXPECT_DOUBLE_EQ(score(grouped_shape(64, 500, 1000, 2000), Precision::bf16, 1000), 2);
  EXPECT_NEAR(score(gemm_shape(65536, 65536, 65536), Precision::bf16, 1e6), 562.9,
              0.1);  // products past 2^31
  EXPECT_NEAR(score(norm_shape(65536, 65536), Precision::bf16, 1e6), 34.36, 0.01);
}

TEST(Problems, NamesUnitsAndDefaults) {
  EXPECT_STREQ(ProblemInfo<Gemm>::name, "gemm");
  EXPECT_STREQ(ProblemInfo<FusedNorm>::name, "fused_norm");
  EXPECT_STREQ(ProblemInfo<NormGemm>::name, "norm_gemm");
  EXPECT_STREQ(ProblemInfo<GroupedGemm>::name, "grouped_gemm");
  EXPECT_EQ(shape_text(ProblemInfo<GroupedGemm>::default_shape(DeviceKind::gpu)), "8x4096x14336x4096");
  EXPECT_EQ(shape_text(ProblemInfo<NormGemm>::default_shape(DeviceKind::gpu)), "8192x4096x4096");
  EXPECT_EQ(shape_text(ProblemInfo<Gemm>::default_shape(DeviceKind::gpu)), "4096x4096x4096");
  EXPECT_EQ(shape_text(ProblemInfo<FusedNorm>::default_shape(DeviceKind::gpu)), "16384x8192");
  EXPECT_FLOAT_EQ(ProblemInfo<FusedNorm>::default_shape(DeviceKind::gpu).eps, 1e-5f);
}

template <class Problem>
std::set<std::string> texts(const std::vector<Problem>& shapes) {
  std::set<std::string> all;
  for (const Problem& p : shapes) all.insert(shape_text(p));
  EXPECT_EQ(all.size(), shapes.size()) << "a shape stands twice";
  return all;
}

// What --verify-only is for: single rows, columns and terms, odd sizes, and the course's own.
TEST(Problems, VerifyShapesHoldTheAwkwardOnes) {
  const auto gemm = texts(ProblemInfo<Gemm>::verify_shapes());
  const auto norm = texts(ProblemInfo<FusedNorm>::verify_shapes());
  EXPECT_TRUE(gemm.contains("1x1x1") && gemm.contains("4096x4096x4096"));
  EXPECT_TRUE(norm.contains("1x1") && norm.contains("16384x8192"));
  bool odd_k = false, odd_cols = false;
  for (const Gemm& p : ProblemInfo<Gemm>::verify_shapes()) odd_k |= p.k > 64 && p.k % 2 == 1;
  for (const FusedNorm& p : ProblemInfo<FusedNorm>::verify_shapes())
    odd_cols |= p.cols > 1024 && p.cols % 2 == 1;
  EXPECT_TRUE(odd_k && odd_cols);
}

TEST(Problems, SweepsHoldTheDefaults) {
  EXPECT_TRUE(texts(ProblemInfo<Gemm>::sweep_shapes()).contains("4096x4096x4096"));
  EXPECT_TRUE(texts(ProblemInfo<FusedNorm>::sweep_shapes()).contains("16384x8192"));
}

TEST(Problems, TheCpuKeepsToSmallShapesAndHasSome) {
  EXPECT_TRUE(quick_on_cpu(gemm_shape(1, 1, 1)) && quick_on_cpu(norm_shape(1, 1)));
  EXPECT_FALSE(quick_on_cpu(ProblemInfo<Gemm>::default_shape(DeviceKind::gpu)));
  EXPECT_FALSE(quick_on_cpu(ProblemInfo<FusedNorm>::default_shape(DeviceKind::gpu)));
  EXPECT_FALSE(quick_on_cpu(gemm_shape(max_dimension, max_dimension, max_dimension)));
}

// What the simulator keeps of --verify-only: tails of every dimension on both sides of a tile, one term, one
// row, one column, and rows wider than any kernel holds in registers.
TEST(Problems, TheSimulatorKeepsToSmallShapesThatAreStillAwkward) {
  std::vector<Gemm> gemm = ProblemInfo<Gemm>::verify_shapes();
  std::vector<FusedNorm> norm = ProblemInfo<FusedNorm>::verify_shapes();
  std::erase_if(gemm, [](const Gemm& p) { return !quick_on_simulator(p); });
  std::erase_if(norm, [](const FusedNorm& p) { return !quick_on_simulator(p); });
  const auto any = [](const auto& shapes, auto&& test) {
    return std::any_of(shapes.begin(), shapes.end(), test);
  };
  EXPECT_TRUE(any(gemm, [](const Gemm& p) { return p.m * p.n * p.k == 1; }));
  EXPECT_TRUE(any(gemm, [](const Gemm& p) { return p.k == 1 && p.m > 128 && p.n > 1; }));
  EXPECT_TRUE(any(gemm, [](const Gemm& p) { return p.m == 1 && p.n > 256; }));
  EXPECT_TRUE(any(gemm, [](const Gemm& p) { return p.n == 1 && p.m > 256; }));
  EXPECT_TRUE(
      any(gemm, [](const Gemm& p) { return p.m > 128 && p.n > 128 && p.k % 16 != 0 && p.n % 8 == 0; }));
  EXPECT_TRUE(any(norm, [](const FusedNorm& p) { return p.rows == 1 && p.cols == 1; }));
  EXPECT_TRUE(any(norm, [](const FusedNorm& p) { return p.cols > 65536; }));
  EXPECT_TRUE(any(norm, [](const FusedNorm& p) { return p.rows > 100; }));
  EXPECT_FALSE(quick_on_simulator(ProblemInfo<Gemm>::default_shape(DeviceKind::gpu)));
  EXPECT_FALSE(quick_on_simulator(ProblemInfo<FusedNorm>::default_shape(DeviceKind::gpu)));
}

TEST(Problems, TheSimulatorsDefaultsAreSmall) {
  EXPECT_EQ(shape_text(ProblemInfo<Gemm>::default_shape(DeviceKind::simulator)), "256x256x256");
  EXPECT_EQ(shape_text(ProblemInfo<FusedNorm>::default_shape(DeviceKind::simulator)), "64x8192");
}

}  // namespace
}  // namespace ladder
