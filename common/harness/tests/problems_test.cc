// Which shapes --verify-only runs, and where: what a rung is verified by must not get lost in an edit.
#include "common/harness/problems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "common/harness/model_shapes.h"

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

std::vector<std::string> model_texts(int count, std::uint64_t seed) {
  std::vector<std::string> texts;
  for (const Gemm& p : model_shapes(count, seed)) texts.push_back(shape_text(p));
  return texts;
}

// Pinned: a reader's sweep has the shapes of the course's.
TEST(ModelShapes, AreTheSameOnEveryMachine) {
  EXPECT_EQ(model_texts(3, 1), (std::vector<std::string>{"256x16384x3072", "98x7168x5120", "31x4784x88"}));
  EXPECT_NE(model_texts(3, 1), model_texts(3, 2));
}

TEST(ModelShapes, FewerAreTheFirstOfMore) {
  std::vector<std::string> more = model_texts(200, 1);
  more.resize(40);
  EXPECT_EQ(more, model_texts(40, 1));
}

TEST(ModelShapes, AreDifferentAndWithinBounds) {
  for (const std::uint64_t seed : {0ull, 1ull, 2ull, ~0ull}) {
    std::set<std::string> different;
    for (const Gemm& p : model_shapes(max_model_shapes, seed)) {
      different.insert(shape_text(p));
      EXPECT_TRUE(p.m >= 1 && p.m <= 16384 && p.n >= 8 && p.k >= 8) << shape_text(p);
      EXPECT_EQ(p.n % 8 + p.k % 8, 0) << shape_text(p);
      EXPECT_LE(2.0 * p.m * p.n * p.k, max_model_flop) << shape_text(p);
    }
    EXPECT_EQ(different.size(), std::size_t(max_model_shapes));
  }
}

TEST(ModelShapes, TwoOfThreeAreOfALayerAndOneOfThreeHasAPowerOfTwo) {
  const auto is_layer = [](const Gemm& p) {
    const auto layers = model_layers();
    return std::any_of(layers.begin(), layers.end(),
                       [&](const ModelLayer& layer) { return layer.n == p.n && layer.k == p.k; });
  };
  const std::vector<Gemm> shapes = model_shapes(300, 1);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Gemm& p = shapes[i];
    EXPECT_TRUE(i % 3 == 2 ? p.n <= 16384 && p.k <= 16384 : is_layer(p)) << shape_text(p);
    EXPECT_TRUE(i % 3 != 0 || (p.m & (p.m - 1)) == 0) << shape_text(p);
  }
}

// Each octave of m gets about as many; only the largest products are drawn again.
TEST(ModelShapes, AreSpreadOverEveryM) {
  const std::vector<Gemm> shapes = model_shapes(600, 1);
  for (int least = 1; least <= 4096; least *= 8)
    EXPECT_GE(std::count_if(shapes.begin(), shapes.end(),
                            [&](const Gemm& p) { return p.m >= least && p.m < 8 * least; }),
              60)
        << least;
}

TEST(ModelShapes, SomeAreForTheSimulator) {
  const std::vector<Gemm> shapes = model_shapes(40, 1);
  EXPECT_GE(std::count_if(shapes.begin(), shapes.end(), [](const Gemm& p) { return quick_on_simulator(p); }),
            2);
}

}  // namespace
}  // namespace ladder
