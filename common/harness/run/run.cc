#include "common/harness/run/run.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <tuple>
#include <type_traits>

#include "common/harness/backend/counters.h"
#include "common/harness/backend/device.h"
#include "common/harness/backend/system.h"
#include "common/harness/base/failure.h"
#include "common/harness/measure/power.h"
#include "common/harness/measure/rotation.h"
#include "common/harness/problems/memory_needed.h"
#include "common/harness/problems/workload.h"
#include "common/harness/report/report.h"
#include "common/harness/report/sweep_summary.h"
#include "common/harness/run/soak.h"
#include "common/harness/run/timeline_run.h"
#include "common/harness/run/tune.h"
#include "common/harness/verify/precision.h"

namespace ladder {
namespace {

constexpr double model_seconds = 0.15;  // of timed work per shape of a sweep over models: 200 in minutes

// One line on the terminal that says what is under way; nothing where stderr is not a terminal.
class Progress {
 public:
  ~Progress() { clear(); }  // also when an error ends the run: its line shall stand by itself
  void show(const std::string& what) const {
    if (terminal_) std::fprintf(stderr, "\r\033[K%s", what.c_str());
  }
  void clear() const { show(""); }

 private:
  bool terminal_ = isatty(STDERR_FILENO);
};

// How many results were right and wrong, one for each variant at each shape.
struct Tally {
  int right = 0, wrong = 0;
};

// The variant that is named, or the last that the options leave: the rung itself, where they ask for nothing.
template <class Problem>
const Variant<Problem>* chosen_one(const Rung& rung, const Options& options) {
  const Variant<Problem>* last = nullptr;
  for (const auto& v : ProblemInfo<Problem>::variants(rung)) {
    if (!options.variant.empty() && v.name != options.variant) continue;
    if (options.type && extension_of(v).precision != *options.type) continue;
    if (options.trace.empty() || v.traced) last = &v;
  }
  return last;
}

// Runs the chosen variants of one problem.
template <class Problem>
class Runner {
 public:
  Runner(const Rung& rung, const Options& options, const Machine& machine, JsonLines& json, Tally& tally)
      : rung_(rung), options_(options), machine_(machine), json_(json), tally_(tally) {}

  void run(const std::vector<Problem>& shapes) {
    if (!options_.rows)
      std::fputs((options_.tune ? tune_header() : table_header(Info::name, options_.device)).c_str(), stdout);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      char step[64] = "";
      if (shapes.size() > 1) std::snprintf(step, sizeof step, "[%zu/%zu] ", i + 1, shapes.size());
      step_ = step;
      run_shape(grown(shapes[i]), shapes[i], shapes.size() == 1);
    }
    if (options_.rows) return;
    const std::string of_choices = "with the fastest of its first choices, each timed, ";
    std::fputs(
        (ratio_summary(ratios_, "") + ratio_summary(best_choices_, of_choices) + regret_summary(regrets_))
            .c_str(),
        stdout);
  }

 private:
  using Info = ProblemInfo<Problem>;
  struct Candidate {
    const Variant<Problem>* variant;
    Result result;
  };

  // With --pad, the gemm whose n and k are the next multiples of a power of two with which no variant that a
  // larger one would satisfy refuses it.
  Problem grown(const Problem& content) const {
    if constexpr (std::is_same_v<Problem, Gemm>) {
      auto in_multiples = [&](int of) {
        const int most = max_dimension / of * of;
        Gemm p = content;
        p.n = std::min((p.n + of - 1) / of * of, most);
        p.k = std::min((p.k + of - 1) / of * of, most);
        return p;
      };
      auto refusals = [&](const Gemm& p) {
        const std::vector<Candidate> list = chosen(p);
        return std::count_if(list.begin(), list.end(), [](const Candidate& c) { return !runs(c); });
      };
      constexpr int largest = 128;
      for (int of = 1; options_.pad && of <= largest; of *= 2)
        if (refusals(in_multiples(of)) == refusals(in_multiples(largest))) return in_multiples(of);
    }
    return content;
  }

  // `content`: what is asked for; the shape is larger where it was padded.
  void run_shape(const Problem& shape, const Problem& content, bool only_shape) {
    const bool simulated = options_.device == DeviceKind::simulator;
    const bool timed = !simulated && !options_.verify_only, counted = simulated && !options_.verify_only;
    std::vector<Candidate> candidates = chosen(shape);
    for (Candidate& c : candidates) c.result.shape = shape_text(content);
    std::uint64_t least_bytes = footprint_bytes(shape);
    for (const Candidate& c : candidates)
      if (runs(c))
        least_bytes = std::min(least_bytes, footprint_bytes(shape, extension_of(*c.variant).precision));
    const int sets = timed ? sets_to_rotate(least_bytes, machine_.l2_bytes) : 1;
    const bool bf16_only = std::all_of(candidates.begin(), candidates.end(), [](const Candidate& c) {
      return extension_of(*c.variant).precision == Precision::bf16;
    });
    double workspace_bytes = 0;  // of one variant at a time, beside the rung where it is timed in turns
    for (const Candidate& c : candidates) {
      if (!runs(c)) continue;
      const double own = workspace_needed(*c.variant, shape);
      workspace_bytes = options_.tune ? workspace_bytes + own : std::max(workspace_bytes, own);
    }
    if (options_.ablate) workspace_bytes *= 2;
    const double device_bytes = bytes_needed(shape, sets, timed, bf16_only) + sets * workspace_bytes;
    const double host_bytes =
        host_bytes_needed(shape, bf16_only) + (simulated ? device_bytes : 0);  // one memory for both
    std::string no_memory = memory_shortage("GPU", device_bytes, free_device_bytes());
    if (no_memory.empty()) no_memory = memory_shortage("host", host_bytes, free_host_bytes());
    if (!no_memory.empty() && only_shape)
      throw Failure(Exit::cannot_run, shape_text(shape) + ": " + no_memory);

    // Where variants are tuned it is the rung that counts.
    const auto compared = options_.tune ? candidates.end() - 1 : candidates.begin();
    const bool none_runs = std::none_of(compared, candidates.end(), runs);
    if (only_shape && none_runs)
      throw Failure(Exit::bad_usage, std::string(candidates.back().variant->name) + " does not take " +
                                         shape_text(shape) + ": " + candidates.back().result.refused);
    for (Candidate& c : candidates)
      if (c.result.refused.empty())
        c.result.refused = none_runs ? candidates.back().result.refused : no_memory;
    if (!none_runs && no_memory.empty()) {
      Workload<Problem> workload = make_workload(shape, content, sets, options_.seed, options_.reference,
                                                 options_.input, options_.outlier, options_.even);
      for (int pass = 0; pass < workload.passes; ++pass) {
        show(shape, "computing the reference");
        workload.prepare(pass);
        for (Candidate& c : candidates)
          if (runs(c)) verify(c, shape, workload, counted && pass + 1 == workload.passes);
      }
      if (timed && options_.power_seconds) {
        watch(candidates, shape, content, sets, workload);
      } else if (options_.tune) {
        time_in_turns(candidates, shape, sets, workload);
      } else if (timed) {
        time(candidates, shape, content, sets, workload);
      }
      if (!options_.trace.empty() && runs(candidates[0])) trace(candidates[0], shape, workload, timed);
      for (const Candidate& c : candidates)
        if (c.result.refused.empty() && !options_.power_seconds && !options_.tune)
          write_json(c, shape, content, sets, workload.input());
    }

    progress_.clear();
    if (shape_text(shape) != shape_text(content) && !options_.rows)
      std::printf("%s, filled up with zeros to %s:\n", shape_text(content).c_str(),
                  shape_text(shape).c_str());
    if (candidates.size() > 1 && refused_alike(candidates)) {  // one row says it
      candidates.erase(candidates.begin() + 1, candidates.end());
      candidates[0].result.variant = "every variant";
    }
    if constexpr (std::is_same_v<Problem, Gemm>)
      if (const auto& measured = candidates.back().result.measurement; options_.models && measured)
        if (const std::size_t best = fastest_baseline(*measured)) {
          const double baseline_us = measured->timings[best].median_us;
          ratios_.push_back({content, baseline_us / measured->timings[0].median_us});
          if (const auto us = candidates.back().result.best_choice_us)
            best_choices_.push_back({content, baseline_us / *us});
        }
    for (const Candidate& c : candidates) {
      // A row for each shape that is tuned is in the notes; else it says why there is none.
      if (!options_.tune || !c.result.fault.empty() ||
          (&c == &candidates.back() && !c.result.refused.empty()))
        std::fputs(table_row(c.result, options_.device).c_str(), stdout);
      std::fflush(stdout);
      if (!c.result.refused.empty()) continue;
      ++(c.result.fault.empty() ? tally_.right : tally_.wrong);
      if (!c.result.fault.empty())
        std::fprintf(stderr, "%s: %s %s %s: %s\n", program_name(rung_, options_.device).c_str(), Info::name,
                     c.variant->name, shape_text(shape).c_str(), c.result.fault.c_str());
    }
    for (const Candidate& c : candidates)
      if (c.result.counters) print_counters(shape, c);
    std::fputs(notes_.c_str(), stdout);
    notes_.clear();
  }

  void print_counters(const Problem& shape, const Candidate& c) const {
    const Counters& counters = *c.result.counters;
    const std::string what = std::string(Info::name) + " " + c.variant->name + " " + shape_text(shape);
    if (options_.counters) std::printf("\n%s", counters_text(what, counters).c_str());
    if (options_.source) std::printf("\n%s\n%s", what.c_str(), counters.listing.c_str());
  }

  std::vector<Candidate> chosen(const Problem& shape) const {
    std::vector<Candidate> list;
    const Variant<Problem>* one = chosen_one<Problem>(rung_, options_);
    for (const auto& v : Info::variants(rung_)) {
      if (options_.type && extension_of(v).precision != *options_.type) continue;
      const bool alone = extension_of(v).rank == 0 && !v.dependent_launch;
      if (options_.tune && (extension_of(v).precision != Precision::bf16 || !alone)) continue;
      const bool is_rung = &v == &Info::variants(rung_).back();
      if (options_.tune && !is_rung && !is_named(options_.variant, v.name)) continue;
      if (&v != one && !options_.ablate && !options_.tune) continue;
      Candidate c{&v, {}};
      c.result.rung = rung_.name;
      c.result.title = rung_.title;
      c.result.problem = Info::name;
      c.result.variant = v.name;
      c.result.shape = shape_text(shape);
      c.result.unit = Info::unit;
      c.result.refused = v.unsupported(shape);
      list.push_back(c);
    }
    return list;
  }

  // Neither refused nor found wrong.
  static bool runs(const Candidate& c) { return c.result.refused.empty() && c.result.fault.empty(); }

  // All of them, and for the same reason.
  static bool refused_alike(const std::vector<Candidate>& candidates) {
    const std::string& reason = candidates[0].result.refused;
    return !reason.empty() && std::all_of(candidates.begin(), candidates.end(),
                                          [&](const Candidate& c) { return c.result.refused == reason; });
  }

  void show(const Problem& shape, const std::string& what) const {
    progress_.show(step_ + Info::name + " " + shape_text(shape) + ": " + what);
  }

  void verify(Candidate& c, const Problem& shape, Workload<Problem>& workload, bool counted) const {
    show(shape, std::string("checking ") + c.variant->name);
    workload.choose(*c.variant);
    workload.poison();
    const std::string doing = std::string(Info::name) + " " + c.variant->name + " at " + shape_text(shape);
    auto launch = [&] {
      check(c.variant->launch(workload.problem(0), nullptr), doing);
      check(cudaDeviceSynchronize(), doing);
    };
    Result& r = c.result;
    if (counted) {
      r.counters = count(launch, options_.source);
    } else {
      launch();
    }
    std::string outside;
    r.verdict = workload.verify(outside);
    if (!r.verdict.passed())
      r.fault = std::to_string(r.verdict.wrong) + " of " + std::to_string(r.verdict.checked) +
                " elements wrong; " + r.verdict.first_wrong;
    if (!outside.empty()) r.fault += (r.fault.empty() ? "" : "; ") + outside;
  }

  // Whether the two can be timed in turns: gemms of one precision, each with a workspace of its own, and
  // other problems' variants that share what they need.
  static bool comparable(const Variant<Problem>& x, const Variant<Problem>& y) {
    if constexpr (std::is_same_v<Problem, Gemm>) {
      return extension_of(x).precision == extension_of(y).precision;
    } else {
      return x.extension == y.extension;
    }
  }

  static std::vector<Contender> baselines_of(const Variant<Problem>& variant,
                                             const std::vector<Problem>& problems) {
    if constexpr (std::is_same_v<Problem, Linear>) {
      return baselines(problems, extension_of(variant).epilogue);
    } else if constexpr (std::is_same_v<Problem, RowOperator>) {
      return baselines(problems, extension_of(variant).operation);
    } else {
      return baselines(problems, extension_of(variant).precision);
    }
  }

  // At a time per launch of this variant, or of what is timed beside it.
  static double score_of(const Variant<Problem>& variant, const Problem& shape, double us) {
    const Extension<Problem>& extension = extension_of(variant);
    if constexpr (std::is_same_v<Problem, RowOperator>) {
      return score(shape, extension.operation, us);
    } else {
      return score(shape, extension.precision, us) * (is_gated(extension.epilogue) ? 2 : 1);
    }
  }

  void time(std::vector<Candidate>& candidates, const Problem& shape, const Problem& content, int sets,
            Workload<Problem>& workload) const {
    std::vector<Contender> rivals;
    std::optional<std::tuple<Precision, Epilogue, RowOperation>> rivals_for;
    for (Candidate& c : candidates) {
      if (!runs(c)) continue;
      const Extension<Problem>& extension = extension_of(*c.variant);
      const std::tuple of{extension.precision, extension.epilogue, extension.operation};
      // An ablation's variants are timed in turns with the rung, at the same clock; the rung, with itself.
      const Candidate& rung = candidates.back();
      const bool in_turns = options_.ablate && rung.variant == &Info::variants(rung_).back() && runs(rung) &&
                            comparable(*rung.variant, *c.variant);
      GemmWorkload::Held of_rung;
      if constexpr (std::is_same_v<Problem, Gemm>) {
        if (in_turns) workload.choose(*rung.variant), of_rung = workload.held();
      }
      workload.choose(*c.variant);
      std::vector<Problem> problems;
      for (int set = 0; set < sets; ++set) problems.push_back(workload.problem(set));
      if (rivals_for != of) {
        show(shape, "preparing the baselines");
        rivals.clear();
        rivals = baselines_of(*c.variant, problems);
        rivals_for = of;
      }
      show(shape, std::string("timing ") + c.variant->name);
      const auto contender = [](const Variant<Problem>& variant, const std::vector<Problem>& its) {
        return Contender{variant.name, [&](int set, cudaStream_t s) { return variant.launch(its[set], s); }};
      };
      std::vector<Contender> contenders{contender(*c.variant, problems)};
      if constexpr (std::is_same_v<Problem, Gemm>) {
        if (in_turns) contenders.push_back(contender(*rung.variant, of_rung.problems));
      } else if (in_turns) {
        contenders.push_back(contender(*rung.variant, problems));
      }
      if (options_.models && c.variant == &Info::variants(rung_).back())
        for (const auto& v : Info::variants(rung_))
          if (extension_of(v).rank > 0) contenders.push_back(contender(v, problems));
      const std::size_t own = contenders.size();  // contenders but the baselines
      contenders.insert(contenders.end(), rivals.begin(), rivals.end());
      std::vector<Contender> plain;
      if constexpr (std::is_same_v<Problem, Linear>)
        plain = plain_product(problems, extension_of(*c.variant).epilogue);
      contenders.insert(contenders.end(), plain.begin(), plain.end());
      c.result.measurement = measure(contenders, sets, options_.repeats, options_.launches,
                                     options_.models ? model_seconds : usual_seconds);
      // Lines that a variant has made persist in L2 are not in the way of the next one. Where there can be
      // none this may be refused.
      if (cudaCtxResetPersistingL2Cache() != cudaSuccess) cudaGetLastError();
      auto& timings = c.result.measurement->timings;
      if (!plain.empty()) {
        c.result.product_us = timings.back().median_us;
        timings.pop_back();
      }
      if (in_turns) {
        c.result.rung_us = timings[1].median_us;
        timings.erase(timings.begin() + 1);
        if (c.variant == rung.variant)
          c.result.noise = noise({contenders[0], contenders[1]}, sets, timings[0], *c.result.rung_us);
      } else if (own > 1) {
        c.result.best_choice_us = timings[0].median_us;
        for (std::size_t i = 1; i < own; ++i)
          c.result.best_choice_us = std::min(*c.result.best_choice_us, timings[i].median_us);
        timings.erase(timings.begin() + 1, timings.begin() + std::ptrdiff_t(own));
      }
      if constexpr (std::is_same_v<Problem, Gemm>) {
        workload.poison();
        check(c.variant->launch(problems[0], nullptr), c.variant->name);
        check(cudaDeviceSynchronize(), c.variant->name);
        const auto errors = workload.relative_errors();
        c.result.relative_error = errors.of_product;
        c.result.sum_error = errors.of_sums;
      }
      for (const Timing& t : c.result.measurement->timings)
        c.result.scores.push_back(score_of(*c.variant, content, t.median_us));
    }
  }

  // Instead of timing them beside baselines: which is the fastest?
  void time_in_turns(const std::vector<Candidate>& candidates, const Problem& shape, int sets,
                     Workload<Problem>& workload) {
    if constexpr (std::is_same_v<Problem, Gemm>) {
      if (!runs(candidates.back())) return;
      std::vector<const Variant<Gemm>*> variants;
      for (const Candidate& c : candidates)
        if (runs(c)) variants.push_back(c.variant);
      show(shape, "timing " + std::to_string(variants.size()) + " variants in turns");
      const Tuned tuned = tune(variants, workload, sets, options_.repeats, options_.launches);
      notes_ += tune_row(shape_text(shape), tuned);
      if (!options_.variant.empty()) notes_ += times_row(tuned);
      regrets_.push_back({shape, tuned.regret});
      JsonObject o;
      o.field("record", "tune").field("rung", rung_.name).field("problem", Info::name);
      o.field("variant", tuned.rung.name);
      add_shape(o, shape);
      if (options_.models) o.field("sweep", "models");
      if (options_.over_k) o.field("sweep", "k");
      o.field("rung_us", tuned.rung.median_us).field("repeats", tuned.rung.samples);
      o.field("fastest", tuned.fastest.name).field("fastest_us", tuned.fastest.median_us);
      o.field("regret", tuned.regret).field("variants", tuned.variants);
      add_machine(o, machine_);
      add_card_state(o, tuned.card);
      o.field("input", workload.input()).field("seed", options_.seed);
      json_.write(o);
    }
  }

  // Instead of timing them: each for a while without a pause, and after the rung its baselines.
  void watch(const std::vector<Candidate>& candidates, const Problem& shape, const Problem& content, int sets,
             Workload<Problem>& workload) {
    for (const Candidate& c : candidates) {
      if (!runs(c)) continue;
      const Precision precision = extension_of(*c.variant).precision;
      workload.choose(*c.variant);
      std::vector<Problem> problems;
      for (int set = 0; set < sets; ++set) problems.push_back(workload.problem(set));
      std::vector<Contender> contenders;
      if (&c == &candidates.back() && options_.variant.empty())
        contenders = baselines_of(*c.variant, problems);
      contenders.insert(contenders.begin(), {c.variant->name, [&](int set, cudaStream_t s) {
                                               return c.variant->launch(problems[set], s);
                                             }});
      const auto score_at = [&](double us) { return score_of(*c.variant, content, us); };
      for (const Contender& contender : contenders) {
        show(shape, "running " + contender.name + " without a pause");
        const PowerRun run = run_without_pause(contender, sets, options_.power_seconds);
        notes_ += power_text(run, score_at, Info::unit);
        JsonObject o;
        o.field("record", "power").field("rung", rung_.name).field("problem", Info::name);
        o.field("variant", c.variant->name);
        add_shape(o, content);
        if (precision != Precision::bf16) o.field("precision", precision_name(precision));
        o.field("input", workload.input());
        add_power(o, run, score_at, Info::score_field);
        add_machine(o, machine_);
        json_.write(o);
      }
    }
  }

  // How far apart the medians of two equal contenders are, as a share: the largest of three measurements, of
  // which the first has been made.
  double noise(const std::vector<Contender>& equal, int sets, const Timing& one, double other_us) const {
    double most = std::abs(other_us / one.median_us - 1);
    for (int i = 0; i < 2; ++i) {
      const auto again = measure(equal, sets, std::max(one.samples / 3, 3), options_.launches).timings;
      most = std::max(most, std::abs(again[1].median_us / again[0].median_us - 1));
    }
    return most;
  }

  // What its warps do, and what noting it costs.
  void trace(Candidate& c, const Problem& shape, Workload<Problem>& workload, bool timed) {
    show(shape, std::string("tracing ") + c.variant->name);
    JsonObject about;
    about.field("rung", rung_.name).field("problem", Info::name).field("variant", c.variant->name);
    add_shape(about, shape);
    add_machine(about, machine_);
    const Traceable<Problem> traceable{*c.variant, workload, timed, options_.repeats, options_.launches};
    notes_ += write_trace(traceable, options_.trace, about, c.result.fault) + "\n";
    progress_.clear();
  }

  static void add_shape(JsonObject& o, const Gemm& p) { o.field("m", p.m).field("n", p.n).field("k", p.k); }
  static void add_shape(JsonObject& o, const FusedNorm& p) { o.field("rows", p.rows).field("cols", p.cols); }

  static void add_shape(JsonObject& o, const NormGemm& p) {
    o.field("rows", p.rows).field("cols", p.cols).field("n", p.n);
  }
  static void add_shape(JsonObject& o, const GroupedGemm& p) {
    o.field("groups", p.groups).field("m", p.m).field("n", p.n).field("k", p.k);
  }
  static void add_shape(JsonObject& o, const Linear& p) { add_shape(o, gemm_of(p)); }
  static void add_shape(JsonObject& o, const RowOperator& p) {
    o.field("rows", p.rows).field("cols", p.cols);
  }

  void write_json(const Candidate& c, const Problem& shape, const Problem& content, int sets,
                  const std::string& input) const {
    const Result& r = c.result;
    const Precision precision = extension_of(*c.variant).precision;
    const auto& all = Info::variants(rung_);
    int index = 0;
    while (all[index].name != r.variant) ++index;
    JsonObject o;
    o.field("record", "run").field("rung", r.rung).field("title", r.title).field("problem", r.problem);
    o.field("variant", r.variant).field("variant_index", index);
    o.field("is_rung", index + 1 == int(all.size())).field("dependent_launch", c.variant->dependent_launch);
    add_shape(o, content);
    if constexpr (std::is_same_v<Problem, Gemm>)
      if (options_.pad) o.field("padded_n", shape.n).field("padded_k", shape.k);
    if (options_.models) o.field("sweep", "models");
    if (options_.even) o.field("routing", "even");
    if (precision != Precision::bf16) o.field("precision", precision_name(precision));
    if (options_.type) o.field("type", precision_name(precision));
    if (r.measurement) {
      const auto& t = r.measurement->timings;
      o.field("median_us", t[0].median_us).field("p10_us", t[0].p10_us).field("p90_us", t[0].p90_us);
      o.field("repeats", t[0].samples).field("launches_per_sample", t[0].launches_per_sample);
      if (options_.launches != Launches::automatic)
        o.field("launches", options_.launches == Launches::graph ? "graph" : "stream");
      if (r.rung_us) o.field("rung_us", *r.rung_us);
      if (r.product_us) o.field("product_us", *r.product_us);
      if (r.best_choice_us) o.field("best_choice_us", *r.best_choice_us);
      if (r.noise) o.field("noise", *r.noise);
      o.field(Info::score_field, r.scores[0]);
      JsonObject against;
      for (std::size_t i = 1; i < t.size(); ++i) {
        JsonObject one;
        one.field("median_us", t[i].median_us).field("p10_us", t[i].p10_us).field("p90_us", t[i].p90_us);
        one.field(Info::score_field, r.scores[i]).field("ratio", t[i].median_us / t[0].median_us);
        against.field(t[i].name.c_str(), one);
      }
      o.field("baselines", against);
    }
    o.field("verified", r.fault.empty());
    o.field("max_error", r.verdict.error).field("error_bound", r.verdict.bound);
    if (r.relative_error) o.field("relative_error", *r.relative_error);
    if (r.sum_error) o.field("sum_error", *r.sum_error);
    add_machine(o, machine_);
    if (r.counters)
      o.field("counters", counters_json(*r.counters))
          .field("instruction_mix", instruction_mix_json(*r.counters));
    if (r.measurement) add_card_state(o, r.measurement->card);
    o.field("input", input);
    if (options_.outlier && std::is_same_v<Problem, Gemm>) o.field("outlier", options_.outlier);
    if (options_.l2_set_aside) o.field("l2_set_aside_mib", options_.l2_set_aside);
    if (r.measurement) o.field("l2", l2_text(footprint_bytes(shape, precision), sets, machine_.l2_bytes));
    o.field("seed", options_.seed);
    json_.write(o);
  }

  const Rung& rung_;
  const Options& options_;
  const Machine& machine_;
  JsonLines& json_;
  Tally& tally_;
  Progress progress_;
  std::string step_;                      // "[2/6] " in a list of shapes
  std::string notes_;                     // below the table's rows
  std::vector<ShapeRatio> ratios_;        // of the shapes of a sweep over models
  std::vector<ShapeRatio> best_choices_;  // with the fastest of the rung's first choices
  std::vector<ShapeRegret> regrets_;
};

template <class Problem>
std::vector<Problem> shapes_for(const Options& o, const std::optional<Problem>& given) {
  using Info = ProblemInfo<Problem>;
  if constexpr (std::is_same_v<Problem, Gemm>)
    if (o.over_k) return Info::sweep_over_k(given->m, given->n);
  if (given) return {*given};
  if (o.sweep && !o.models) return Info::sweep_shapes();
  if (!o.verify_only && !o.models) return {Info::default_shape(o.device)};
  std::vector<Problem> shapes;
  if constexpr (std::is_same_v<Problem, Gemm>)
    if (o.models) shapes = model_shapes(o.model_shapes, o.seed);
  if (!o.models) shapes = Info::verify_shapes();
  if (o.device == DeviceKind::simulator)
    std::erase_if(shapes, [](const Problem& p) { return !quick_on_simulator(p); });
  if (o.reference == Reference::cpu) std::erase_if(shapes, [](const Problem& p) { return !quick_on_cpu(p); });
  if (shapes.empty())
    throw Failure(Exit::cannot_run, "none of these shapes is small enough: draw more (--shapes)");
  return shapes;
}

template <class Problem>
void soak_problem(const Rung& rung, const Options& options, const Machine& machine, JsonLines& json,
                  Tally& tally) {
  using Info = ProblemInfo<Problem>;
  const Variant<Problem>& variant = *chosen_one<Problem>(rung, options);
  const Soaked soaked = soak<Problem>(variant, program_name(rung, options.device), options);
  std::printf("%-11s %-20s %d launches over %d random shapes: %s\n", Info::name, variant.name,
              soaked.launches, soaked.shapes, soaked.wrong ? "WRONG" : "ok");
  (soaked.wrong ? tally.wrong : tally.right) += 1;
  JsonObject o;
  o.field("record", "soak")
      .field("rung", rung.name)
      .field("problem", Info::name)
      .field("variant", variant.name);
  o.field("launches", soaked.launches).field("shapes", soaked.shapes).field("wrong", soaked.wrong);
  add_machine(o, machine);
  o.field("seed", options.seed);
  json.write(o);
}

// Of the whole process: the rung and cuBLAS run with what is left, too.
void set_l2_aside(int mib) {
  if (mib == 0) return;
  int device = 0, most = 0;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, device), "asking for L2's size");
  const std::size_t bytes = std::size_t(mib) << 20;
  if (bytes > std::size_t(most)) {
    std::string line = "--l2-set-aside: this GPU sets aside at most ";
    throw Failure(Exit::bad_usage, line.append(std::to_string(most >> 20)).append(" MiB"));
  }
  check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes), "setting a part of L2 aside");
}

}  // namespace

Exit run(const Rung& rung, const Options& options) {
  JsonLines json(options.json);
  const Machine machine = this_machine();
  require(machine, rung.needs);
  set_l2_aside(options.l2_set_aside);
  if (!options.rows)
    std::printf("%s: %s\n%s\n\n", rung.name, rung.title, machine_text(machine, options.device).c_str());
  Tally tally;
  if (options.soak) {
    if (options.gemm) soak_problem<Gemm>(rung, options, machine, json, tally);
    if (options.fused_norm) soak_problem<FusedNorm>(rung, options, machine, json, tally);
    if (options.norm_gemm) soak_problem<NormGemm>(rung, options, machine, json, tally);
    if (options.grouped_gemm) soak_problem<GroupedGemm>(rung, options, machine, json, tally);
    if (options.linear) soak_problem<Linear>(rung, options, machine, json, tally);
    if (options.row_operator) soak_problem<RowOperator>(rung, options, machine, json, tally);
    return tally.wrong ? Exit::wrong_result : Exit::passed;
  }
  try {
    if (options.gemm)
      Runner<Gemm>(rung, options, machine, json, tally).run(shapes_for(options, options.gemm_shape));
    if (options.gemm && options.fused_norm && !options.rows) std::puts("");
    if (options.fused_norm)
      Runner<FusedNorm>(rung, options, machine, json, tally).run(shapes_for(options, options.norm_shape));
    if (options.norm_gemm)
      Runner<NormGemm>(rung, options, machine, json, tally).run(shapes_for(options, options.norm_gemm_shape));
    if (options.grouped_gemm)
      Runner<GroupedGemm>(rung, options, machine, json, tally)
          .run(shapes_for(options, options.grouped_shape));
    if (options.linear)
      Runner<Linear>(rung, options, machine, json, tally).run(shapes_for(options, options.linear_shape));
    if (options.row_operator)
      Runner<RowOperator>(rung, options, machine, json, tally)
          .run(shapes_for(options, options.row_operator_shape));
  } catch (const Failure& failure) {
    if (tally.wrong == 0) throw;
    throw Failure(Exit::wrong_result, failure.what());  // an early end does not hide what was wrong before it
  }
  if (tally.wrong > 0) return Exit::wrong_result;
  if (tally.right == 0) throw Failure(Exit::cannot_run, "nothing was checked: every shape was refused");
  return Exit::passed;
}

}  // namespace ladder
