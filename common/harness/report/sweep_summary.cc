#include "common/harness/report/sweep_summary.h"

#include <algorithm>
#include <cmath>

#include "common/harness/base/format.h"

namespace ladder {
namespace {

std::string count_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " shape" : " shapes");
}

}  // namespace

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / double(values.size()));
}

std::string ratio_summary(const std::vector<ShapeRatio>& ratios, const std::string& how) {
  if (ratios.empty()) return {};
  std::vector<double> all;
  for (const ShapeRatio& r : ratios) all.push_back(r.ratio);
  std::string text = format("\n%s %sbeside the faster of cuBLAS's two: geometric mean %.4fx\n",
                            count_text(all.size()).c_str(), how.c_str(), geometric_mean(all));
  for (const double least : {1.00, 0.97, 0.90})
    text += format("  %.2fx or more  %4d\n", least,
                   int(std::count_if(all.begin(), all.end(), [&](double r) { return r >= least; })));
  const ShapeRatio& worst = *std::min_element(ratios.begin(), ratios.end(),
                                              [](const auto& x, const auto& y) { return x.ratio < y.ratio; });
  text += format("  the worst    %.4fx  %s\n", worst.ratio, worst.shape.c_str());

  constexpr struct {
    const char* name;
    int least, most;
  } ranges[] = {
      {"1-64", 1, 64}, {"65-256", 65, 256}, {"257-1024", 257, 1024}, {"above", 1025, max_dimension}};
  for (const auto& range : ranges) {
    std::vector<double> here;
    for (const ShapeRatio& r : ratios)
      if (r.rows >= range.least && r.rows <= range.most) here.push_back(r.ratio);
    if (!here.empty())
      text += format("  m %-10s %.4fx  of %s\n", range.name, geometric_mean(here),
                     count_text(here.size()).c_str());
  }
  return text;
}

std::string regret_summary(const std::vector<ShapeRegret>& regrets) {
  if (regrets.empty()) return {};
  std::vector<double> all;
  double sum = 0;
  for (const ShapeRegret& r : regrets) {
    all.push_back(r.regret);
    sum += r.regret;
  }
  const ShapeRegret& worst = *std::max_element(
      regrets.begin(), regrets.end(), [](const auto& x, const auto& y) { return x.regret < y.regret; });
  std::sort(all.begin(), all.end());
  const double percentile_90 = all[(9 * all.size() + 9) / 10 - 1];  // nine of ten are no larger
  return format("\n%s beside the fastest variant of each: regret %.2f %% in the mean, ",
                count_text(all.size()).c_str(), 100 * sum / double(all.size())) +
         format("%.2f %% at the 90th percentile, %.2f %% at worst (%s)\n", 100 * percentile_90,
                100 * worst.regret, worst.shape.c_str());
}

void SweepSummary::add_result(const std::string& shape, int rows, const Result& rung) {
  if (!rung.measurement) return;
  const auto& timings = rung.measurement->timings;
  const std::size_t best = fastest_baseline(*rung.measurement);
  if (best == 0) return;
  const double baseline_us = timings[best].median_us;
  ratios_.push_back({shape, rows, baseline_us / timings[0].median_us});
  if (rung.best16_us) best_of_16_.push_back({shape, rows, baseline_us / *rung.best16_us});
}

std::string SweepSummary::text() const {
  return ratio_summary(ratios_, "") +
         ratio_summary(best_of_16_, "with the fastest of the first 16 choices, each tried, ") +
         regret_summary(regrets_);
}

}  // namespace ladder
