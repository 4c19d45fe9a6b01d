// Variants timed beside their baselines.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/harness/run/check.h"

namespace ladder {

constexpr double model_seconds = 0.15;  // of timed work per shape of a sweep over models: 200 in minutes
constexpr int tried_choices = 16;       // of a rung's estimate there, as many as of cublasLt's heuristic

// Workspaces of its own for each variant, that can be kept while another is chosen.
template <class Problem>
concept HoldsWorkspaces = requires(const Workload<Problem>& workload) {
  workload.held();
};

// Whether the two can be timed in turns: variants of one precision, each with a workspace of its own; other
// problems' variants that share what they need, or of which x needs nothing.
template <class Problem>
bool comparable(const Variant<Problem>& x, const Variant<Problem>& y) {
  if constexpr (HoldsWorkspaces<Problem>) {
    return extension_of(x).precision == extension_of(y).precision;
  } else {
    return x.extension == y.extension ||
           (!x.extension && extension_of(x).precision == extension_of(y).precision);
  }
}

// How far apart the medians of two equal contenders are, as a share: the largest of three measurements, of
// which the first has been made.
inline double noise_of(const std::vector<Contender>& equal, int sets, const Timing& one, double other_us,
                       Launches launches) {
  double most = std::abs(other_us / one.median_us - 1);
  for (int i = 0; i < 2; ++i) {
    const auto again = measure(equal, sets, std::max(one.samples / 3, 3), launches).timings;
    most = std::max(most, std::abs(again[1].median_us / again[0].median_us - 1));
  }
  return most;
}

template <class Problem>
class Timer {
 public:
  explicit Timer(Job<Problem>& job) : job_(job), rung_(job.candidates.back()) {}

  void time(Candidate<Problem>& c) {
    const Options& options = job_.options();
    const bool in_turns =
        options.ablate && job_.is_rung(rung_) && rung_.runs() && comparable(*rung_.variant, *c.variant);
    Held<Problem> of_rung;
    if constexpr (HoldsWorkspaces<Problem>)
      if (in_turns) job_.workload.choose(*rung_.variant), of_rung = job_.workload.held();
    job_.workload.choose(*c.variant);
    const std::vector<Problem> problems = job_.problems();
    if constexpr (!HoldsWorkspaces<Problem>) of_rung.problems = problems;
    prepare_baselines(c, problems);

    job_.show(std::string("timing ") + c.variant->name);
    std::vector<Contender> contenders{contender(*c.variant, problems)};
    // An ablation's variants are timed in turns with the rung, at the same clock; the rung, with itself.
    if (in_turns) contenders.push_back(contender(*rung_.variant, of_rung.problems));
    if (options.models && job_.is_rung(c) && c.extension().ranked)
      contenders.push_back(best_of_choices(c, problems));
    const std::size_t own = contenders.size();  // contenders but the baselines
    for (const auto* others : {&baselines_.rivals, &baselines_.product_alone})
      contenders.insert(contenders.end(), others->begin(), others->end());
    c.result.measurement = measure(contenders, job_.sets, options.repeats, options.launches,
                                   options.models ? model_seconds : usual_seconds);
    // Lines that a variant has made persist in L2 are not in the way of the next one. Where there can be
    // none this may be refused.
    if (cudaCtxResetPersistingL2Cache() != cudaSuccess) cudaGetLastError();
    take_out(c, contenders, own, in_turns);
    measure_errors(c, problems[0]);
    for (const Timing& t : c.result.measurement->timings)
      c.result.scores.push_back(job_.score(c, t.median_us));
  }

 private:
  // Those of the variant before, where they are the same.
  void prepare_baselines(const Candidate<Problem>& c, const std::vector<Problem>& problems) {
    const Extension<Problem>& extension = c.extension();
    const Key key{extension.precision, extension.epilogue, extension.operation};
    if (baselines_for_ == key) return;
    job_.show("preparing the baselines");
    baselines_ = {};
    baselines_ = baselines(*c.variant, problems);
    baselines_for_ = key;
  }

  // The fastest of the first launches that the rung's estimate ranks, each tried here, as cublasLt's are.
  // What it computes is checked, too.
  Contender best_of_choices(Candidate<Problem>& c, const std::vector<Problem>& problems) const {
    job_.show("trying the first choices");
    std::vector<Contender> choices;
    for (int rank = 0; rank < tried_choices; ++rank)
      choices.push_back({"the best of its choices",
                         [problems, rank, ranked = c.extension().ranked](int set, cudaStream_t stream) {
                           return ranked(problems[std::size_t(set)], rank, stream);
                         }});
    const Contender best = fastest_of(choices, job_.sets);
    Result checked = c.result;
    check_launch(job_, checked, [&] {
      check(best.launch(0, nullptr), best.name);
      check(cudaDeviceSynchronize(), best.name);
    });
    if (!checked.fault.empty()) c.result.fault = best.name + ": " + checked.fault;
    return best;
  }

  // Of the timings all but the variant's own and the baselines', into results of their own.
  void take_out(Candidate<Problem>& c, const std::vector<Contender>& contenders, std::size_t own,
                bool in_turns) const {
    Result& r = c.result;
    auto& timings = r.measurement->timings;
    if (!baselines_.product_alone.empty()) {
      r.product_us = timings.back().median_us;
      timings.pop_back();
    }
    if (in_turns) {
      r.rung_us = timings[1].median_us;
      timings.erase(timings.begin() + 1);
      if (c.variant == rung_.variant)
        r.noise = noise_of({contenders[0], contenders[1]}, job_.sets, timings[0], *r.rung_us,
                           job_.options().launches);
    } else if (own > 1) {
      r.best16_us = timings[1].median_us;
      timings.erase(timings.begin() + 1);
    }
  }

  // What rounding has cost, where the workload can tell.
  void measure_errors(Candidate<Problem>& c, const Problem& problem) const {
    if constexpr (requires { job_.workload.relative_errors(); }) {
      job_.workload.poison();
      check(c.variant->launch(problem, nullptr), c.variant->name);
      check(cudaDeviceSynchronize(), c.variant->name);
      const auto errors = job_.workload.relative_errors();
      c.result.relative_error = errors.of_product;
      c.result.sum_error = errors.of_sums;
    }
  }

  using Key = std::tuple<Precision, Epilogue, RowOperation>;
  Job<Problem>& job_;
  const Candidate<Problem>& rung_;  // the last candidate
  Baselines baselines_;
  std::optional<Key> baselines_for_;
};

}  // namespace ladder
