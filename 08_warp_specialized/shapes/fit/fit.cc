#include "08_warp_specialized/shapes/fit/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>

namespace ladder::rung_08 {
namespace {

// The temperature, of logarithms of times: falls in the first half of the steps, and stays.
constexpr double hot = 0.1, cold = 0.01;
constexpr double convex = 5;          // what is lost counts more, the more it is
constexpr double proportional = 0.2;  // the weight of the second thing,
constexpr double fast = 0.1;    // and the logarithm of a ratio to the fastest at which a kernel counts 1/e
constexpr double alike = 1e-3;  // the weight of the difference of a kernel's two paces,
constexpr double near_start = 1e-3;  // and of a number from the one it began with
constexpr double rate = 0.01, decay = 0.9, decay_of_squares = 0.99;  // Adam's
constexpr int batches = 4;                                           // a step sees every fourth shape
constexpr double difference = 1e-4;  // of a number's logarithm, for the gradient

// All numbers as one row: the costs, then two paces of each kernel.
static_assert(std::is_trivially_copyable_v<Costs> && sizeof(Costs) % sizeof(double) == 0);
constexpr std::size_t of_costs = sizeof(Costs) / sizeof(double),
                      of_kind = sizeof(Costs::OfKind) / sizeof(double);
using Numbers = std::vector<double>;

Numbers numbers(const Fitted& f) {
  Numbers row(of_costs);
  std::memcpy(row.data(), &f.costs, sizeof f.costs);
  for (const Pace& pace : f.paces) row.insert(row.end(), {pace.one_wave, pace.several});
  return row;
}
Costs costs_of(const Numbers& row) {
  Costs costs;
  std::memcpy(&costs, row.data(), sizeof costs);
  return costs;
}
Fitted fitted(const Numbers& row) {
  Fitted f{costs_of(row), {}};
  for (std::size_t i = of_costs; i < row.size(); i += 2) f.paces.push_back({row[i], row[i + 1]});
  return f;
}

double log_estimate(const Gemm& p, const Way& way, const Pace& pace, const Costs& costs) {
  Choice choice = all_choices()[way.kernel];
  choice.pace = pace;
  return std::log(estimate_cycles(p, choice, way.how, measured_sms, costs));
}

const Way& fastest(const MeasuredShape& shape) {
  return *std::ranges::min_element(shape.ways, {}, &Way::us);
}

// Of a way to launch a kernel at a shape.
struct Estimate {
  double log, log_us;
  double lost;                   // of which the mean is made small
  double taken = 0, weight = 0;  // the probability; and among the proportional
};

std::vector<Estimate> estimates(const MeasuredShape& shape, const Fitted& f, double temperature) {
  const double best = std::log(fastest(shape).us);
  std::vector<Estimate> all;
  double lowest = 1e300, sum = 0;
  for (const Way& way : shape.ways) {
    const double log = log_estimate(shape.p, way, f.paces[way.kernel], f.costs),
                 loss = std::log(way.us) - best;
    all.push_back({log, std::log(way.us), loss + convex * loss * loss});
    lowest = std::min(lowest, log);
  }
  for (Estimate& e : all) sum += e.taken = std::exp((lowest - e.log) / temperature);
  for (Estimate& e : all) {
    e.taken /= sum;
    e.weight = std::exp((best - e.log_us) / fast) + std::exp((lowest - e.log) / fast);
  }
  return all;
}

// Adds a shape's part of the gradient. shifted[i]: the costs with the i-th a little larger.
void add_gradient(const MeasuredShape& shape, const Fitted& f, const std::vector<Costs>& shifted,
                  double temperature, Numbers& gradient) {
  const std::vector<Estimate> all = estimates(shape, f, temperature);
  double mean = 0, weights = 0, offset = 0;
  for (const Estimate& e : all) {
    mean += e.taken * e.lost;
    weights += e.weight;
    offset += e.weight * (e.log - e.log_us);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Estimate& e = all[i];
    const double by_log = e.taken / temperature * (mean - e.lost) +
                          2 * proportional * e.weight / weights * (e.log - e.log_us - offset / weights);
    if (std::abs(by_log) < 1e-5) continue;
    const Way& way = shape.ways[i];
    const auto slope = [&](const Pace& pace, const Costs& costs) {
      return (log_estimate(shape.p, way, pace, costs) - e.log) / difference;
    };
    const Pace& pace = f.paces[way.kernel];
    const double in_one_wave = slope({pace.one_wave * std::exp(difference), pace.several}, f.costs);
    gradient[of_costs + 2 * way.kernel] += by_log * in_one_wave;
    gradient[of_costs + 2 * way.kernel + 1] += by_log * (1 - in_one_wave);
    const std::size_t kind = std::size_t(all_choices()[way.kernel].kind);
    for (std::size_t j = 0; j < of_costs; ++j)
      if (j >= kinds * of_kind || j / of_kind == kind) gradient[j] += by_log * slope(pace, shifted[j]);
  }
}

Numbers gradient_of(std::span<const MeasuredShape> shapes, const Numbers& start, const Numbers& row,
                    int batch, double temperature) {
  const Fitted f = fitted(row);
  std::vector<Costs> shifted;
  for (std::size_t i = 0; i < of_costs; ++i) {
    Numbers larger = row;
    larger[i] *= std::exp(difference);
    shifted.push_back(costs_of(larger));
  }
  const std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Numbers> of_thread(threads, Numbers(row.size()));
  std::vector<std::thread> workers;
  for (std::size_t t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      for (std::size_t i = batch + t * batches; i < shapes.size(); i += threads * batches)
        add_gradient(shapes[i], f, shifted, temperature, of_thread[t]);
    });
  }
  for (std::thread& worker : workers) worker.join();
  Numbers gradient(row.size());
  for (std::size_t i = 0; i < row.size(); ++i)
    for (const Numbers& part : of_thread) gradient[i] += part[i] * batches / double(shapes.size());
  for (std::size_t i = 0; i < row.size(); ++i) gradient[i] += near_start * std::log(row[i] / start[i]);
  for (std::size_t i = of_costs; i < row.size(); i += 2) {
    const double apart = std::log(row[i] / row[i + 1]);
    gradient[i] += alike * apart;
    gradient[i + 1] -= alike * apart;
  }
  return gradient;
}

std::string rounded(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", x);
  return text;
}

}  // namespace

Fitted as_it_is() {
  Fitted f{fitted_costs, {}};
  for (const Choice& choice : all_choices()) f.paces.push_back(choice.pace);
  return f;
}

Regret regret(std::span<const MeasuredShape> shapes, const Fitted& f) {
  Regret r;
  for (const MeasuredShape& shape : shapes) {
    const Way& taken = *std::ranges::min_element(shape.ways, {}, [&](const Way& way) {
      return log_estimate(shape.p, way, f.paces[way.kernel], f.costs);
    });
    const double lost = taken.us / fastest(shape).us - 1, share = 1.0 / double(shapes.size());
    r.mean += lost * share;
    r.worst = std::max(r.worst, lost);
    if (lost <= 0.03) r.near += share;
    if (lost > 0.1) r.far += share;
  }
  return r;
}

Fitted fit(std::span<const MeasuredShape> shapes, const Fitted& start, int steps) {
  const Numbers first = numbers(start);
  Numbers row = first, mean(row.size()), squares(row.size());
  for (int step = 0; step < steps; ++step) {
    const double temperature = std::max(cold, hot * std::pow(cold / hot, 2.0 * step / steps));
    const Numbers gradient = gradient_of(shapes, first, row, step % batches, temperature);
    const double slower = std::min(1.0, 2.0 * (steps - step) / steps);  // in the second half
    for (std::size_t i = 0; i < row.size(); ++i) {
      mean[i] = decay * mean[i] + (1 - decay) * gradient[i];
      squares[i] = decay_of_squares * squares[i] + (1 - decay_of_squares) * gradient[i] * gradient[i];
      const double unbiased = mean[i] / (1 - std::pow(decay, step + 1));
      const double root = std::sqrt(squares[i] / (1 - std::pow(decay_of_squares, step + 1)));
      row[i] *= std::exp(-rate * slower * unbiased / (root + 1e-6));
    }
  }
  return fitted(row);
}

std::string source_of(const Fitted& f, std::size_t shapes) {
  constexpr std::array names{"split",          "whole",  "in_turn",   "straight",
                             "straight_split", "narrow", "in_memory", "vector"};
  static_assert(names.size() == kinds);
  const Costs& c = f.costs;
  std::string text = "// Written by 08_fit: such that the choice loses least at " + std::to_string(shapes) +
                     " drawn shapes, timed on one H200. See\n// docs/deeper/08_shapes.md.\n"
                     "#include <algorithm>\n\n#include \"08_warp_specialized/shapes/choice.h\"\n\nnamespace "
                     "ladder::rung_08 {\n\n"
                     "const Costs fitted_costs = {\n    .of_kind = {";
  for (int i = 0; i < kinds; ++i) {
    const Costs::OfKind& k = c.of_kind[i];
    text.append(i > 0 ? "                {" : "{")
        .append(rounded(k.start))
        .append(", ")
        .append(rounded(k.wave));
    text.append(", ").append(rounded(k.store)).append(", ").append(rounded(k.pass));
    text.append(i + 1 < kinds ? "},  // " : "}},  // ").append(names[i]).append("\n");
  }
  const auto field = [&](const char* name, double value) {
    text.append("    .").append(name).append(" = ").append(rounded(value)).append(",\n");
  };
  field("intake", c.intake);
  field("l2", c.l2);
  field("asked_again", c.asked_again);
  field("two_lines", c.two_lines);
  field("cut_sector", c.cut_sector);
  field("tensor", c.tensor);
  text += "    .in_step = {";
  for (int i = 0; i < 4; ++i) text.append(rounded(c.in_step[i])).append(i < 3 ? ", " : "},\n");
  field("exchange", c.exchange);
  field("exchange_element", c.exchange_element);
  field("exchange_in_memory", c.exchange_in_memory);
  field("exchange_element_in_memory", c.exchange_element_in_memory);
  text +=
      "};\n\nnamespace {\n\nstruct Measured {\n  std::string_view name;\n  Pace pace;\n};\n"
      "constexpr Measured paces[] = {\n";
  for (std::size_t i = 0; i < f.paces.size(); ++i) {
    text.append("    {\"").append(all_choices()[i].name).append("\", {").append(rounded(f.paces[i].one_wave));
    text.append(", ").append(rounded(f.paces[i].several)).append("}},\n");
  }
  text +=
      "};\n\n}  // namespace\n\nconst Pace* measured_pace(std::string_view name) {\n"
      "  const auto* const found = std::ranges::find(paces, name, &Measured::name);\n"
      "  return found == std::end(paces) ? nullptr : &found->pace;\n}\n\n}  // namespace ladder::rung_08\n";
  return text;
}

}  // namespace ladder::rung_08
