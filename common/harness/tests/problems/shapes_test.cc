// Which shapes --verify-only runs, and where: what a rung is verified by must not get lost in an edit.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "common/harness/problems/gemm/model_shapes.h"
#include "common/harness/problems/registry.h"

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
  for (const GroupedGemm& p : ProblemInfo<GroupedGemm>::verify_shapes()) texts.push_back(shape_text(p));
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

TEST(VerifyShapes, OfEveryKindOfGroupsOnTheSimulator) {
  for (const GroupedGemm& p : ProblemInfo<GroupedGemm>::verify_shapes())
    EXPECT_EQ(p.n % 8 + p.k % 8, 0) << shape_text(p) << ": no rung takes it";
  const auto rows = [](const GroupedGemm& p, auto&& condition) {  // of any group, in either pass
    const std::vector<int> offsets = group_offsets(p, false, 1), other = group_offsets(p, false, ~1ull);
    bool any = false;
    for (int g = 0; g < p.groups; ++g)
      any |= condition(offsets[g + 1] - offsets[g]) || condition(other[g + 1] - other[g]);
    return any;
  };
  const auto with_rows = [&](auto&& condition) {
    return simulated<GroupedGemm>([&](const GroupedGemm& p) { return rows(p, condition); });
  };
  EXPECT_GE(with_rows([](int m) { return m == 0; }), 3);
  EXPECT_GE(with_rows([](int m) { return m == 1; }), 3);
  EXPECT_GE(with_rows([](int m) { return m > 152; }), 2) << "higher than a tile";
  EXPECT_GE(simulated<GroupedGemm>([](const GroupedGemm& p) { return p.groups == 1; }), 2);
  EXPECT_GE(simulated<GroupedGemm>([](const GroupedGemm& p) { return p.groups > 64; }), 2)
      << "lanes of two warps";
  EXPECT_GE(simulated<GroupedGemm>([](const GroupedGemm& p) { return p.k > 640; }), 1) << "round a ring";
  EXPECT_GE(simulated<GroupedGemm>([](const GroupedGemm& p) { return p.k % 64 != 0 && p.n % 64 != 0; }), 5);
}

TEST(VerifyShapes, OfEveryKindOfLinearOnTheSimulator) {
  for (const Linear& p : ProblemInfo<Linear>::verify_shapes())
    EXPECT_EQ(p.n % 8 + p.k % 8, 0) << shape_text(p) << ": no rung takes it";
  EXPECT_GE(simulated<Linear>([](const Linear& p) { return p.m == 1; }), 1);
  EXPECT_GE(simulated<Linear>([](const Linear& p) { return p.n % 128 == 8; }), 5) << "a vector past a tile";
  EXPECT_GE(simulated<Linear>([](const Linear& p) { return p.n > 256 && p.m > 256; }), 2)
      << "several tiles both ways";
  EXPECT_GE(simulated<Linear>([](const Linear& p) { return p.k > 512; }), 1) << "round a ring";
}

TEST(VerifyShapes, OfEveryKindOfRowOnTheSimulator) {
  const auto rows_with = [](auto&& condition) {
    return simulated<RowOperator>([&](const RowOperator& p) { return condition(p.cols); });
  };
  EXPECT_GE(rows_with([](int cols) { return cols == 1; }), 1);
  EXPECT_GE(rows_with([](int cols) { return cols < 32; }), 4) << "a warp's lanes without an element";
  EXPECT_GE(rows_with([](int cols) { return cols % 8 != 0; }), 4) << "rows that start between two vectors";
  EXPECT_GE(rows_with([](int cols) { return cols % 8 == 0 && cols > 65536; }), 1) << "wider than a CTA holds";
  for (const int most : {2048, 4096, 8192, 16384, 32768})
    EXPECT_GE(rows_with([&](int cols) { return cols % 8 == 0 && cols > most && cols <= 2 * most; }), 1)
        << "each size of cluster";
  EXPECT_GE(simulated<RowOperator>([](const RowOperator& p) { return p.rows > 2112; }), 1);
}

// Pinned: a seed shares out the same rows on every machine.
TEST(GroupOffsets, AreAsARouterLeavesThem) {
  EXPECT_EQ(group_offsets(grouped_shape(4, 100, 8, 8), false, 1), (std::vector<int>{0, 8, 29, 42, 100}));
  for (const std::uint64_t seed : {0ull, 1ull, 7ull})
    for (const int m : {1, 3, 1000, 1 << 30}) {
      const std::vector<int> offsets = group_offsets(grouped_shape(50, m, 8, 8), false, seed);
      EXPECT_EQ(offsets.size(), 51u);
      EXPECT_EQ(offsets.front(), 0);
      EXPECT_EQ(offsets.back(), m);
      EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
    }
  const GroupedGemm p = grouped_shape(64, 6400, 8, 8);
  EXPECT_NE(group_offsets(p, false, 1), group_offsets(p, false, 2));
  int fewest = p.m, most = 0;
  for (const Gemm& gemm : gemms_of(p, group_offsets(p, false, 1)))
    fewest = std::min(fewest, gemm.m), most = std::max(most, gemm.m);
  EXPECT_LT(fewest, 40);
  EXPECT_GT(most, 250);
}

TEST(GroupOffsets, EvenOnesDifferByOne) {
  EXPECT_EQ(group_offsets(grouped_shape(3, 9, 8, 8), true, 1), (std::vector<int>{0, 3, 6, 9}));
  EXPECT_EQ(group_offsets(grouped_shape(4, 6, 8, 8), true, 1), (std::vector<int>{0, 1, 3, 4, 6}));
  EXPECT_EQ(group_offsets(grouped_shape(3, 1 << 30, 8, 8), true, 1)[3], 1 << 30);
}

TEST(GroupOffsets, OneProductForEachGroupWithRows) {
  GroupedGemm p = grouped_shape(3, 5, 16, 8);
  std::vector<__nv_bfloat16> memory(1000);
  p.a = p.b = memory.data();
  p.c = memory.data();
  const std::vector<Gemm> gemms = gemms_of(p, {0, 2, 2, 5});
  ASSERT_EQ(gemms.size(), 2u);
  EXPECT_EQ(shape_text(gemms[0]), "2x16x8");
  EXPECT_EQ(shape_text(gemms[1]), "3x16x8");
  EXPECT_EQ(gemms[1].a - p.a, 2 * 8);
  EXPECT_EQ(gemms[1].b - p.b, 2 * 8 * 16);
  EXPECT_EQ(gemms[1].c - p.c, 2 * 16);
}

std::vector<std::string> model_texts(int count, std::uint64_t seed) {
  std::vector<std::string> texts;
  for (const Gemm& p : model_shapes(count, seed)) texts.push_back(shape_text(p));
  return texts;
}

TEST(Problems, ASweepOverKHasPowersOfTwo) {
  const std::vector<Gemm> shapes = shapes_over_k(2048, 2304);
  EXPECT_EQ(shapes.size(), 9u);
  EXPECT_EQ(shape_text(shapes.front()), "2048x2304x64");
  EXPECT_EQ(shape_text(shapes.back()), "2048x2304x16384");
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
