// What the estimate must not choose, and what its formula must give, whatever the costs are fitted to.
#include "common/every_shape/estimate/estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "common/every_shape/estimate/fitted.h"
#include "common/extension.h"
#include "common/harness/backend/counters.h"
#include "common/harness/backend/device.h"
#include "common/harness/tests/device_operands.h"

namespace ladder::every_shape {
namespace {

constexpr int sms = 132;
constexpr Cluster alone[] = {{}};
constexpr Candidate in_two{
    .name = "in_two", .kind = Kind::straight_split, .rows = 64, .cols = 64, .clusters = alone, .parts = 2};
constexpr Candidate whole_k{
    .name = "whole_k", .kind = Kind::straight, .rows = 64, .cols = 64, .clusters = alone};

Gemm shape(int m, int n, int k) {
  Gemm p{};
  p.m = m;
  p.n = n;
  p.k = k;
  return p;
}

Formula parts(const Gemm& p, const Candidate& candidate, const Launch& how) {
  return formula(candidate, how, layout(p, candidate, how, sms), sms, fitted_to(Card::h200).costs);
}
double cycles(const Gemm& p, const Candidate& candidate, const Launch& how) {
  return parts(p, candidate, how).cycles;
}
bool possible(const Gemm& p, const Candidate& candidate, const Launch& how) {
  const bool yes = layout(p, candidate, how, sms).possible;
  EXPECT_EQ(std::isinf(cycles(p, candidate, how)), !yes);
  EXPECT_EQ(std::isinf(estimate_cycles(p, candidate, how, sms, Card::h200)), !yes);
  return yes;
}

// A split leaves fewer SMs idle. At 9934 x 88 x 72, where none are, it took 2.7 times as long as a whole
// tile.
TEST(Candidate, KIsNotSplitWhereTilesFillTheGpu) {
  EXPECT_FALSE(possible(shape(9934, 88, 72), in_two, Launch{{}, 2}));
  EXPECT_TRUE(possible(shape(9934, 88, 72), whole_k, {}));
}

TEST(Candidate, KIsSplitWhereTilesLeaveSmsIdle) {
  const Gemm few_tiles = shape(256, 256, 8192);
  EXPECT_LT(cycles(few_tiles, in_two, Launch{{}, 2}), cycles(few_tiles, whole_k, {}));
}

TEST(Candidate, NoCtaOfAClusterIsWithoutRows) {
  for (const Candidate& c : narrow_candidates()) {
    const Launch pair{.cluster = {.m = 2}};
    EXPECT_FALSE(possible(shape(c.rows, 96, 512), c, pair)) << c.name;
    EXPECT_TRUE(possible(shape(c.rows + 1, 96, 512), c, pair)) << c.name;
  }
}

TEST(Candidate, NoCtaOfAClusterIsWithoutColumns) {
  for (const Candidate& c : narrow_candidates()) {
    const Launch four{.cluster = {.n = 4}};
    EXPECT_FALSE(possible(shape(512, 3 * c.cols, 512), c, four)) << c.name;
    EXPECT_TRUE(possible(shape(512, 3 * c.cols + 8, 512), c, four)) << c.name;
  }
}

// The lowest estimate is taken, then the next.
TEST(Candidate, TakesTheLowestEstimates) {
  for (const Gemm& p :
       {shape(345, 4096, 4096), shape(64, 4096, 4096), shape(4096, 64, 4096), shape(8, 8, 8)}) {
    std::vector<double> lowest;
    for (const Candidate& c : all_candidates())
      each_way(c, false,
               [&](const Launch& how) { lowest.push_back(estimate_cycles(p, c, how, sms, Card::h200)); });
    std::ranges::sort(lowest);
    for (int rank = 0; rank < 4; ++rank) {
      Chosen chosen;
      ASSERT_EQ(choose(p, all_candidates(), &chosen, rank), cudaSuccess);
      EXPECT_EQ(chosen.cycles, lowest[rank]);
      EXPECT_EQ(chosen.cycles, estimate_cycles(p, *chosen.candidate, chosen.how, sms, Card::h200));
      EXPECT_EQ(std::ranges::count(chosen.candidate->clusters, chosen.how.cluster), 1);
    }
  }
}

// Of 8 x 64 x 4096, whose k may be divided into parts: launches differ in how many CTAs they have, and in how
// many warps. What they store hardly does.
TEST(Candidate, ARankedLaunchIsTheOneOfThatRank) {
  constexpr int m = 8, n = 64, k = 4096, ranks = 16;
  const auto& of_rung = *rung().gemm.back().extension;
  const OnDevice a(numbers(m * k, 1)), b(numbers(k * n, 2)), c(m * n * sizeof(Bits::value_type));
  Gemm p{.m = m, .n = n, .k = k, .a = a.get(), .b = b.get(), .c = c.get()};
  const OnDevice workspace(of_rung.workspace_bytes(p));
  TypedOperands typed{};
  typed.workspace = workspace.get();
  p.typed = &typed;
  ASSERT_EQ(of_rung.prepare(p, nullptr), cudaSuccess);
  using Launched = std::tuple<Bits, std::uint64_t, std::uint64_t>;
  const auto launched = [&](const auto& launch) {
    EXPECT_EQ(cudaMemset(c.get(), 0xFF, m * n * sizeof(Bits::value_type)), cudaSuccess);
    const auto done = [&] {
      EXPECT_EQ(launch(), cudaSuccess);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    };
    Counters counters{};
    if (device_kind() == DeviceKind::simulator) {
      counters = count(done, false);
    } else {
      done();
    }
    return Launched(c.read(m * n), counters.ctas, counters.warps);
  };
  std::set<Launched> different;
  for (int rank = 0; rank < ranks; ++rank) {
    Chosen chosen;
    ASSERT_EQ(choose(p, all_candidates(), &chosen, rank), cudaSuccess);
    const Launched expected =
        launched([&] { return chosen.candidate->launch(p, chosen.how, nullptr, false); });
    EXPECT_EQ(launched([&] { return of_rung.ranked(p, rank, nullptr); }), expected) << rank;
    different.insert(expected);
  }
  EXPECT_GT(different.size(), device_kind() == DeviceKind::simulator ? 4u : 0u);
}

// The simulated device is an H200.
TEST(Candidate, KnowsItsCard) {
  Card card = Card::h100;
  ASSERT_EQ(card_of(0, &card), cudaSuccess);
  EXPECT_EQ(card, Card::h200);
  EXPECT_NE(card_of(1000, &card), cudaSuccess);
}

// One kernel that is made for the problem, in one cluster: there is nothing else, whatever the rank.
TEST(Candidate, TheLastWayIsTakenWhereThereAreFewer) {
  constexpr Candidate only[] = {whole_k};
  Chosen chosen;
  ASSERT_EQ(choose(shape(512, 512, 512), only, &chosen, 3), cudaSuccess);
  EXPECT_EQ(chosen.candidate, only);
  EXPECT_FALSE(std::isinf(chosen.cycles));
}

TEST(Candidate, AWayThatIsNotPossibleIsTakenOnlyWhereThereIsNoOther) {
  constexpr Candidate only[] = {in_two};
  Chosen chosen;
  ASSERT_EQ(choose(shape(9934, 88, 72), only, &chosen), cudaSuccess);
  EXPECT_EQ(chosen.candidate, only);
  EXPECT_TRUE(std::isinf(chosen.cycles));
}

constexpr Candidate tile{.name = "tile", .kind = Kind::ping_pong, .rows = 128, .cols = 64, .clusters = alone};

// Each wave takes as long as the one before, and a launch begins only once.
TEST(Formula, WavesAreMultiplied) {
  const auto rows = [](int m) { return cycles(shape(m, 704, 4096), tile, {}); };
  const double one = rows(1536), two = rows(3072), three = rows(4608);  // 132 tiles in each wave
  EXPECT_LT(two, 2 * one);
  EXPECT_GT(two, 1.9 * one);
  EXPECT_NEAR(three - two, two - one, 1e-6);
}

// 128 tiles wait for L2, and 8 do not. In a cluster each CTA loads a part, and waits for less.
TEST(Formula, FewTilesAndClustersNeedLessOfL2) {
  constexpr Candidate small{
      .name = "small", .kind = Kind::ping_pong, .rows = 8, .cols = 64, .clusters = alone};
  Costs slow = fitted_to(Card::h200).costs;
  slow.l2 = 100;
  const auto waits = [&](const Gemm& p, const Launch& how) {
    return formula(small, how, layout(p, small, how, sms), sms, slow).cycles;
  };
  EXPECT_GT(waits(shape(1024, 64, 4096), {}), 4 * waits(shape(64, 64, 4096), {}));
  EXPECT_GT(waits(shape(1024, 64, 4096), {}), 1.1 * waits(shape(1024, 64, 4096), {.cluster = {.m = 2}}));
}

TEST(Formula, TensorCoresSetThePaceOfALargeTile) {
  constexpr Candidate large{
      .name = "large", .kind = Kind::ping_pong, .rows = 192, .cols = 256, .clusters = alone};
  Costs slow = fitted_to(Card::h200).costs;
  slow.tensor *= 2;
  const Gemm p = shape(192, 256, 16384);
  const Layout at = layout(p, large, {}, sms);
  EXPECT_GT(formula(large, {}, at, sms, slow).cycles, 1.8 * cycles(p, large, {}));
}

// The network sees which unit is busy in a k-tile, and where the cycles go.
TEST(Formula, SaysWhatItsCyclesConsistOf) {
  constexpr Candidate large{
      .name = "large", .kind = Kind::ping_pong, .rows = 192, .cols = 256, .clusters = alone};
  const Formula f = parts(shape(192, 256, 16384), large, {});
  EXPECT_NEAR(f.busy[0], 1, 0.1);
  EXPECT_LT(f.busy[2], 0.1);  // one tile does not keep L2 busy
  EXPECT_GT(f.loop, 0.9);
  EXPECT_LT(f.loop + f.end, 1);
  const Formula short_k = parts(shape(192, 256, 64), large, {});
  EXPECT_LT(short_k.loop, short_k.end);
  EXPECT_LT(short_k.loop + short_k.end, 1);
}

constexpr Candidate in_memory{
    .name = "in_memory", .kind = Kind::in_memory, .rows = 128, .cols = 128, .clusters = alone, .parts = 16};

// Parts wait for each other in a loop: if they did not run at the same time, a launch would not end.
TEST(Candidate, PartsInMemoryRunAtOnce) {
  const Gemm p = shape(1024, 1024, 65536);  // 64 tiles
  EXPECT_TRUE(possible(p, in_memory, Launch{{}, 2}));
  EXPECT_FALSE(possible(p, in_memory, Launch{{}, 3}));
}

TEST(Candidate, AWholeTileAndAShortKAreNotSharedOutThroughMemory) {
  EXPECT_FALSE(possible(shape(256, 256, 65536), in_memory, {}));
  EXPECT_FALSE(possible(shape(256, 256, 448), in_memory, Launch{{}, 2}));
}

// The workspace holds the parts of as many CTAs as a launch may have.
TEST(Candidate, WorkspaceIsBounded) {
  const Gemm one = shape(8, 8, 65536), few = shape(512, 512, 65536), many = shape(16384, 16384, 65536);
  EXPECT_EQ(workspace_of_parts(shape(256, 256, 448)), 0u);
  EXPECT_GT(workspace_of_parts(one), 0u);
  EXPECT_GE(workspace_of_parts(few), workspace_of_parts(one));
  EXPECT_LE(workspace_of_parts(many), std::size_t{64} << 20);
}

// Such rows load more lines, which the formula does not know.
TEST(Network, SeesWhereRowsCutLinesAndSectors) {
  const auto inputs = [](int n, int k) {
    const Gemm p = shape(4096, n, k);
    return network_inputs(p, whole_k, {}, layout(p, whole_k, {}, sms), parts(p, whole_k, {}), {});
  };
  const auto differ = [&](int n, int k) {
    int inputs_that_jump = 0;
    const auto aligned = inputs(4096, 4096), other = inputs(n, k);
    for (std::size_t i = 0; i < aligned.size(); ++i) inputs_that_jump += std::abs(aligned[i] - other[i]) > 2;
    return inputs_that_jump;
  };
  EXPECT_EQ(differ(4096, 4032), 0);
  EXPECT_EQ(differ(4080, 4096), 1);
  EXPECT_EQ(differ(4088, 4096), 2);
  EXPECT_EQ(differ(4096, 4080), 1);
  EXPECT_EQ(differ(4088, 4088), 4);
}

TEST(Network, InputsAreOfTheSizeThatItHasLearned) {
  for (const Gemm& p :
       {shape(1, 8, 8), shape(16384, 8, 8), shape(1, 57344, 8192), shape(16384, 16384, 16384)}) {
    for (const Candidate& c : all_candidates()) {
      each_way(c, true, [&](const Launch& how) {
        const Layout at = layout(p, c, how, sms);
        if (!at.possible) return;
        for (const Traits& traits : c.traits)
          for (const float x : network_inputs(p, c, how, at, parts(p, c, how), traits))
            EXPECT_LT(std::abs(x), 20) << c.name;
      });
    }
  }
}

// By its name, and launched alone it is the same kernel.
TEST(Network, KnowsEveryKernel) {
  for (const Card card : all_cards) {
    EXPECT_EQ(fitted_to(card).kernels.size(), all_candidates().size());
    for (const Candidate& c : all_candidates()) EXPECT_NE(c.traits[int(card)], Traits{}) << c.name;
  }
  for (const Candidate& c : all_candidates()) {
    Candidate without = c;
    without.traits = {};
    EXPECT_EQ(as_known(without).traits, c.traits) << c.name;
  }
  Candidate stranger = whole_k;
  EXPECT_EQ(&as_known(stranger), &stranger);
}

// A factor, and no second formula: far from what it has learned it must not run away.
TEST(Network, IsAFactor) {
  for (const Gemm& p : {shape(1, 8, 8), shape(100000, 8, 8), shape(8, 100000, 8), shape(8, 8, 1000000),
                        shape(20000, 20000, 20000)}) {
    for (const Candidate& c : all_candidates()) {
      each_way(c, true, [&](const Launch& how) {
        const Layout at = layout(p, c, how, sms);
        if (!at.possible) return;
        for (const Card card : all_cards) {
          const double cycles = formula(c, how, at, sms, fitted_to(card).costs).cycles;
          const double factor = estimate_cycles(p, c, how, sms, card) / cycles;
          EXPECT_GT(factor, 0.1) << c.name;
          EXPECT_LT(factor, 10) << c.name;
        }
      });
    }
  }
}

// One that wastes half of each tile must not look as good.
TEST(Formula, ATileAsWideAsTheProblemIsFaster) {
  const Gemm tall = shape(8192, 96, 4096);
  double of_96 = 0, of_192 = 0;
  for (const Candidate& c : narrow_candidates()) {
    if (c.rows != 64) continue;
    if (c.cols == 96) of_96 = cycles(tall, c, {});
    if (c.cols == 192) of_192 = cycles(tall, c, {});
  }
  EXPECT_LT(of_96, of_192);
}

}  // namespace
}  // namespace ladder::every_shape
