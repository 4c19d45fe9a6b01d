// On times that the estimate itself gives, with other costs: a fit must find them.
#include "common/every_shape/fit/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <utility>

#include "common/extension.h"
#include "common/harness/problems/gemm/model_shapes.h"

namespace ladder::every_shape {
extern const char *const text_of_h200, *const text_of_h100;  // estimate/h200.txt, h100.txt

namespace {

// As if this were a GPU: us(shape, kernel, way) is a time, infinite where a kernel is not made for the shape.
// Each has a constant that the estimate leaves out.
template <class Us>
std::vector<MeasuredShape> shapes_of(int count, const Us& us) {
  std::vector<MeasuredShape> shapes;
  for (const Gemm& p : model_shapes(count, 7)) {
    MeasuredShape& shape = shapes.emplace_back(MeasuredShape{p, {}});
    for (std::size_t kernel = 0; kernel < all_candidates().size(); ++kernel) {
      each_way(all_candidates()[kernel], true, [&](const Launch& how) {
        const double time = us(p, all_candidates()[kernel], how);
        if (!std::isinf(time)) shape.ways.push_back({int(kernel), how, time});
      });
    }
    const double best = std::ranges::min_element(shape.ways, {}, &Way::us)->us;
    std::erase_if(shape.ways, [&](const Way& way) { return way.us > 1.3 * best; });
  }
  return shapes;
}
std::vector<MeasuredShape> shapes_of_costs(int count, const Costs& costs) {
  return shapes_of(count, [&](const Gemm& p, const Candidate& candidate, const Launch& how) {
    return 1 + formula(candidate, how, layout(p, candidate, how, measured_sms), measured_sms, costs).cycles /
                   1800;
  });
}
// The H200's costs, and a network and traits of small random numbers.
Fitted untrained() {
  Fitted f = as_it_is(Card::h200);
  std::mt19937 random(1);
  const auto uniform = [&](double most) { return float(most * (random() / 2147483647.5 - 1)); };
  for (auto& of_input : f.network.weight)
    for (float& weight : of_input) weight = uniform(0.1);
  for (float& bias : f.network.bias) bias = 0;
  for (float& out : f.network.out) out = uniform(0.015);
  for (Fitted::Kernel& kernel : f.kernels)
    for (float& trait : kernel.traits) trait = uniform(0.1);
  return f;
}
double as_estimated(const Gemm& p, const Candidate& candidate, const Launch& how) {
  return 1 + estimate_cycles(p, candidate, how, measured_sms, Card::h200) / 1800;
}

TEST(Fit, NothingIsLostWhereTheEstimateIsRight) {
  const Regret r = regret(shapes_of(20, as_estimated), as_it_is(Card::h200));
  EXPECT_LT(r.mean, 1e-6);
  EXPECT_NEAR(r.near, 1, 1e-9);
  EXPECT_EQ(r.far, 0);
}

TEST(Fit, FindsOtherCosts) {
  Costs gpu = fitted_to(Card::h200).costs;
  gpu.l2 *= 0.4;
  gpu.of_kind[int(Kind::ping_pong)].wave *= 3;
  const std::vector<MeasuredShape> shapes = shapes_of_costs(60, gpu);
  const Fitted after = fit(shapes, untrained(), 120);
  EXPECT_GT(regret(shapes, untrained()).mean, 0.01);
  EXPECT_LT(regret(shapes, after).mean, regret(shapes, untrained()).mean / 4);
  EXPECT_LT(after.costs.l2, 0.95 * fitted_to(Card::h200).costs.l2);
}

// Two things that no cost describes.
TEST(Fit, TheNetworkLearnsWhatTheFormulaDoesNotKnow) {
  const std::vector<MeasuredShape> shapes =
      shapes_of(80, [](const Gemm& p, const Candidate& candidate, const Launch& how) {
        const bool slow = (candidate.rows > 128 && p.k < 4096) || how.cluster.n > 1;
        return (slow ? 1.15 : 1) * as_estimated(p, candidate, how);
      });
  const Regret before = regret(shapes, untrained()), after = regret(shapes, fit(shapes, untrained(), 300));
  EXPECT_GT(before.mean, 0.03);
  EXPECT_LT(after.mean, before.mean / 4);
}

// Nothing in their tiles tells that these kernels are slow.
TEST(Fit, AKernelsTraitsAreLearned) {
  const auto is_slow = [](const Candidate& candidate) {
    return (&candidate - all_candidates().data()) % 3 == 0;
  };
  const std::vector<MeasuredShape> shapes =
      shapes_of(80, [&](const Gemm& p, const Candidate& candidate, const Launch& how) {
        return (is_slow(candidate) ? 1.15 : 1) * as_estimated(p, candidate, how);
      });
  Fitted alike = fit(shapes, untrained(), 300);
  const Regret after = regret(shapes, alike);
  EXPECT_LT(after.mean, 0.01);
  for (Fitted::Kernel& kernel : alike.kernels) kernel.traits = {};
  EXPECT_GT(regret(shapes, alike).mean, 2 * after.mean);
}

// Here all times are nearly equal, since a launch takes long. The estimates cannot be proportional to them,
// and the choice becomes better all the same.
TEST(Fit, ChoosesBetterWhereEstimatesCannotBeProportional) {
  Costs gpu = fitted_to(Card::h200).costs;
  gpu.of_kind[int(Kind::narrow)].wave *= 4;
  gpu.of_kind[int(Kind::ping_pong)].store *= 4;
  std::vector<MeasuredShape> shapes = shapes_of_costs(60, gpu);
  for (MeasuredShape& shape : shapes) {
    const double best = std::ranges::min_element(shape.ways, {}, &Way::us)->us;
    for (Way& way : shape.ways) way.us = best * (1 + 0.1 * (way.us / best - 1));
  }
  EXPECT_LT(regret(shapes, fit(shapes, untrained(), 400)).mean, regret(shapes, untrained()).mean / 1.5);
}

// A kind that looks much slower than it is is never taken. Its estimate must come down all the same.
TEST(Fit, AKernelThatIsNeverTakenIsFittedToo) {
  const std::vector<MeasuredShape> shapes = shapes_of_costs(40, fitted_to(Card::h200).costs);
  Fitted start = untrained();
  Costs::OfKind& narrow = start.costs.of_kind[int(Kind::narrow)];
  narrow.start *= 4;
  narrow.wave *= 4;
  const Fitted after = fit(shapes, start, 400);
  EXPECT_LT(after.costs.of_kind[int(Kind::narrow)].wave, 0.8 * narrow.wave);
}

// A card that differs from the H200 in one thing: a fit that begins with the H200's numbers chooses better at
// shapes that it has not seen than the H200's numbers, and than a fit that begins with nothing.
TEST(Fit, AnotherCardBeginsWithTheH200sNumbers) {
  const std::vector<MeasuredShape> shapes =
      shapes_of(400, [](const Gemm& p, const Candidate& candidate, const Launch& how) {
        return (how.cluster.n > 1 ? 0.9 : 1) * as_estimated(p, candidate, how);
      });
  const auto measured = only(shapes, 0, 2), others = without(shapes, 0, 2);
  const auto after = [&](const Fitted& start) { return regret(others, fit(measured, start, 300)).mean; };
  const double fitted = after(start_of(Card::h100));
  EXPECT_LT(fitted, 0.9 * regret(others, as_it_is(Card::h200)).mean);
  EXPECT_LT(fitted, 0.9 * after(untrained()));
}

// What should be measured next has not been measured, and has all that a fit might choose. Fits to noise
// disagree.
TEST(Fit, DoubtfulShapesAreNewAndHaveTheirCandidates) {
  std::vector<MeasuredShape> known = shapes_of(40, as_estimated);
  std::mt19937 random(1);
  for (MeasuredShape& shape : known)
    for (Way& way : shape.ways) way.us *= 1 + double(random()) / 4294967296.0;
  constexpr int steps = 40;
  const std::vector<MeasuredShape> next = doubtful(known, untrained(), 7, max_model_shapes, steps, 5);
  ASSERT_EQ(next.size(), max_model_shapes - known.size());
  for (const MeasuredShape& shape : next)
    EXPECT_TRUE(std::ranges::none_of(known, [&](const MeasuredShape& other) {
      return other.p.m == shape.p.m && other.p.n == shape.p.n && other.p.k == shape.p.k;
    }));
  for (int part = 0; part < 5; ++part) {
    const Fitted f = fit(without(known, part, 5), untrained(), steps);
    for (std::size_t i = 0; i < 20; ++i) {
      const MeasuredShape& shape = next[i];
      EXPECT_LE(shape.ways.size(), 5u);
      double lowest = 1e300, taken = 1e300;
      for (std::size_t kernel = 0; kernel < all_candidates().size(); ++kernel) {
        each_way(all_candidates()[kernel], true, [&](const Launch& how) {
          if (layout(shape.p, all_candidates()[kernel], how, measured_sms).possible)
            lowest = std::min(lowest, log_estimate(shape.p, {int(kernel), how, 0}, f));
        });
      }
      for (const Way& way : shape.ways) {
        EXPECT_EQ(way.us, 0);
        taken = std::min(taken, log_estimate(shape.p, way, f));
      }
      EXPECT_EQ(taken, lowest);
    }
  }
  EXPECT_EQ(doubtful(known, untrained(), 7, 5, steps).size(), 5u);
}

TEST(Fit, WhereNothingIsMeasuredTheLowestEstimatesAreLikely) {
  const std::vector<MeasuredShape> first = doubtful({}, start_of(Card::h100), 7, 12, 1, 5);
  const std::vector<Gemm> drawn = model_shapes(12, 7);
  ASSERT_EQ(first.size(), drawn.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].p.n, drawn[i].n);
    ASSERT_EQ(first[i].ways.size(), 5u);
    Chosen lowest;  // on the simulated device, an H200
    TypedOperands with_workspace{};
    with_workspace.workspace = &lowest;
    Gemm p = drawn[i];
    p.typed = &with_workspace;
    ASSERT_EQ(choose(p, all_candidates(), &lowest), cudaSuccess);
    EXPECT_TRUE(std::ranges::any_of(first[i].ways, [&](const Way& way) {
      return &all_candidates()[way.kernel] == lowest.candidate && way.how.cluster == lowest.how.cluster &&
             way.how.parts == lowest.how.parts;
    }));
  }
}

// Of the kernels in ping-pong all but two are taken away. Then others of their kind are missed, and none that
// is there.
TEST(Missing, TilesThatAreTakenAwayAreMissed) {
  std::vector<Candidate> have(all_candidates().begin(), all_candidates().end());
  int kept = 0;
  std::erase_if(have, [&](const Candidate& c) { return c.kind == Kind::ping_pong && ++kept > 2; });
  const std::vector<Gemm> shapes = model_shapes(60, 1);
  const std::vector<MissingTile> missed = missing(have, shapes, Card::h200);
  EXPECT_TRUE(std::ranges::any_of(missed, [](const auto& tile) { return tile.kind == Kind::ping_pong; }));
  int of_all = 0;
  for (const MissingTile& tile : missed) {
    EXPECT_TRUE(std::ranges::none_of(have, [&](const Candidate& c) {
      return c.kind == tile.kind && c.per_sm == 1 && c.rows == tile.rows && c.cols == tile.cols;
    }));
    EXPECT_GE(tile.shapes, 1);
    EXPECT_GT(tile.most, 0.03);
    of_all += tile.shapes;
  }
  int with_all = 0;
  for (const MissingTile& tile : missing(all_candidates(), shapes, Card::h200)) with_all += tile.shapes;
  EXPECT_LT(2 * with_all, of_all);
}

class MeasuredFile : public testing::Test {
 protected:
  const std::string path_ = testing::TempDir() + "/ways";
  void TearDown() override { std::filesystem::remove(path_); }
};

TEST_F(MeasuredFile, IsReadAsItIsWritten) {
  const std::vector<MeasuredShape> shapes = shapes_of(3, as_estimated);
  {
    std::ofstream file(path_);
    for (const MeasuredShape& shape : shapes) write(file, shape);
  }
  std::vector<MeasuredShape> read_back;
  read(path_, read_back);
  ASSERT_EQ(read_back.size(), shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_EQ(read_back[i].p.n, shapes[i].p.n);
    ASSERT_EQ(read_back[i].ways.size(), shapes[i].ways.size());
    for (std::size_t j = 0; j < shapes[i].ways.size(); ++j) {
      EXPECT_EQ(read_back[i].ways[j].kernel, shapes[i].ways[j].kernel);
      EXPECT_EQ(read_back[i].ways[j].how.cluster, shapes[i].ways[j].how.cluster);
      EXPECT_EQ(read_back[i].ways[j].how.parts, shapes[i].ways[j].how.parts);
      EXPECT_NEAR(read_back[i].ways[j].us, shapes[i].ways[j].us, 1e-4 * shapes[i].ways[j].us);
    }
  }
}

TEST_F(MeasuredFile, KernelsOfOtherTimesAreLeftOutAndRubbishIsNot) {
  std::vector<MeasuredShape> shapes;
  std::ofstream(path_) << "512 512 512 of_yesterday 1 1 1 5.5\n512 512 512 128x256 1 2 1 5.5\n";
  read(path_, shapes);
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_EQ(shapes[0].ways.size(), 1u);
  std::ofstream(path_) << "512 512 512 128x256 1 2 1 0\n";
  EXPECT_THROW(read(path_, shapes), std::runtime_error);
  read(path_, shapes, true);
  EXPECT_EQ(shapes.back().ways.size(), 2u);
  std::ofstream(path_) << "512 512 512 128x256 1 2\n";
  EXPECT_THROW(read(path_, shapes), std::runtime_error);
  EXPECT_THROW(read(path_ + "_missing", shapes), std::runtime_error);
}

// Without comments, which say of how many shapes it is.
std::string numbers_of(const std::string& text) {
  std::istringstream lines(text);
  std::string numbers;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with('#')) numbers += line + '\n';
  return numbers;
}

TEST(FittedText, IsWhatTheProgramPrints) {
  for (const auto& [card, text] : {std::pair(Card::h200, text_of_h200), {Card::h100, text_of_h100}})
    EXPECT_EQ(numbers_of(text), numbers_of(text_of(as_it_is(card), card, 1)));
}

}  // namespace
}  // namespace ladder::every_shape
