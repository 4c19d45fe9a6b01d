#include "common/every_shape/fit/fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <thread>

namespace ladder::every_shape {
namespace {

// The temperature, in logarithms of times: it falls in the first half of the steps, and stays.
constexpr double hot = 0.1, cold = 0.015;
constexpr double convex = 5;         // a large loss counts more than in proportion
constexpr double proportional = 20;  // the weight of the second term,
constexpr double fast = 0.1;         // and log(time / the fastest's) at which a kernel counts 1/e
// The weight of a parameter's squared distance from where it started.
constexpr double near_start = 3e-4, traits_near_start = 1e-4;
constexpr double rate = 0.01, decay = 0.9, decay_of_squares = 0.99;  // Adam's
constexpr int batches = 4;                                           // a step sees every fourth shape
constexpr double difference = 1e-4;  // of a cost's logarithm, for the gradient

// All parameters in one row: the logarithms of the costs, then the network, then the traits.
static_assert(sizeof(Costs) % sizeof(double) == 0 && sizeof(Network) % sizeof(float) == 0);
constexpr std::size_t of_costs = sizeof(Costs) / sizeof(double), of_network = sizeof(Network) / sizeof(float);
constexpr std::size_t biases = offsetof(Network, bias) / sizeof(float),
                      outs = offsetof(Network, out) / sizeof(float);
constexpr std::size_t of_traits = of_costs + of_network, traits = std::tuple_size_v<Traits>;
using Row = std::vector<double>;

Row row_of(const Fitted& f) {
  double costs[of_costs];
  float network[of_network];
  std::memcpy(costs, &f.costs, sizeof costs);
  std::memcpy(network, &f.network, sizeof network);
  Row row;
  for (const double cost : costs) row.push_back(std::log(cost));
  row.insert(row.end(), std::begin(network), std::end(network));
  for (const auto& [name, of_kernel] : f.kernels) row.insert(row.end(), of_kernel.begin(), of_kernel.end());
  return row;
}
Fitted fitted(const Row& row) {
  double costs[of_costs];
  float network[of_network];
  for (std::size_t i = 0; i < of_costs; ++i) costs[i] = std::exp(row[i]);
  for (std::size_t i = 0; i < of_network; ++i) network[i] = float(row[of_costs + i]);
  Fitted f;
  std::memcpy(&f.costs, costs, sizeof costs);
  std::memcpy(&f.network, network, sizeof network);
  for (const Candidate& candidate : all_candidates()) f.kernels.push_back({candidate.name, {}});
  for (std::size_t i = of_traits; i < row.size(); ++i)
    f.kernels[(i - of_traits) / traits].traits[(i - of_traits) % traits] = float(row[i]);
  return f;
}

// A way to launch a kernel at a shape, and its estimate.
struct Estimate {
  const Gemm* p;
  const Way* way;
  const Candidate* candidate;
  Layout at;
  Network::Inputs inputs;
  Network::Hidden sums, values;
  double formula, log;  // logarithms: of the formula, and of the estimate
  double log_us;
  double lost;                   // minimised in the mean
  double taken = 0, weight = 0;  // its probability; its weight in the second term

  Formula formula_of(const Costs& costs) const {
    return every_shape::formula(*candidate, way->how, at, measured_sms, costs);
  }
  void update(const Fitted& f) {
    const Formula now = formula_of(f.costs);
    inputs = network_inputs(*p, *candidate, way->how, at, now, f.kernels[way->kernel].traits);
    hidden_layer(f.network, inputs, sums, values);
    formula = std::log(now.cycles);
    log = formula + output(f.network, values);
  }
};
using OfShape = std::vector<Estimate>;

double fastest_us(const MeasuredShape& shape) {
  return std::ranges::min(shape.ways, {}, &Way::us).us;
}

Estimate estimate_of(const Gemm& p, const Way& way) {
  Estimate e{};
  e.p = &p;
  e.way = &way;
  e.candidate = &all_candidates()[way.kernel];
  e.at = layout(p, *e.candidate, way.how, measured_sms);
  return e;
}

OfShape estimates(const MeasuredShape& shape) {
  const double best = std::log(fastest_us(shape));
  OfShape all;
  for (const Way& way : shape.ways) {
    Estimate e = estimate_of(shape.p, way);
    e.log_us = std::log(way.us);
    e.lost = e.log_us - best + convex * (e.log_us - best) * (e.log_us - best);
    all.push_back(e);
  }
  return all;
}

// Adds a shape's share of the gradient. shifted[i]: the costs with the i-th a little larger. The network's
// inputs count as constants: the gradient of the costs is that of the formula itself.
void add_gradient(OfShape& all, const Fitted& f, const std::vector<Costs>& shifted, double temperature,
                  Row& gradient) {
  double best = 1e300, lowest = 1e300;
  for (Estimate& e : all) {
    e.update(f);
    best = std::min(best, e.log_us);
    lowest = std::min(lowest, e.log);
  }
  double sum = 0, mean = 0, weights = 0, offset = 0;
  for (Estimate& e : all) {
    e.taken = std::exp((lowest - e.log) / temperature);
    e.weight = std::exp((best - e.log_us) / fast) + std::exp((lowest - e.log) / fast);
    sum += e.taken;
    weights += e.weight;
    offset += e.weight * (e.log - e.log_us);
  }
  for (Estimate& e : all) mean += (e.taken /= sum) * e.lost;
  for (const Estimate& e : all) {
    const double by_log = e.taken / temperature * (mean - e.lost) +
                          2 * proportional * e.weight / weights * (e.log - e.log_us - offset / weights);
    if (std::abs(by_log) < 1e-6) continue;
    constexpr std::size_t of_kind = sizeof(Costs::OfKind) / sizeof(double);
    for (std::size_t j = 0; j < of_costs; ++j)
      if (j >= kinds * of_kind || j / of_kind == std::size_t(e.candidate->kind))
        gradient[j] += by_log * (std::log(e.formula_of(shifted[j]).cycles) - e.formula) / difference;
    double* const of = &gradient[of_costs];
    double by_sum[Network::hidden];
    for (int h = 0; h < Network::hidden; ++h) {
      const double one = 1 + std::abs(double(e.sums[h]));
      by_sum[h] = by_log * f.network.out[h] / (one * one);
      of[biases + h] += by_sum[h];
      of[outs + h] += by_log * e.values[h];
    }
    for (int i = 0; i < Network::inputs; ++i)
      for (int h = 0; h < Network::hidden; ++h) of[i * Network::hidden + h] += by_sum[h] * e.inputs[i];
    for (std::size_t t = 0; t < traits; ++t) {
      const auto& of_trait = f.network.weight[Network::inputs - traits + t];
      for (int h = 0; h < Network::hidden; ++h)
        gradient[of_traits + e.way->kernel * traits + t] += by_sum[h] * of_trait[h];
    }
  }
}

Row gradient_of(std::vector<OfShape>& shapes, const Row& start, const Row& row, int batch,
                double temperature) {
  const Fitted f = fitted(row);
  std::vector<Costs> shifted;
  for (std::size_t i = 0; i < of_costs; ++i) {
    Row larger = row;
    larger[i] += difference;
    shifted.push_back(fitted(larger).costs);
  }
  const std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Row> of_thread(threads, Row(row.size()));
  std::vector<std::thread> workers;
  for (std::size_t t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      for (std::size_t i = batch + t * batches; i < shapes.size(); i += threads * batches)
        add_gradient(shapes[i], f, shifted, temperature, of_thread[t]);
    });
  }
  for (std::thread& worker : workers) worker.join();
  Row gradient(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    for (const Row& part : of_thread) gradient[i] += part[i] * batches / double(shapes.size());
    gradient[i] += 2 * (i < of_traits ? near_start : traits_near_start) * (row[i] - start[i]);
  }
  return gradient;
}

}  // namespace

Fitted as_it_is(Card card) {
  Fitted f{fitted_to(card).costs, fitted_to(card).network, {}};
  for (const Candidate& candidate : all_candidates())
    f.kernels.push_back({candidate.name, candidate.traits[int(card)]});
  return f;
}

Fitted start_of(Card card) {
  return as_it_is(card == Card::h200 ? Card::h100 : Card::h200);
}

Regret regret(std::span<const MeasuredShape> shapes, const Fitted& f) {
  Regret r;
  for (const MeasuredShape& shape : shapes) {
    OfShape all = estimates(shape);
    for (Estimate& e : all) e.update(f);
    const double us = std::ranges::min(all, {}, &Estimate::log).way->us;
    const double lost = us / fastest_us(shape) - 1, share = 1.0 / double(shapes.size());
    r.mean += lost * share;
    r.worst = std::max(r.worst, lost);
    if (lost <= 0.03) r.near += share;
    if (lost > 0.1) r.far += share;
  }
  return r;
}

double log_estimate(const Gemm& p, const Way& way, const Fitted& f) {
  Estimate e = estimate_of(p, way);
  e.update(f);
  return e.log;
}

std::vector<MeasuredShape> without(std::span<const MeasuredShape> shapes, int part, int parts) {
  std::vector<MeasuredShape> some;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (int(i % parts) != part) some.push_back(shapes[i]);
  return some;
}
std::vector<MeasuredShape> only(std::span<const MeasuredShape> shapes, int part, int parts) {
  std::vector<MeasuredShape> some;
  for (std::size_t i = part; i < shapes.size(); i += parts) some.push_back(shapes[i]);
  return some;
}

Fitted fit(std::span<const MeasuredShape> shapes, const Fitted& start, int steps) {
  std::vector<OfShape> all;
  for (const MeasuredShape& shape : shapes) all.push_back(estimates(shape));
  const Row first = row_of(start);
  Row row = first, mean(row.size()), squares(row.size());
  for (int step = 0; step < steps; ++step) {
    const double temperature = std::max(cold, hot * std::pow(cold / hot, 2.0 * step / steps));
    const Row gradient = gradient_of(all, first, row, step % batches, temperature);
    const double slower = std::min(1.0, 2.0 * (steps - step) / steps);  // in the second half
    for (std::size_t i = 0; i < row.size(); ++i) {
      mean[i] = decay * mean[i] + (1 - decay) * gradient[i];
      squares[i] = decay_of_squares * squares[i] + (1 - decay_of_squares) * gradient[i] * gradient[i];
      const double unbiased = mean[i] / (1 - std::pow(decay, step + 1));
      const double root = std::sqrt(squares[i] / (1 - std::pow(decay_of_squares, step + 1)));
      row[i] -= rate * slower * unbiased / (root + 1e-8);
    }
  }
  return fitted(row);
}

}  // namespace ladder::every_shape
