// --tune: does a rung choose the fastest of its own variants?
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/harness/report/tune_table.h"
#include "common/harness/run/job.h"

namespace ladder {

constexpr double tune_seconds = 0.15;  // for all variants together: a few rounds
constexpr double hopeless = 3;         // times the fastest's time

// Those of the variants that are worth a place in each round, the rung last. All have been launched before. A
// variant that takes three times as long in a few single launches, gaps between them included, is left out:
// it would take most of each round.
template <class Problem>
std::vector<Contender> worth_timing(Job<Problem>& job, const std::vector<const Variant<Problem>*>& variants) {
  std::vector<Contender> all;
  std::vector<double> rough_us;
  for (const Variant<Problem>* variant : variants) {
    job.workload.choose(*variant);
    all.push_back({variant->name, [variant, own = job.workload.held()](int set, cudaStream_t stream) {
                     return variant->launch(own.problems[set], stream);
                   }});
    rough_us.push_back(quick_time_us(all.back(), job.sets));
  }
  const double fastest_us = *std::min_element(rough_us.begin(), rough_us.end());
  std::vector<Contender> contenders;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i + 1 == all.size() || rough_us[i] <= hopeless * fastest_us) contenders.push_back(all[i]);
  return contenders;
}

// Times the variants in bf16, of which the last is the rung, in turns and without baselines. Returns the
// rung's regret; nothing where the rung does not run.
template <class Problem>
std::optional<double> tune(Job<Problem>& job) {
  const Options& options = job.options();
  if (!job.candidates.back().runs()) return {};
  std::vector<const Variant<Problem>*> variants;
  for (const auto& c : job.candidates)
    if (c.runs()) variants.push_back(c.variant);
  job.show("timing " + std::to_string(variants.size()) + " variants in turns");
  const Tuned tuned = tuned_by(
      measure(worth_timing(job, variants), job.sets, options.repeats, options.launches, tune_seconds));
  job.notes += tune_row(shape_text(job.shape), tuned);
  if (!options.variant.empty()) job.notes += times_row(tuned);
  JsonObject o;
  o.field("record", "tune").field("rung", job.context.rung.name);
  o.field("problem", ProblemInfo<Problem>::name).field("variant", tuned.rung.name);
  add_shape(o, job.shape);
  if (options.models) o.field("sweep", "models");
  if (options.over_k) o.field("sweep", "k");
  o.field("rung_us", tuned.rung.median_us).field("repeats", tuned.rung.samples);
  o.field("fastest", tuned.fastest.name).field("fastest_us", tuned.fastest.median_us);
  o.field("regret", tuned.regret).field("variants", tuned.variants);
  add_system(o, job.context.system);
  add_card_state(o, tuned.card);
  o.field("input", job.workload.input()).field("seed", options.seed);
  job.context.json.write(o);
  return tuned.regret;
}

}  // namespace ladder
