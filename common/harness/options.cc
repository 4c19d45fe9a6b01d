#include "common/harness/options.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>

#include "common/harness/failure.h"
#include "common/harness/precision.h"
#include "common/harness/problems.h"

namespace ladder {
namespace {

[[noreturn]] void bad_usage(const std::string& line) {
  throw Failure(Exit::bad_usage, line + " (see --help)");
}

// A whole number in [low, high], written in decimal digits and nothing else.
template <class Integer>
Integer parse_number(const std::string& option, const std::string& text, Integer low, Integer high) {
  Integer value{};
  const char* end = text.data() + text.size();
  auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || stopped != end)
    bad_usage(option + " takes a whole number, not '" + text + "'");
  if (error == std::errc::result_out_of_range || value < low || value > high)
    bad_usage(option + " must be between " + std::to_string(low) + " and " + std::to_string(high) + ", not " +
              text);
  return value;
}

template <class Problem>
bool has_variant(const Rung& rung, const std::string& name) {
  const auto& variants = ProblemInfo<Problem>::variants(rung);
  return std::any_of(variants.begin(), variants.end(), [&](const auto& v) { return v.name == name; });
}

template <class Problem>
void append_names(const Rung& rung, std::string& text) {
  for (const auto& v : ProblemInfo<Problem>::variants(rung)) {
    const std::string name = v.name;
    if ((", " + text + ", ").find(", " + name + ", ") == std::string::npos)
      text += (text.empty() ? "" : ", ") + name;
  }
}

// "bf16, f16, tf32": the precisions of the rung's variants of a problem, in their order, which are not in the
// text already.
template <class Problem>
void append_types(const Rung& rung, std::string& text) {
  for (const auto& v : ProblemInfo<Problem>::variants(rung)) {
    const std::string name = precision_name(extension_of(v).precision);
    if ((", " + text + ", ").find(", " + name + ", ") == std::string::npos)
      text += (text.empty() ? "" : ", ") + name;
  }
}

// The sizes as typed, before it is known which problem they belong to.
struct Sizes {
  std::optional<int> m, n, k, rows, cols, size, groups;
  bool any_gemm() const { return m || n || k; }
  bool any_norm() const { return rows || cols; }
};

// A program of a reader's own may have one alone.
std::string known_problems(const Rung& rung) {
  std::string names;
  const auto add = [&](const char* name, bool there) {
    if (there) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  add("gemm", !rung.gemm.empty());
  add("fused_norm", !rung.fused_norm.empty());
  add("norm_gemm", !rung.norm_gemm.empty());
  add("grouped_gemm", !rung.grouped_gemm.empty());
  add("linear", !rung.linear.empty());
  add("row_operator", !rung.row_operator.empty());
  return names;
}

// --tune beside --variant: every name is a variant's that is timed in turns with the rung.
void check_tuned_names(const Rung& rung, const Options& o) {
  std::istringstream names(o.variant);
  for (std::string name; std::getline(names, name, ',');) {
    const auto found = std::find_if(rung.gemm.begin(), rung.gemm.end(),
                                    [&](const Variant<Gemm>& v) { return v.name == name; });
    if (found == rung.gemm.end()) bad_usage("no variant '" + name + "' of gemm here; --list has them");
    if (extension_of(*found).precision != Precision::bf16 || extension_of(*found).rank != 0 ||
        found->dependent_launch)
      bad_usage("--tune times variants in bf16, each launched alone: not '" + name + "'");
  }
}

// --sweep models, --sweep k and --tune: of the gemm alone, and nothing beside them that chooses other
// variants or work.
void choose_models(const std::string& problem, bool shapes_given, Options& o) {
  if (shapes_given && !o.models)
    bad_usage("--shapes is how many shapes --sweep models draws: not without it");
  for (const auto& [given, name] : {std::pair(o.models, "--sweep models"), std::pair(o.over_k, "--sweep k"),
                                    std::pair(o.tune, "--tune")}) {
    if (!given) continue;
    if (!o.gemm)
      bad_usage(name + std::string(" is of gemm alone, not of ") + (problem.empty() ? "a norm" : problem));
    o.fused_norm = false;
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
  const auto keep = [&](bool& problem, const char* name, const auto& variants) {
    bool found = false;
    for (const auto& v : variants) {
      if (!v.traced) continue;
      found |= o.variant.empty() || o.variant == v.name;
      names += (names.empty() ? "" : ", ") + std::string(name) + " " + v.name;
    }
    problem = problem && found;
  };
  keep(o.gemm, "gemm", rung.gemm);
  keep(o.fused_norm, "fused_norm", rung.fused_norm);
  keep(o.norm_gemm, "norm_gemm", rung.norm_gemm);
  keep(o.grouped_gemm, "grouped_gemm", rung.grouped_gemm);
  keep(o.linear, "linear", rung.linear);
  keep(o.row_operator, "row_operator", rung.row_operator);
  if (!o.gemm && !o.fused_norm && !o.norm_gemm && !o.grouped_gemm && !o.linear && !o.row_operator)
    bad_usage("--trace: what is to run has no timeline; there is: " + (names.empty() ? "none" : names));
}

void choose_problems(const Rung& rung, const std::string& problem, const Sizes& sizes, bool shapes_given,
                     Options& o) {
  o.norm_gemm = problem == "norm_gemm";
  o.grouped_gemm = problem == "grouped_gemm";
  o.linear = problem == "linear";
  o.row_operator = problem == "row_operator";
  if ((problem == "gemm" && rung.gemm.empty()) || (problem == "fused_norm" && rung.fused_norm.empty()) ||
      (o.norm_gemm && rung.norm_gemm.empty()) || (o.grouped_gemm && rung.grouped_gemm.empty()) ||
      (o.linear && rung.linear.empty()) || (o.row_operator && rung.row_operator.empty()))
    bad_usage(std::string(rung.name) + " has no " + problem + "; there is: " + known_problems(rung));
  if (o.norm_gemm && (sizes.m || sizes.k))
    bad_usage("norm_gemm takes --rows, --cols, --n or --size, not --m or --k");
  if (o.grouped_gemm && sizes.any_norm())
    bad_usage("grouped_gemm takes --groups, --m, --n, --k or --size, not --rows or --cols");
  if (o.linear && sizes.any_norm()) bad_usage("linear takes --m, --n, --k or --size, not --rows or --cols");
  if (o.row_operator && sizes.any_gemm())
    bad_usage("row_operator takes --rows, --cols or --size, not --m, --n or --k");
  if (!o.grouped_gemm && (sizes.groups || o.even))
    bad_usage(std::string(sizes.groups ? "--groups" : "--even") + " is of grouped_gemm alone");
  if (o.even && o.soak) bad_usage("--soak chooses the groups itself: not beside --even");
  if (sizes.any_gemm() && sizes.any_norm() && !o.norm_gemm)
    bad_usage("--m, --n, --k belong to gemm, --rows, --cols to fused_norm: not both");
  if (sizes.size && (sizes.any_gemm() || sizes.any_norm()))
    bad_usage("--size sets every dimension: not beside --m, --n, --k, --rows or --cols");
  if (problem == "gemm" && sizes.any_norm())
    bad_usage("gemm takes --m, --n, --k or --size, not --rows or --cols");
  if (problem == "fused_norm" && sizes.any_gemm())
    bad_usage("fused_norm takes --rows, --cols or --size, not --m, --n or --k");
  o.gemm = !rung.gemm.empty() && (problem.empty() ? !sizes.any_norm() : problem == "gemm");
  o.fused_norm = !rung.fused_norm.empty() && (problem.empty() ? !sizes.any_gemm() : problem == "fused_norm");
  if (!o.gemm && !o.fused_norm && !o.norm_gemm && !o.grouped_gemm && !o.linear && !o.row_operator)
    bad_usage("these sizes are of no problem here; there is: " + known_problems(rung));

  choose_models(problem, shapes_given, o);

  if (o.over_k && (sizes.k || sizes.size)) bad_usage("--sweep k chooses k itself: give it --m and --n alone");
  if (o.gemm && (sizes.any_gemm() || sizes.size || o.over_k)) {
    Gemm p = ProblemInfo<Gemm>::default_shape(o.device);
    p.m = sizes.size.value_or(sizes.m.value_or(p.m));
    p.n = sizes.size.value_or(sizes.n.value_or(p.n));
    p.k = sizes.size.value_or(sizes.k.value_or(p.k));
    o.gemm_shape = p;
  }
  if (o.fused_norm && (sizes.any_norm() || sizes.size)) {
    FusedNorm p = ProblemInfo<FusedNorm>::default_shape(o.device);
    p.rows = sizes.size.value_or(sizes.rows.value_or(p.rows));
    p.cols = sizes.size.value_or(sizes.cols.value_or(p.cols));
    o.norm_shape = p;
  }
  if (o.norm_gemm && (sizes.n || sizes.any_norm() || sizes.size)) {
    NormGemm p = ProblemInfo<NormGemm>::default_shape(o.device);
    p.rows = sizes.size.value_or(sizes.rows.value_or(p.rows));
    p.cols = sizes.size.value_or(sizes.cols.value_or(p.cols));
    p.n = sizes.size.value_or(sizes.n.value_or(p.n));
    o.norm_gemm_shape = p;
  }
  if (o.grouped_gemm && (sizes.groups || sizes.any_gemm() || sizes.size)) {
    GroupedGemm p = ProblemInfo<GroupedGemm>::default_shape(o.device);
    p.groups = sizes.groups.value_or(p.groups);
    p.m = sizes.size.value_or(sizes.m.value_or(p.m));
    p.n = sizes.size.value_or(sizes.n.value_or(p.n));
    p.k = sizes.size.value_or(sizes.k.value_or(p.k));
    o.grouped_shape = p;
  }
  if (o.linear && (sizes.any_gemm() || sizes.size)) {
    Linear p = ProblemInfo<Linear>::default_shape(o.device);
    p.m = sizes.size.value_or(sizes.m.value_or(p.m));
    p.n = sizes.size.value_or(sizes.n.value_or(p.n));
    p.k = sizes.size.value_or(sizes.k.value_or(p.k));
    o.linear_shape = p;
  }
  if (o.row_operator && (sizes.any_norm() || sizes.size)) {
    RowOperator p = ProblemInfo<RowOperator>::default_shape(o.device);
    p.rows = sizes.size.value_or(sizes.rows.value_or(p.rows));
    p.cols = sizes.size.value_or(sizes.cols.value_or(p.cols));
    o.row_operator_shape = p;
  }
  const bool sizes_given = o.gemm_shape || o.norm_shape || o.norm_gemm_shape || o.grouped_shape ||
                           o.linear_shape || o.row_operator_shape;
  if (o.soak && (sizes_given || o.sweep || o.ablate || o.verify_only || o.counters || o.source))
    bad_usage(
        "--soak chooses the sizes itself and only checks: beside it only --variant, --type, --seed, --json");
  if (o.counters && o.verify_only) bad_usage("--counters counts, --verify-only does not: not both");
  if (o.source && o.verify_only) bad_usage("--source counts, --verify-only does not: not both");
  if (o.sweep && !o.over_k && sizes_given) bad_usage("--sweep chooses the sizes itself: give it none");

  if (o.power_seconds && (o.soak || o.sweep || o.verify_only || o.repeats || !o.trace.empty()))
    bad_usage("--power times nothing else: not beside --soak, --sweep, --verify-only, --repeats or --trace");
  if (o.input != Input::normal && (!o.power_seconds || !o.gemm || o.outlier))
    bad_usage("--input is of the gemm's matrices: beside gemm and --power, and not --outlier");
  if (o.pad && (!o.gemm || o.soak))
    bad_usage("--pad fills up the gemm's matrices: beside gemm, and not --soak");
  if (o.outlier && (!o.gemm || o.soak))
    bad_usage("--outlier is in the gemm's matrices: beside gemm, and not --soak");
  if (o.l2_set_aside && (o.soak || o.sweep || o.tune || o.power_seconds))
    bad_usage("--l2-set-aside is for single timings: not beside --soak, --sweep, --tune or --power");
  if (o.type) {
    if (!o.variant.empty()) bad_usage("--type chooses variants: not beside --variant");
    auto has_type = [&](const auto& variants) {
      return std::any_of(variants.begin(), variants.end(),
                         [&](const auto& v) { return extension_of(v).precision == *o.type; });
    };
    const bool gemm_has = has_type(rung.gemm), norm_has = has_type(rung.fused_norm);
    if ((!o.gemm || !gemm_has) && (!o.fused_norm || !norm_has)) {
      std::string names;
      if (o.gemm) append_types<Gemm>(rung, names);
      if (o.fused_norm) append_types<FusedNorm>(rung, names);
      bad_usage(std::string("no variant of type ") + precision_name(*o.type) + " here; there is: " + names);
    }
    o.gemm = o.gemm && gemm_has;
    o.fused_norm = o.fused_norm && norm_has;
  }
  if (o.variant.empty()) return;
  if (o.tune) return check_tuned_names(rung, o);
  if (o.ablate) bad_usage("--ablate runs every variant: not beside --variant");
  const bool in_gemm = has_variant<Gemm>(rung, o.variant), in_norm = has_variant<FusedNorm>(rung, o.variant);
  const bool in_norm_gemm = has_variant<NormGemm>(rung, o.variant);
  const bool in_grouped = has_variant<GroupedGemm>(rung, o.variant);
  if ((!o.gemm || !in_gemm) && (!o.fused_norm || !in_norm) && (!o.norm_gemm || !in_norm_gemm) &&
      (!o.grouped_gemm || !in_grouped) && (!o.linear || !has_variant<Linear>(rung, o.variant)) &&
      (!o.row_operator || !has_variant<RowOperator>(rung, o.variant))) {
    std::string names;
    if (o.gemm) append_names<Gemm>(rung, names);
    if (o.fused_norm) append_names<FusedNorm>(rung, names);
    if (o.norm_gemm) append_names<NormGemm>(rung, names);
    if (o.grouped_gemm) append_names<GroupedGemm>(rung, names);
    if (o.linear) append_names<Linear>(rung, names);
    if (o.row_operator) append_names<RowOperator>(rung, names);
    bad_usage("no variant '" + o.variant + "' here; there is: " + names);
  }
  o.gemm = o.gemm && in_gemm;
  o.fused_norm = o.fused_norm && in_norm;
}

std::optional<Input> input_of(const std::string& name) {
  if (name == "normal") return Input::normal;
  if (name == "integers") return Input::integers;
  if (name == "ones") return Input::ones;
  if (name == "zeros") return Input::zeros;
  return {};
}

// Times are a GPU's alone, counts the simulator's.
void refuse_elsewhere(const std::string& option, const Rung& rung, DeviceKind device) {
  const bool on_gpu = device == DeviceKind::gpu;
  if (on_gpu && (option == "--counters" || option == "--source"))
    bad_usage(option + ": only on the simulator: use " + program_name(rung, DeviceKind::simulator) +
              ", or ncu");
  if (!on_gpu &&
      (option == "--sweep" || option == "--tune" || option == "--repeats" || option == "--launches" ||
       option == "--power" || option == "--input" || option == "--l2-set-aside"))
    bad_usage(option + ": the simulator measures no times: use " + program_name(rung, DeviceKind::gpu));
}

}  // namespace

const char* input_text(Input input) {
  switch (input) {
    case Input::normal:
      return "normal(0,1)";
    case Input::integers:
      return "integers -3..3";
    case Input::ones:
      return "ones";
    case Input::zeros:
      return "zeros";
  }
  return "";
}

std::string program_name(const Rung& rung, DeviceKind device) {
  return std::string(rung.name) + (device == DeviceKind::simulator ? "_sim" : "");
}

Options parse_options(const std::vector<std::string>& arguments, const Rung& rung, DeviceKind device) {
  Options o;
  o.device = device;
  if (device == DeviceKind::simulator) o.reference = Reference::cpu;
  Sizes sizes;
  std::string problem;
  bool shapes_given = false;

  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string option = arguments[i];
    std::optional<std::string> attached;  // --option=value
    if (const auto equals = option.find('='); option.starts_with("--") && equals != std::string::npos) {
      attached = option.substr(equals + 1);
      option.resize(equals);
    }
    auto value = [&]() -> std::string {
      if (attached) return *attached;
      if (i + 1 == arguments.size()) bad_usage(option + " needs a value");
      return arguments[++i];
    };
    auto dimension = [&] { return parse_number(option, value(), 1, max_dimension); };
    auto flag = [&](bool& target) {
      if (attached) bad_usage(option + " takes no value");
      target = true;
    };

    const auto sweeps_over = [&](const char* what) {
      return option == "--sweep" &&
             (attached ? *attached == what : i + 1 < arguments.size() && arguments[i + 1] == what);
    };
    const bool models = sweeps_over("models"), over_k = sweeps_over("k");
    if (!models) refuse_elsewhere(option, rung, device);
    if (option == "gemm" || option == "fused_norm" || option == "norm_gemm" || option == "grouped_gemm" ||
        option == "linear" || option == "row_operator") {
      if (!problem.empty()) bad_usage("give one problem; without one gemm and fused_norm run");
      problem = option;
    } else if (option == "--help" || option == "-h") {
      flag(o.help);
    } else if (option == "--list") {
      flag(o.list);
    } else if (option == "--m") {
      sizes.m = dimension();
    } else if (option == "--n") {
      sizes.n = dimension();
    } else if (option == "--k") {
      sizes.k = dimension();
    } else if (option == "--rows") {
      sizes.rows = dimension();
    } else if (option == "--cols") {
      sizes.cols = dimension();
    } else if (option == "--groups") {
      sizes.groups = dimension();
    } else if (option == "--even") {
      flag(o.even);
    } else if (option == "--size") {
      sizes.size = dimension();
    } else if (option == "--variant") {
      o.variant = value();
      if (o.variant.empty()) bad_usage("--variant needs a name (see --list)");
    } else if (option == "--type") {
      const std::string name = value();
      o.type = precision_of(name);
      if (!o.type) {
        std::string names;
        for (const Precision p : all_precisions)
          names.append(names.empty() ? "" : ", ").append(precision_name(p));
        bad_usage("no type '" + name + "'; there is: " + names);
      }
    } else if (option == "--pad") {
      flag(o.pad);
    } else if (option == "--ablate") {
      flag(o.ablate);
    } else if (option == "--sweep") {
      if (models || over_k) {
        value();
        o.models = models;
        o.over_k = over_k;
        o.sweep = true;
      } else {
        if (attached) bad_usage("--sweep takes no value but 'models' or 'k', not '" + *attached + "'");
        flag(o.sweep);
      }
    } else if (option == "--shapes") {
      o.model_shapes = parse_number(option, value(), 1, max_model_shapes);
      shapes_given = true;
    } else if (option == "--tune") {
      flag(o.tune);
    } else if (option == "--power") {
      o.power_seconds = parse_number(option, value(), 1, 3600);
    } else if (option == "--input") {
      const std::string name = value();
      const auto input = input_of(name);
      if (!input) bad_usage("--input is normal, integers, ones or zeros, not '" + name + "'");
      o.input = *input;
    } else if (option == "--verify-only") {
      flag(o.verify_only);
    } else if (option == "--soak") {
      o.soak = parse_number(option, value(), 1, 1000000);
    } else if (option == "--counters") {
      flag(o.counters);
    } else if (option == "--source") {
      flag(o.source);
    } else if (option == "--trace") {
      o.trace = value();
      if (o.trace.empty()) bad_usage("--trace needs a file name");
    } else if (option == "--reference") {
      const std::string name = value();
      if (name != "cublas" && name != "cpu") bad_usage("--reference is cublas or cpu, not '" + name + "'");
      if (name == "cublas" && device == DeviceKind::simulator)
        bad_usage("--reference cublas: the simulator has no cuBLAS; its reference is the CPU");
      o.reference = name == "cpu" ? Reference::cpu : Reference::cublas;
    } else if (option == "--launches") {
      const std::string how = value();
      if (how != "stream" && how != "graph") bad_usage("--launches is stream or graph, not '" + how + "'");
      o.launches = how == "graph" ? Launches::graph : Launches::stream;
    } else if (option == "--repeats") {
      o.repeats = parse_number(option, value(), 1, 1000000);
    } else if (option == "--seed") {
      o.seed = parse_number<std::uint64_t>(option, value(), 0, std::numeric_limits<std::uint64_t>::max());
    } else if (option == "--outlier") {
      o.outlier = parse_number(option, value(), 1, 1 << 30);
    } else if (option == "--l2-set-aside") {
      o.l2_set_aside = parse_number(option, value(), 1, 1024);
    } else if (option == "--json") {
      o.json = value();
      if (o.json.empty()) bad_usage("--json needs a file name");
    } else if (option == "--table-rows") {
      flag(o.rows);
    } else {
      bad_usage(option.starts_with("-")
                    ? "unknown option '" + option + "'"
                    : "unknown problem '" + option + "'; there is: " + known_problems(rung));
    }
  }
  choose_problems(rung, problem, sizes, shapes_given, o);
  choose_traced(rung, o);
  return o;
}

bool is_named(const std::string& names, const std::string& variant) {
  if (names.empty()) return true;
  std::istringstream all(names);
  for (std::string name; std::getline(all, name, ',');)
    if (name == variant) return true;
  return false;
}

static const char what_to_run[] = R"(
what to run
  gemm                 C[m,n] = A[m,k] B[k,n], bf16, fp32 accumulation
  fused_norm           h = x + residual; y = RMSNorm(h) gamma, row by row, bf16
  norm_gemm            h = x + residual; C[rows,n] = RMSNorm(h) gamma W[cols,n]: some rungs have it
  grouped_gemm         G products with a B each, that share out the rows of A: some rungs have it
  linear               C = f(A B + bias) or act(A Gate) (A B), by variant: some rungs have it
  row_operator         y = LayerNorm(x) or softmax(x), row by row, by variant: some rungs have it
  --m M --n N --k K    sizes of the gemm, linear, or all groups; one left out keeps the course's
  --rows R --cols C    sizes of the norm, row_operator, and with --n of norm_gemm
  --groups G --even    of grouped_gemm: products; as many rows for each, not as a router shares them out
  --size N             every dimension at once
  --variant NAME       one of the rung's variants (see --list); without it, the rung itself
  --pad                fill up n and k of a gemm with zeros to the next sizes that its variants take
  --type T             bf16, tf32, fp8, ...: the variant of this precision; with --ablate all of them
)";

static const char on_a_gpu[] = R"(  --ablate             every variant: what each trick buys
  --trace FILE         a timeline of what the warps of a gemm do, for Perfetto: some variants have it
  --sweep              a range of sizes
  --sweep k            gemm: k from 64 to 16384, at the m and n of --m and --n
  --sweep models       gemm: shapes that language models have, and what they come to, cuBLAS against the rung
  --shapes N           of which so many are drawn, by --seed (default 200)
  --tune               gemm: all variants in bf16, in turns: which is fastest, and how far off the rung is; with
                       --variant ONE,OTHER these and the rung, and the time of each
  --verify-only        check, do not time; without sizes, a list of awkward ones
  --soak N             N launches over random shapes, back to back, every element of each compared
  --power S            S seconds without a pause: clock, power, joules; then, without --variant, the baselines

how
  --launches HOW       time launches in a row: one by one (stream), or as a CUDA graph (graph); without it,
                       short ones as a graph, long ones singly
  --repeats N          timed samples per kernel (default: as many as fit 1.5 s, of --sweep models 0.15 s)
  --seed N             seed of the random inputs, and of --sweep models (default 1)
  --outlier N          the last element of a gemm's A and of its B is N: what that costs the others
  --l2-set-aside MIB   so much of L2 set aside for lines that persist (cudaLimitPersistingL2CacheSize)
  --input HOW          beside --power, the elements of A and B: normal (default), integers, ones, zeros
  --reference cpu      check against fp64 on the CPU instead of cuBLAS; --verify-only then keeps to small sizes
)";

static const char on_the_simulator[] = R"(  --ablate             every variant: what each trick changes
  --trace FILE         a timeline of what the warps of a gemm do, for Perfetto: some variants have it
  --verify-only        check, do not count; without sizes, a list of awkward ones
  --soak N             N launches over random shapes, back to back, every element of each compared

what to show
  --counters           of each variant: requests, sectors and wavefronts by kind of access, and its instructions
  --source             of each variant: its source, with the counts of every line

how
  --seed N             seed of the random inputs (default 1)
  --outlier N          the last element of a gemm's A and of its B is N: what that costs the others
)";

static const char how_to_write[] = R"(  --json FILE          append one JSON object per result to FILE
  --table-rows         print the rows of the table without its header

  --list               the rung's variants
  --help               this text
)";

static const char environment[] = R"(
environment
  SIMULATOR_DEVICE     the GPU to be: a100, l40s, h200 (default, unless the rung is for b200) or b200
  SIMULATOR_SEED       0 (default): warps run in order; any other number: another order that a GPU may choose
  SIMULATOR_CHECKS     what to do about races, reads of memory never written, divergent barriers:
                       fail (default), report, or off
  SIMULATOR_THREADS    threads of the CPU to use (default: all)
)";

std::string help_text(const Rung& rung, DeviceKind device) {
  const bool on_gpu = device == DeviceKind::gpu;
  const std::string name = program_name(rung, device);
  std::ostringstream out;
  out << name << ": " << rung.title << "\n\n"
      << "usage: " << name << " [gemm|fused_norm|norm_gemm|grouped_gemm|linear|row_operator]"
      << " [options]\n\n"
      << (on_gpu
              ? "Runs the rung's kernels, checks every element they write, times them beside cuBLAS (gemm, "
                "grouped_gemm),\na plain copy (fused_norm, row_operator) or both in two steps (norm_gemm, "
                "linear), and prints a\ntable. Without arguments: gemm and fused_norm at the course's sizes, "
              : "Runs the rung's kernels on a simulated GPU, checks every element they write against fp64, "
                "and "
                "counts what a\nGPU's counters would. It has no times. Without arguments: gemm and "
                "fused_norm at "
                "small sizes, ")
      << shape_text(ProblemInfo<Gemm>::default_shape(device)) << "\nand "
      << shape_text(ProblemInfo<FusedNorm>::default_shape(device)) << ".\n"
      << what_to_run << (on_gpu ? on_a_gpu : on_the_simulator) << how_to_write << (on_gpu ? "" : environment)
      << "\nexit codes: 0 passed, 1 wrong result, 2 bad usage, 77 cannot run here ("
      << (on_gpu ? "no GPU, " : "") << "another architecture, no memory)\n";
  return out.str();
}

std::string list_text(const Rung& rung) {
  std::ostringstream out;
  auto list = [&](const char* problem, const auto& variants) {
    for (const auto& v : variants) {
      const bool last = &v == &variants.back();
      std::string name = v.name;
      name.resize(std::max<std::size_t>(name.size(), 22), ' ');
      out << problem << "  " << name << (last ? "  (the rung) " : "  ") << v.what << "\n";
    }
  };
  list("gemm      ", rung.gemm);
  list("fused_norm", rung.fused_norm);
  list("norm_gemm ", rung.norm_gemm);
  list("grouped_gemm", rung.grouped_gemm);
  list("linear    ", rung.linear);
  list("row_operator", rung.row_operator);
  return out.str();
}

}  // namespace ladder
