// --power: each variant for a while without a pause, instead of timing it, and after the rung its baselines.
#pragma once

#include <vector>

#include "common/harness/measure/power.h"
#include "common/harness/run/job.h"
#include "common/harness/verify/precision.h"

namespace ladder {

template <class Problem>
void watch(Job<Problem>& job, const Candidate<Problem>& c) {
  using Info = ProblemInfo<Problem>;
  const Options& options = job.options();
  const Precision precision = c.extension().precision;
  job.workload.choose(*c.variant);
  const std::vector<Problem> problems = job.problems();
  std::vector<Contender> contenders;
  if (&c == &job.candidates.back() && options.variant.empty())
    contenders = baselines(*c.variant, problems).rivals;
  contenders.insert(contenders.begin(), contender(*c.variant, problems));
  const auto score_at = [&](double us) { return job.score(c, us); };
  for (const Contender& each : contenders) {
    job.show("running " + each.name + " without a pause");
    const PowerRun run = run_without_pause(each, job.sets, options.power_seconds);
    job.notes += power_text(run, score_at, Info::unit);
    JsonObject o;
    o.field("record", "power").field("rung", job.context.rung.name).field("problem", Info::name);
    o.field("variant", c.variant->name);
    if (!c.result.kernel.empty()) o.field("kernel", c.result.kernel);
    add_shape(o, job.content);
    if (precision != Precision::bf16) o.field("precision", precision_name(precision));
    o.field("input", job.workload.input());
    add_power(o, run, score_at, Info::score_field);
    add_system(o, job.context.system);
    job.context.json.write(o);
  }
}

}  // namespace ladder
