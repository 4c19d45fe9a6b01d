#include "common/harness/cli/choose.h"

#include <algorithm>
#include <sstream>
#include <type_traits>
#include <utility>

#include "common/harness/cli/usage.h"
#include "common/harness/verify/precision.h"

namespace ladder {
namespace {

void add_name(std::string& text, const std::string& name) {
  if (!text.empty()) text += ", ";
  text += name;
}

// The same, unless it is in the text already.
void add_new_name(std::string& text, const std::string& name) {
  if ((", " + text + ", ").find(", " + name + ", ") == std::string::npos) add_name(text, name);
}

template <class Problem, class Condition>
bool any_variant(const Rung& rung, const Condition& condition) {
  const auto& variants = ProblemInfo<Problem>::variants(rung);
  return std::any_of(variants.begin(), variants.end(), condition);
}

// --tune beside --variant: every name is a variant's that is timed in turns with the rung.
void check_tuned_names(const Rung& rung, const Options& o) {
  std::istringstream names(o.variant);
  for (std::string name; std::getline(names, name, ',');) {
    const auto found = std::find_if(rung.gemm.begin(), rung.gemm.end(),
                                    [&](const Variant<Gemm>& v) { return v.name == name; });
    if (found == rung.gemm.end()) bad_usage("no variant '" + name + "' of gemm here; --list has them");
    if (extension_of(*found).precision != Precision::bf16 || found->dependent_launch)
      bad_usage("--tune times variants in bf16, each launched alone: not '" + name + "'");
  }
}

// --sweep models, --sweep k and --tune: for the gemm only, without options that choose other variants or
// work.
void choose_models(const std::string& problem, bool shapes_given, Options& o) {
  if (shapes_given && !o.models)
    bad_usage("--shapes is how many shapes --sweep models draws: not without it");
  for (const auto& [given, name] : {std::pair(o.models, "--sweep models"), std::pair(o.over_k, "--sweep k"),
                                    std::pair(o.tune, "--tune")}) {
    if (!given) continue;
    if (!o.runs<Gemm>())
      bad_usage(name + std::string(" is for gemm only, not for ") + (problem.empty() ? "a norm" : problem));
    for_each_problem([&]<class Problem>() {
      if (!std::is_same_v<Problem, Gemm>) o.of<Problem>().runs = false;
    });
  }
  if (o.tune && (o.verify_only || o.soak || o.ablate || o.power_seconds || !o.trace.empty()))
    bad_usage(
        "--tune times the variants in turns: not beside --verify-only, --soak, --ablate, --power, --trace");
  if (o.tune && (o.type || o.outlier || o.pad))
    bad_usage("--tune times the variants in bf16: not beside --type, --outlier or --pad");
}

// --trace: only problems, and a variant, that have a timeline.
void choose_traced(const Rung& rung, Options& o) {
  if (o.trace.empty()) return;
  if (o.ablate || o.sweep || o.verify_only || o.soak)
    bad_usage("--trace is for one variant at one shape: not beside --ablate, --sweep, --verify-only, --soak");
  std::string names;
  for_each_problem([&]<class Problem>() {
    bool found = false;
    for (const auto& v : ProblemInfo<Problem>::variants(rung)) {
      if (!v.traced) continue;
      found |= o.variant.empty() || o.variant == v.name;
      add_name(names, std::string(ProblemInfo<Problem>::name) + " " + v.name);
    }
    o.of<Problem>().runs = o.runs<Problem>() && found;
  });
  if (!o.any_runs())
    bad_usage("--trace: what is to run has no timeline; there is: " + (names.empty() ? "none" : names));
}

// Sizes that the named problem does not have.
template <class Problem>
void check_foreign_sizes(const Sizes& sizes) {
  using Info = ProblemInfo<Problem>;
  const std::vector<std::string> foreign = Sizes::foreign<Problem>();
  if (sizes.any(foreign))
    bad_usage(std::string(Info::name) + " takes " + options_text(Sizes::names_of<Problem>(), ", ") +
              " or --size, not " + options_text(foreign, " or "));
}

// Sizes, and --even, that only one problem has.
void check_sole_owners(const std::string& problem, const Sizes& sizes, const Options& o) {
  for_each_problem([&]<class Problem>() {
    using Info = ProblemInfo<Problem>;
    if (problem == Info::name) return;
    for (const SizeName& each : size_names()) {
      const std::vector<std::string> own = Sizes::names_of<Problem>();
      const bool sole = each.problems == 1 && std::find(own.begin(), own.end(), each.name) != own.end();
      if (sole && sizes.get(each.name)) bad_usage("--" + each.name + " is for " + Info::name + " only");
    }
  });
  if (o.even && problem != ProblemInfo<GroupedGemm>::name) bad_usage("--even is for grouped_gemm only");
}

// Either the sizes of a gemm or those of a norm, where the named problem does not have both; and either those
// or --size.
void check_kinds_of_sizes(const Sizes& sizes, bool named_apart) {
  if (!named_apart && sizes.any_of<Gemm>() && sizes.any_of<FusedNorm>())
    bad_usage("--m, --n, --k belong to gemm, --rows, --cols to fused_norm: not both");
  for (const SizeName& each : size_names())
    if (sizes.all && each.set_by_size && sizes.get(each.name))
      bad_usage("--size sets every dimension: not beside --m, --n, --k, --rows or --cols");
}

void choose_problems(const Rung& rung, const std::string& problem, const Sizes& sizes, Options& o) {
  bool named_apart = false;  // a problem that runs only where it is named
  for_each_problem([&]<class Problem>() {
    using Info = ProblemInfo<Problem>;
    if (problem != Info::name) return;
    if (Info::variants(rung).empty())
      bad_usage(std::string(rung.name) + " has no " + problem + "; there is: " + known_problems(rung));
    named_apart = !Info::runs_unnamed;
    if (named_apart) check_foreign_sizes<Problem>(sizes);
  });
  check_sole_owners(problem, sizes, o);
  if (o.even && o.soak) bad_usage("--soak chooses the groups itself: not beside --even");
  check_kinds_of_sizes(sizes, named_apart);
  for_each_problem([&]<class Problem>() {
    using Info = ProblemInfo<Problem>;
    if (problem == Info::name) check_foreign_sizes<Problem>(sizes);
    const bool chosen =
        problem.empty() ? Info::runs_unnamed && !sizes.any(Sizes::foreign<Problem>()) : problem == Info::name;
    o.of<Problem>().runs = chosen && !Info::variants(rung).empty();
  });
  if (!o.any_runs()) bad_usage("no problem here has these sizes; there is: " + known_problems(rung));
}

void choose_shapes(const Sizes& sizes, Options& o) {
  if (o.over_k && (sizes.get("k") || sizes.all))
    bad_usage("--sweep k chooses k itself: give it --m and --n alone");
  for_each_problem([&]<class Problem>() {
    Choice<Problem>& choice = o.of<Problem>();
    if (choice.runs && (sizes.any_of<Problem>() || sizes.all || o.over_k))
      choice.shape = sizes.complete(ProblemInfo<Problem>::default_shape(o.device));
  });
}

// Options that exclude each other.
void check_combinations(const Options& o) {
  const bool sweeps_sizes = o.sweep && !o.models;
  if (o.soak && (o.any_shape() || sweeps_sizes || o.ablate || o.verify_only || o.counters || o.source))
    bad_usage(
        "--soak chooses the sizes itself and only checks: beside it only --variant, --type, --seed, --sweep "
        "models, --json");
  if (o.counters && o.verify_only) bad_usage("--counters counts, --verify-only does not: not both");
  if (o.source && o.verify_only) bad_usage("--source counts, --verify-only does not: not both");
  if (o.sweep && !o.over_k && o.any_shape()) bad_usage("--sweep chooses the sizes itself: give it none");

  if (o.power_seconds && (o.soak || o.sweep || o.verify_only || o.repeats || !o.trace.empty()))
    bad_usage("--power times nothing else: not beside --soak, --sweep, --verify-only, --repeats or --trace");
  const bool gemm = o.runs<Gemm>();
  if (o.input != Input::normal && (!o.power_seconds || !gemm || o.outlier))
    bad_usage("--input is of the gemm's matrices: beside gemm and --power, and not --outlier");
  if (o.pad && (!gemm || o.soak))
    bad_usage("--pad fills up the gemm's matrices: beside gemm, and not --soak");
  if (o.outlier && (!gemm || o.soak))
    bad_usage("--outlier is in the gemm's matrices: beside gemm, and not --soak");
  if (o.l2_set_aside && (o.soak || o.sweep || o.tune || o.power_seconds))
    bad_usage("--l2-set-aside is for single timings: not beside --soak, --sweep, --tune or --power");
}

// --ctas: only problems that have a part to verify, at one shape.
void choose_partial(Options& o) {
  if (!o.ctas) return;
  if (o.soak || o.counters || o.source || o.pad || o.outlier || !o.trace.empty() || !o.json.empty())
    bad_usage(
        "--ctas verifies a part of one launch: beside it only sizes, --variant, --type, --ablate, "
        "--verify-only, --seed");
  if (!o.any_shape()) bad_usage("--ctas is for one shape: give its sizes");
  for_each_problem([&]<class Problem>() {
    if constexpr (!requires { typename ProblemInfo<Problem>::Partial; }) o.of<Problem>().runs = false;
  });
  if (!o.any_runs()) bad_usage("--ctas is for gemm and fused_norm only");
}

// --type: only problems that have a variant of it.
void choose_type(const Rung& rung, Options& o) {
  if (!o.type) return;
  if (!o.variant.empty()) bad_usage("--type chooses variants: not beside --variant");
  bool any = false;
  std::string names;
  for_each_problem([&]<class Problem>() {
    if (!ProblemInfo<Problem>::has_types || !o.runs<Problem>()) return;
    for (const auto& v : ProblemInfo<Problem>::variants(rung)) {
      add_new_name(names, precision_name(extension_of(v).precision));
      any |= extension_of(v).precision == *o.type;
    }
  });
  if (!any)
    bad_usage(std::string("no variant of type ") + precision_name(*o.type) + " here; there is: " + names);
  for_each_problem([&]<class Problem>() {
    const bool has =
        any_variant<Problem>(rung, [&](const auto& v) { return extension_of(v).precision == *o.type; });
    o.of<Problem>().runs = o.runs<Problem>() && has;
  });
}

// --variant: only problems that have it.
void choose_variant(const Rung& rung, Options& o) {
  if (o.variant.empty()) return;
  if (o.tune) return check_tuned_names(rung, o);
  if (o.ablate) bad_usage("--ablate runs every variant: not beside --variant");
  std::string names;
  for_each_problem([&]<class Problem>() {
    if (!o.runs<Problem>()) return;
    for (const auto& v : ProblemInfo<Problem>::variants(rung)) add_new_name(names, v.name);
    o.of<Problem>().runs = any_variant<Problem>(rung, [&](const auto& v) { return v.name == o.variant; });
  });
  if (!o.any_runs()) bad_usage("no variant '" + o.variant + "' here; there is: " + names);
}

}  // namespace

std::string known_problems(const Rung& rung) {
  std::string names;
  for_each_problem([&]<class Problem>() {
    if (!ProblemInfo<Problem>::variants(rung).empty()) add_name(names, ProblemInfo<Problem>::name);
  });
  return names;
}

void choose(const Rung& rung, const std::string& problem, const Sizes& sizes, bool shapes_given, Options& o) {
  choose_problems(rung, problem, sizes, o);
  choose_models(problem, shapes_given, o);
  choose_shapes(sizes, o);
  check_combinations(o);
  choose_partial(o);
  choose_type(rung, o);
  choose_variant(rung, o);
  choose_traced(rung, o);
}

}  // namespace ladder
