// The chosen variants of one problem, shape by shape: checked, timed or counted, and written down.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "common/harness/report/sweep_summary.h"
#include "common/harness/run/candidates.h"
#include "common/harness/run/check.h"
#include "common/harness/run/few_ctas.h"
#include "common/harness/run/job.h"
#include "common/harness/run/memory_check.h"
#include "common/harness/run/power_run.h"
#include "common/harness/run/record.h"
#include "common/harness/run/timeline_run.h"
#include "common/harness/run/timing.h"
#include "common/harness/run/tune.h"

namespace ladder {

template <class Problem>
class Runner {
 public:
  explicit Runner(const Context& context)
      : context_(context),
        simulated_(context.options.device == DeviceKind::simulator),
        timed_(!simulated_ && !context.options.verify_only) {}

  void run(const std::vector<Problem>& shapes) {
    const Options& options = context_.options;
    if (!options.rows)
      std::fputs(
          (options.tune ? tune_header() : table_header(Info::name, Info::rival, options.device)).c_str(),
          stdout);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      char step[64] = "";
      if (shapes.size() > 1) std::snprintf(step, sizeof step, "[%zu/%zu] ", i + 1, shapes.size());
      step_ = step;
      run_shape(padded(context_, shapes[i]), shapes[i], shapes.size() == 1);
    }
    if (!options.rows) std::fputs(summary_.text().c_str(), stdout);
  }

 private:
  using Info = ProblemInfo<Problem>;
  using Candidates = std::vector<Candidate<Problem>>;

  // `content`: the sizes as given; the shape is larger where it was padded.
  void run_shape(const Problem& shape, const Problem& content, bool only_shape) {
    Candidates candidates = chosen(context_, shape);
    for (auto& c : candidates) c.result.shape = shape_text(content);
    const int sets = timed_ ? sets_for(shape, candidates, context_.system) : 1;
    std::string notes;
    if (can_run(shape, candidates, sets, only_shape))
      notes =
          context_.options.ctas ? partial_work(shape, candidates) : work(shape, content, sets, candidates);
    print(shape, content, candidates);
    std::fputs(notes.c_str(), stdout);
  }

  // Whether any can run; the results of the others say why not. Throws where the only shape runs nowhere.
  bool can_run(const Problem& shape, Candidates& candidates, int sets, bool only_shape) const {
    const std::string no_memory = lack_of_memory(shape, candidates, sets, context_.options, timed_);
    if (!no_memory.empty() && only_shape)
      throw Failure(Exit::cannot_run, shape_text(shape) + ": " + no_memory);
    // Where variants are tuned it is the rung that counts.
    const auto compared = context_.options.tune ? candidates.end() - 1 : candidates.begin();
    const bool none_runs = std::none_of(compared, candidates.end(), [](const auto& c) { return c.runs(); });
    const std::string of_last = candidates.back().result.refused;
    if (only_shape && none_runs)
      throw Failure(Exit::bad_usage, std::string(candidates.back().variant->name) + " does not take " +
                                         shape_text(shape) + ": " + of_last);
    for (auto& c : candidates)
      if (c.result.refused.empty()) c.result.refused = none_runs ? of_last : no_memory;
    return !none_runs && no_memory.empty();
  }

  // Return the notes below the table's rows.
  std::string partial_work(const Problem& shape, Candidates& candidates) const {
    std::string notes;
    if constexpr (requires { typename Info::Partial; }) {
      for (auto& c : candidates)
        if (c.runs()) notes += check_few_ctas(context_, shape, c);
    }
    return notes;
  }

  std::string work(const Problem& shape, const Problem& content, int sets, Candidates& candidates) {
    const Options& options = context_.options;
    Workload<Problem> workload = make_workload(shape, content, sets, options.inputs());
    Job<Problem> job{context_, shape, content, sets, candidates, workload, step_, {}, {}};
    check_all(job, simulated_ && !options.verify_only);
    if (timed_ && options.power_seconds) {
      for (const auto& c : candidates)
        if (c.runs()) watch(job, c);
    } else if (options.tune) {
      if constexpr (HoldsWorkspaces<Problem>)
        if (const auto regret = tune(job)) summary_.add_regret(shape_text(shape), *regret);
    } else if (timed_) {
      Timer<Problem> timer(job);
      for (auto& c : candidates)
        if (c.runs()) timer.time(c);
    }
    if (!options.trace.empty() && candidates[0].runs()) record_timeline(job, candidates[0], timed_);
    for (const auto& c : candidates)
      if (c.result.refused.empty() && !options.power_seconds && !options.tune) write_record(job, c);
    return job.notes;
  }

  void print(const Problem& shape, const Problem& content, Candidates& candidates) {
    const Options& options = context_.options;
    if (shape_text(shape) != shape_text(content) && !options.rows)
      std::printf("%s, padded with zeros to %s:\n", shape_text(content).c_str(), shape_text(shape).c_str());
    if (candidates.size() > 1 && refused_alike(candidates)) {  // one row says it
      candidates.erase(candidates.begin() + 1, candidates.end());
      candidates[0].result.variant = "every variant";
    }
    if (options.models) {
      const int rows = content.*Info::dimensions()[0].size;
      summary_.add_result(shape_text(content), rows, candidates.back().result);
    }
    for (const auto& c : candidates) {
      // A row for each shape that is tuned is in the notes; else it says why there is none.
      const bool last = &c == &candidates.back();
      if (!options.tune || !c.result.fault.empty() || (last && !c.result.refused.empty()))
        std::fputs(table_row(c.result, options.device).c_str(), stdout);
      std::fflush(stdout);
      if (c.result.refused.empty()) tell(shape, c);
    }
    for (const auto& c : candidates)
      if (c.result.counters) print_counters(shape, c);
  }

  void tell(const Problem& shape, const Candidate<Problem>& c) const {
    ++(c.result.fault.empty() ? context_.tally.right : context_.tally.wrong);
    if (!c.result.fault.empty())
      std::fprintf(stderr, "%s: %s %s %s: %s\n", program_name(context_.rung, context_.options.device).c_str(),
                   Info::name, c.variant->name, shape_text(shape).c_str(), c.result.fault.c_str());
  }

  void print_counters(const Problem& shape, const Candidate<Problem>& c) const {
    const Counters& counters = *c.result.counters;
    const std::string what = std::string(Info::name) + " " + c.variant->name + " " + shape_text(shape);
    if (context_.options.counters) std::printf("\n%s", counters_text(what, counters).c_str());
    if (context_.options.source) std::printf("\n%s\n%s", what.c_str(), counters.listing.c_str());
  }

  const Context& context_;
  const bool simulated_, timed_;
  std::string step_;  // "[2/6] " in a list of shapes
  SweepSummary summary_;
};

}  // namespace ladder
