// Which shapes --verify-only runs, and where: what a rung is verified by must not get lost in an edit.
#include "common/harness/problems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ladder {
namespace {

// How many of the shapes that the simulator is given are as the condition says.
template <class Problem, class Condition>
int simulated(const Condition& condition) {
  const std::vector<Problem> shapes = ProblemInfo<Problem>::verify_shapes();
  return int(std::count_if(shapes.begin(), shapes.end(), [&](const Problem& p) {
    return quick_on_simulator(p) && quick_on_cpu(p) && condition(p);
  }));
}

bool in_vectors(const Gemm& p) {
  return p.n % 8 == 0 && p.k % 8 == 0;
}

TEST(VerifyShapes, NoneTwice) {
  std::vector<std::string> texts;
  for (const Gemm& p : ProblemInfo<Gemm>::verify_shapes()) texts.push_back(shape_text(p));
  for (const FusedNorm& p : ProblemInfo<FusedNorm>::verify_shapes()) texts.push_back(shape_text(p));
  for (const NormGemm& p : ProblemInfo<NormGemm>::verify_shapes())
    texts.push_back("norm_gemm " + shape_text(p));
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(std::adjacent_find(texts.begin(), texts.end()), texts.end());
}

TEST(VerifyShapes, OfEveryKindOnTheSimulator) {
  EXPECT_GE(simulated<Gemm>([](const Gemm& p) { return p.n % 8 != 0; }), 4);
  EXPECT_GE(simulated<Gemm>([](const Gemm& p) { return p.k % 8 != 0; }), 4);
  EXPECT_GE(simulated<Gemm>([](const Gemm& p) { return p.m == 1 || p.n == 1; }), 4);
  EXPECT_GE(simulated<FusedNorm>([](const FusedNorm& p) { return p.cols % 8 != 0; }), 4);
  EXPECT_GE(simulated<FusedNorm>([](const FusedNorm& p) { return p.cols % 8 == 0; }), 8);
  EXPECT_GE(simulated<FusedNorm>([](const FusedNorm& p) { return p.cols > 65536; }), 2);
  EXPECT_GE(simulated<FusedNorm>([](const FusedNorm& p) { return p.rows > 2112; }), 1)
      << "more rows of one warp than an H200 has warps for";
}

// What is left where a rung takes 16-byte rows only.
TEST(VerifyShapes, OfEveryKindInWholeVectorsOnTheSimulator) {
  auto in_whole_vectors = [](auto&& condition) {
    return simulated<Gemm>([&](const Gemm& p) { return in_vectors(p) && condition(p); });
  };
  EXPECT_GE(in_whole_vectors([](const Gemm& p) { return p.m % 2 == 1 && p.m > 1; }), 4)
      << "a ragged last row";
  EXPECT_GE(in_whole_vectors([](const Gemm& p) { return p.m == 1; }), 1);
  EXPECT_GE(in_whole_vectors([](const Gemm& p) { return p.n == 8; }), 2);
  EXPECT_GE(in_whole_vectors([](const Gemm& p) { return p.n > 128 && p.n % 16 == 8; }), 3)
      << "half a fragment";
  EXPECT_GE(in_whole_vectors([](const Gemm& p) { return p.k == 8; }), 2);
  EXPECT_GE(in_whole_vectors([](const Gemm& p) { return p.k % 16 == 8; }), 4) << "half a step of mma";
  EXPECT_GE(in_whole_vectors([](const Gemm& p) { return p.k >= 1024; }), 1) << "many times round a ring";
  EXPECT_GE(in_whole_vectors([](const Gemm& p) { return p.m % 128 + p.n % 128 + p.k % 32 == 0; }), 2)
      << "whole tiles";
}

TEST(VerifyShapes, OfEveryKindOfNormGemmOnTheSimulator) {
  for (const NormGemm& p : ProblemInfo<NormGemm>::verify_shapes())
    EXPECT_EQ(p.cols % 8 + p.n % 8, 0) << shape_text(p) << ": no rung takes it";
  EXPECT_GE(simulated<NormGemm>([](const NormGemm& p) { return p.rows == 1; }), 1);
  EXPECT_GE(simulated<NormGemm>([](const NormGemm& p) { return p.rows > 1 && p.rows % 2 == 1; }), 3);
  EXPECT_GE(simulated<NormGemm>([](const NormGemm& p) { return p.cols > 1024; }), 1) << "a row in parts";
  EXPECT_GE(simulated<NormGemm>([](const NormGemm& p) { return p.rows > 128 && p.cols > 512; }), 1)
      << "rows in blocks, each in parts";
  EXPECT_GE(simulated<NormGemm>([](const NormGemm& p) { return p.rows > 256 && p.n > 128; }), 1)
      << "several tiles both ways";
}

}  // namespace
}  // namespace ladder
