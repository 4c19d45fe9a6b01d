// The JSON record of one variant at one shape.
#pragma once

#include <string>

#include "common/harness/measure/rotation.h"
#include "common/harness/run/job.h"
#include "common/harness/verify/precision.h"

namespace ladder {

// Which run it was: rung, variant, shape, and the options that chose them.
template <class Problem>
void add_identity(JsonObject& o, const Job<Problem>& job, const Candidate<Problem>& c) {
  using Info = ProblemInfo<Problem>;
  const Options& options = job.options();
  const Result& r = c.result;
  const Precision precision = c.extension().precision;
  const auto& all = Info::variants(job.context.rung);
  int index = 0;
  while (all[index].name != r.variant) ++index;
  o.field("record", "run").field("rung", r.rung).field("title", r.title).field("problem", r.problem);
  o.field("variant", r.variant).field("variant_index", index);
  if (!r.kernel.empty()) o.field("kernel", r.kernel);
  o.field("is_rung", index + 1 == int(all.size())).field("dependent_launch", c.variant->dependent_launch);
  add_shape(o, job.content);
  if constexpr (requires { Info::padded(job.shape, 1); })
    if (options.pad) o.field("padded_n", job.shape.n).field("padded_k", job.shape.k);
  if (options.models) o.field("sweep", "models");
  if (options.even) o.field("routing", "even");
  if (precision != Precision::bf16) o.field("precision", precision_name(precision));
  if (options.type) o.field("type", precision_name(precision));
}

// `score_field`: what the scores are called.
inline void add_times(JsonObject& o, const Result& r, Launches launches, const char* score_field) {
  const auto& t = r.measurement->timings;
  o.field("median_us", t[0].median_us).field("p10_us", t[0].p10_us).field("p90_us", t[0].p90_us);
  o.field("repeats", t[0].samples).field("launches_per_sample", t[0].launches_per_sample);
  if (launches != Launches::automatic) o.field("launches", launches == Launches::graph ? "graph" : "stream");
  if (r.rung_us) o.field("rung_us", *r.rung_us);
  if (r.product_us) o.field("product_us", *r.product_us);
  if (r.best16_us) o.field("best16_us", *r.best16_us);
  if (r.noise) o.field("noise", *r.noise);
  o.field(score_field, r.scores[0]);
  JsonObject against;
  for (std::size_t i = 1; i < t.size(); ++i) {
    JsonObject one;
    one.field("median_us", t[i].median_us).field("p10_us", t[i].p10_us).field("p90_us", t[i].p90_us);
    one.field(score_field, r.scores[i]).field("ratio", t[i].median_us / t[0].median_us);
    against.field(t[i].name.c_str(), one);
  }
  o.field("baselines", against);
}

template <class Problem>
void write_record(const Job<Problem>& job, const Candidate<Problem>& c) {
  using Info = ProblemInfo<Problem>;
  const Options& options = job.options();
  const Result& r = c.result;
  JsonObject o;
  add_identity(o, job, c);
  if (r.measurement) add_times(o, r, options.launches, Info::score_field);
  o.field("verified", r.fault.empty());
  o.field("max_error", r.verdict.error).field("error_bound", r.verdict.bound);
  if (r.relative_error) o.field("relative_error", *r.relative_error);
  if (r.sum_error) o.field("sum_error", *r.sum_error);
  add_system(o, job.context.system);
  if (r.counters)
    o.field("counters", counters_json(*r.counters))
        .field("instruction_mix", instruction_mix_json(*r.counters));
  if (r.measurement) add_card_state(o, r.measurement->card);
  o.field("input", job.workload.input());
  if constexpr (Info::has_outlier)
    if (options.outlier) o.field("outlier", options.outlier);
  if (options.l2_set_aside) o.field("l2_set_aside_mib", options.l2_set_aside);
  if (r.measurement)
    o.field("l2", l2_text(footprint_bytes(job.shape, c.extension().precision), job.sets,
                          job.context.system.l2_bytes));
  o.field("seed", options.seed);
  job.context.json.write(o);
}

}  // namespace ladder
