#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <tuple>

#include "common/every_shape/fit/fit.h"
#include "common/extension.h"
#include "common/harness/problems/gemm/model_shapes.h"

namespace ladder::every_shape {
namespace {

constexpr int fits = 5;

struct Doubt {
  MeasuredShape shape;
  double lost;  // by the fits' choices, as the others estimate them
};

Doubt doubt_at(const Gemm& p, std::span<const Fitted> fitted, std::size_t most) {
  std::vector<Way> ways;
  for (std::size_t kernel = 0; kernel < all_candidates().size(); ++kernel) {
    each_way(all_candidates()[kernel], true, [&](const Launch& how) {
      if (layout(p, all_candidates()[kernel], how, measured_sms).possible)
        ways.push_back({int(kernel), how, 0});
    });
  }
  std::vector<double> mean(ways.size());  // log(estimate of a way / estimate of the choice)
  std::set<std::size_t> chosen;           // by a fit
  for (const Fitted& f : fitted) {
    std::vector<double> above;
    for (const Way& way : ways) above.push_back(log_estimate(p, way, f));
    const auto lowest = std::ranges::min_element(above);
    chosen.insert(std::size_t(lowest - above.begin()));
    for (std::size_t i = 0; i < ways.size(); ++i) mean[i] += (above[i] - *lowest) / fits;
  }
  Doubt doubt{{p, {}}, 0};
  for (const std::size_t i : chosen) doubt.lost += mean[i] / double(chosen.size());
  std::vector<std::size_t> order(ways.size());
  std::iota(order.begin(), order.end(), std::size_t{});
  std::ranges::sort(order, {}, [&](std::size_t i) { return mean[i]; });
  for (const std::size_t i : order)
    if (chosen.size() < most) chosen.insert(i);
  for (const std::size_t i : chosen) doubt.shape.ways.push_back(ways[i]);
  return doubt;
}

}  // namespace

std::vector<MeasuredShape> doubtful(std::span<const MeasuredShape> measured, const Fitted& start,
                                    std::uint64_t seed, int shapes, int steps, std::size_t most_ways) {
  std::vector<Fitted> fitted;
  for (int part = 0; part < fits; ++part)
    fitted.push_back(measured.empty() ? start : fit(without(measured, part, fits), start, steps));
  std::set<std::tuple<int, int, int>> known;
  for (const MeasuredShape& shape : measured) known.insert({shape.p.m, shape.p.n, shape.p.k});
  std::vector<Doubt> doubts;
  for (const Gemm& p : model_shapes(max_model_shapes, seed))
    if (known.insert({p.m, p.n, p.k}).second) doubts.push_back(doubt_at(p, fitted, most_ways));
  std::ranges::stable_sort(doubts, std::greater(), &Doubt::lost);
  std::vector<MeasuredShape> most;
  for (Doubt& doubt : doubts)
    if (int(most.size()) < shapes) most.push_back(std::move(doubt.shape));
  return most;
}

}  // namespace ladder::every_shape
