// On times that the estimate itself gives, with other costs: a fit must find them.
#include "08_warp_specialized/shapes/fit/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/harness/problems/gemm/model_shapes.h"

namespace ladder::rung_08 {
namespace {

// As if a GPU had these costs. Each time has a constant that the estimate leaves out.
std::vector<MeasuredShape> shapes_of(const Fitted& gpu, int count) {
  std::vector<MeasuredShape> shapes;
  for (const Gemm& p : model_shapes(count, 7)) {
    MeasuredShape& shape = shapes.emplace_back(MeasuredShape{p, {}});
    for (std::size_t kernel = 0; kernel < all_choices().size(); ++kernel) {
      Choice choice = all_choices()[kernel];
      choice.pace = gpu.paces[kernel];
      each_way(choice, true, [&](const Launch& how) {
        const double cycles = estimate_cycles(p, choice, how, measured_sms, gpu.costs);
        if (!std::isinf(cycles)) shape.ways.push_back({int(kernel), how, 1 + cycles / 1800});
      });
    }
    const double best = std::ranges::min_element(shape.ways, {}, &Way::us)->us;
    std::erase_if(shape.ways, [&](const Way& way) { return way.us > 1.3 * best; });
  }
  return shapes;
}

TEST(Fit, NothingIsLostWhereTheCostsAreRight) {
  const Regret r = regret(shapes_of(as_it_is(), 20), as_it_is());
  EXPECT_LT(r.mean, 1e-9);
  EXPECT_NEAR(r.near, 1, 1e-9);
  EXPECT_EQ(r.far, 0);
}

TEST(Fit, FindsOtherCostsAndPaces) {
  Fitted gpu = as_it_is();
  gpu.costs.l2 *= 0.7;
  gpu.costs.in_step[1] *= 1.2;
  for (std::size_t i = 0; i < gpu.paces.size(); i += 3) gpu.paces[i].one_wave *= 0.8;
  const std::vector<MeasuredShape> shapes = shapes_of(gpu, 60);
  const Fitted after = fit(shapes, as_it_is(), 60);
  EXPECT_GT(regret(shapes, as_it_is()).mean, 0.02);
  EXPECT_LT(regret(shapes, after).mean, regret(shapes, as_it_is()).mean / 4);
  EXPECT_LT(after.costs.l2, 0.95 * fitted_costs.l2);
}

// What counts is who is first. Here all times are nearly equal, since a launch takes long, and so the
// estimates cannot be proportional to them.
TEST(Fit, RanksWhereEstimatesAreNotProportional) {
  Fitted gpu = as_it_is();
  for (std::size_t i = 0; i < gpu.paces.size(); i += 2) gpu.paces[i] = {0.7, 0.7};
  std::vector<MeasuredShape> shapes = shapes_of(gpu, 60);
  for (MeasuredShape& shape : shapes) {
    const double best = std::ranges::min_element(shape.ways, {}, &Way::us)->us;
    for (Way& way : shape.ways) way.us = best * (1 + 0.1 * (way.us / best - 1));
  }
  EXPECT_LT(regret(shapes, fit(shapes, as_it_is(), 100)).mean, regret(shapes, as_it_is()).mean / 4);
}

// A kernel that looks much slower than it is is never taken. Its estimate must come down all the same.
TEST(Fit, AKernelThatIsNeverTakenIsFittedToo) {
  const std::vector<MeasuredShape> shapes = shapes_of(as_it_is(), 40);
  Fitted start = as_it_is();
  start.paces[4] = {3 * start.paces[4].one_wave, 3 * start.paces[4].several};
  const Fitted after = fit(shapes, start, 150);
  EXPECT_LT(after.paces[4].one_wave, 0.7 * start.paces[4].one_wave);
}

class MeasuredFile : public testing::Test {
 protected:
  const std::string path_ = testing::TempDir() + "/ways";
  void TearDown() override { std::filesystem::remove(path_); }
};

TEST_F(MeasuredFile, IsReadAsItIsWritten) {
  const std::vector<MeasuredShape> shapes = shapes_of(as_it_is(), 3);
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
  std::ofstream(path_) << "512 512 512 128x256 1 2\n";
  EXPECT_THROW(read(path_, shapes), std::runtime_error);
  EXPECT_THROW(read(path_ + "_missing", shapes), std::runtime_error);
}

// Without white space, which is clang-format's, and comments.
std::string words_of(std::istream& text) {
  std::string words, line;
  while (std::getline(text, line)) {
    line.erase(std::min(line.find("//"), line.size()));
    std::erase_if(line, [](unsigned char c) { return std::isspace(c); });
    words += line;
  }
  return words;
}

TEST(CostsFile, IsWhatTheProgramPrints) {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path().parent_path() / "costs.cc");
  ASSERT_TRUE(file);
  std::istringstream printed(source_of(as_it_is(), 1));
  EXPECT_EQ(words_of(file), words_of(printed));
}

}  // namespace
}  // namespace ladder::rung_08
