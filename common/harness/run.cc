#include "common/harness/run.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "common/harness/cublas.h"
#include "common/harness/failure.h"
#include "common/harness/machine.h"
#include "common/harness/report.h"
#include "common/harness/workload.h"

namespace ladder {
namespace {

constexpr int device_memory_slack = 256 << 20;  // cuBLAS's workspace, guard zones, the context's own needs

// Device memory taken beside one set of the problem's own buffers: the reference C in fp32; the norm's rival,
// the copy.
std::uint64_t extra_bytes(const Gemm& p, bool) {
  return 4 * std::uint64_t(p.m) * std::uint64_t(p.n);
}
std::uint64_t extra_bytes(const FusedNorm& p, bool timed) {
  return timed ? footprint_bytes(p) : 0;
}

// One line on the terminal that says what is under way; nothing where stderr is not a terminal.
class Progress {
 public:
  void show(const std::string& what) const {
    if (terminal_) std::fprintf(stderr, "\r\033[K%s", what.c_str());
  }
  void clear() const { show(""); }

 private:
  bool terminal_ = isatty(STDERR_FILENO);
};

std::vector<Contender> baselines(const std::vector<Gemm>& sets) {
  return cublas_baselines(sets);
}

// One plain copy that reads and writes together as many bytes as the norm must move, less what is over a
// multiple of 64 KiB each way: cudaMemcpy is much slower for some ragged sizes, and the rival shall be at its
// best.
std::vector<Contender> baselines(const std::vector<FusedNorm>& sets) {
  struct Pair {
    GuardedBuffer from, to;
  };
  auto pairs = std::make_shared<std::vector<Pair>>();
  constexpr std::uint64_t granule = 65536 / sizeof(__nv_bfloat16);
  std::uint64_t elements = footprint_bytes(sets[0]) / 2 / sizeof(__nv_bfloat16);
  if (elements > granule) elements -= elements % granule;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    pairs->push_back({GuardedBuffer("the copy's source", GuardedBuffer::Kind::input, elements),
                      GuardedBuffer("the copy's target", GuardedBuffer::Kind::output, elements)});
    fill(pairs->back().from, {Distribution::Kind::normal}, i);
  }
  return {{"copy", [=](int set, cudaStream_t stream) {
             const Pair& pair = (*pairs)[set];
             return cudaMemcpyAsync(pair.to.data(), pair.from.data(), elements * sizeof(__nv_bfloat16),
                                    cudaMemcpyDeviceToDevice, stream);
           }}};
}

template <class Problem>
class Runner {
 public:
  Runner(const Rung& rung, const Options& options, const Machine& machine, JsonLines& json)
      : rung_(rung), options_(options), machine_(machine), json_(json) {}

  // Whether everything that ran was right.
  bool run(const std::vector<Problem>& shapes) {
    if (!options_.rows) std::fputs(table_header(Info::name).c_str(), stdout);
    bool right = true;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      step_ = shapes.size() == 1 ? "" : "[" + std::to_string(i + 1) + "/" + std::to_string(shapes.size()) + "] ";
      right = run_shape(shapes[i], shapes.size() == 1) && right;
    }
    return right;
  }

 private:
  using Info = ProblemInfo<Problem>;

  void show(const std::string& what) const { progress_.show(step_ + what); }

  std::vector<const Variant<Problem>*> chosen() const {
    std::vector<const Variant<Problem>*> list;
    for (const auto& v : Info::variants(rung_))
      if (options_.ablate ||
          (options_.variant.empty() ? &v == &Info::variants(rung_).back() : v.name == options_.variant))
        list.push_back(&v);
    return list;
  }

  bool run_shape(const Problem& shape, bool only_shape) {
    const std::string no_memory = memory_shortage(
        footprint_bytes(shape) + extra_bytes(shape, !options_.verify_only) + device_memory_slack, free_device_bytes());
    if (!no_memory.empty() && only_shape) throw Failure(Exit::cannot_run, shape_text(shape) + ": " + no_memory);

    std::vector<Result> results;
    std::vector<const Variant<Problem>*> variants;
    for (const auto* v : chosen()) {
      Result r;
      r.rung = rung_.name;
      r.title = rung_.title;
      r.problem = Info::name;
      r.variant = v->name;
      r.shape = shape_text(shape);
      r.unit = Info::unit;
      r.refused = v->unsupported(shape);
      if (!r.refused.empty() && only_shape && !options_.ablate)
        throw Failure(Exit::bad_usage, std::string(v->name) + " does not take " + r.shape + ": " + r.refused);
      if (r.refused.empty()) r.refused = no_memory;
      results.push_back(r);
      variants.push_back(v);
    }
    if (std::all_of(results.begin(), results.end(), [](const Result& r) { return !r.refused.empty(); })) {
      for (const Result& r : results) std::fputs(table_row(r).c_str(), stdout);
      return true;
    }

    const int sets = options_.verify_only ? 1 : sets_to_rotate(footprint_bytes(shape), machine_.l2_bytes);

    Workload<Problem> workload(shape, sets, options_.seed, options_.reference);
    for (int pass = 0; pass < workload.passes; ++pass) {
      show(shape_text(shape) + ": computing the reference");
      workload.prepare(pass);
      for (std::size_t i = 0; i < results.size(); ++i)
        if (results[i].refused.empty() && results[i].fault.empty())
          verify(*variants[i], workload, results[i]);
    }

    std::vector<Problem> problems;
    for (int set = 0; set < sets; ++set) problems.push_back(workload.problem(set));
    std::vector<Contender> rivals;
    if (!options_.verify_only) {
      show(shape_text(shape) + ": preparing the baselines");
      rivals = baselines(problems);
    }

    bool right = true;
    for (std::size_t i = 0; i < results.size(); ++i) {
      Result& r = results[i];
      if (!options_.verify_only && r.refused.empty() && r.fault.empty())
        time(*variants[i], problems, rivals, r);
      progress_.clear();
      std::fputs(table_row(r).c_str(), stdout);
      std::fflush(stdout);
      if (r.refused.empty()) write_json(r, shape, workload, sets);
      if (!r.fault.empty()) {
        std::fprintf(stderr, "%s: %s %s %s: %s\n", rung_.name, Info::name, r.variant.c_str(), r.shape.c_str(),
                     r.fault.c_str());
        right = false;
      }
    }
    return right;
  }

  void verify(const Variant<Problem>& v, Workload<Problem>& workload, Result& r) {
    show(std::string(v.name) + " " + r.shape + ": checking");
    workload.poison();
    const std::string doing = std::string(Info::name) + " " + v.name + " at " + r.shape;
    check(v.launch(workload.problem(0), nullptr), doing);
    check(cudaDeviceSynchronize(), doing);
    std::string outside;
    r.verdict = workload.verify(outside);
    if (!r.verdict.passed())
      r.fault = std::to_string(r.verdict.wrong) + " of " + std::to_string(r.verdict.checked) +
                " elements wrong; " + r.verdict.first_wrong;
    if (!outside.empty()) r.fault += (r.fault.empty() ? "" : "; ") + outside;
  }

  void time(const Variant<Problem>& v, const std::vector<Problem>& problems,
            const std::vector<Contender>& rivals, Result& r) {
    show(std::string(v.name) + " " + r.shape + ": timing");
    std::vector<Contender> contenders{
        {v.name, [&](int set, cudaStream_t stream) { return v.launch(problems[set], stream); }}};
    contenders.insert(contenders.end(), rivals.begin(), rivals.end());
    r.measurement = measure(contenders, int(problems.size()), options_.repeats);
    for (const Timing& t : r.measurement->timings) r.scores.push_back(score(problems[0], t.median_us));
  }

  static void add_shape(JsonObject& o, const Gemm& p) { o.field("m", p.m).field("n", p.n).field("k", p.k); }
  static void add_shape(JsonObject& o, const FusedNorm& p) { o.field("rows", p.rows).field("cols", p.cols); }

  void write_json(const Result& r, const Problem& shape, const Workload<Problem>& workload, int sets) {
    const auto& all = Info::variants(rung_);
    int index = 0;
    while (all[index].name != r.variant) ++index;
    JsonObject o;
    o.field("record", "run").field("rung", r.rung).field("title", r.title).field("problem", r.problem);
    o.field("variant", r.variant)
        .field("variant_index", index)
        .field("is_rung", index + 1 == int(all.size()));
    add_shape(o, shape);
    if (r.measurement) {
      const auto& t = r.measurement->timings;
      o.field("median_us", t[0].median_us).field("p10_us", t[0].p10_us).field("p90_us", t[0].p90_us);
      o.field("repeats", t[0].samples).field("launches_per_sample", t[0].launches_per_sample);
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
    o.field("verified", r.fault.empty())
        .field("max_error", r.verdict.error)
        .field("error_bound", r.verdict.bound);
    add_machine(o, machine_);
    if (r.measurement) add_card_state(o, r.measurement->card);
    o.field("input", workload.input());
    o.field("l2", sets > 1 ? "cold: rotates over " + std::to_string(sets) + " buffer sets"
                           : "one buffer set, over twice the L2");
    o.field("seed", options_.seed);
    json_.write(o);
  }

  const Rung& rung_;
  const Options& options_;
  const Machine& machine_;
  JsonLines& json_;
  Progress progress_;
  std::string step_;  // "[2/6] " in a list of shapes
};

template <class Problem>
std::vector<Problem> shapes_for(const Options& o, const std::optional<Problem>& given) {
  using Info = ProblemInfo<Problem>;
  if (given) return {*given};
  if (o.sweep) return Info::sweep_shapes();
  if (o.verify_only) {
    auto shapes = Info::verify_shapes();
    if (o.reference == Reference::cpu)
      std::erase_if(shapes, [](const Problem& p) { return !quick_on_cpu(p); });
    return shapes;
  }
  return {Info::default_shape()};
}

}  // namespace

Exit run(const Rung& rung, const Options& options) {
  JsonLines json(options.json);
  const Machine machine = this_machine();
  require(machine, rung.needs);
  if (!options.rows)
    std::printf("%s: %s\n%s, driver %s, CUDA %s, cuBLAS %s\n\n", rung.name, rung.title,
                machine.device.c_str(), machine.driver.c_str(), machine.cuda.c_str(), machine.cublas.c_str());
  bool right = true;
  if (options.gemm)
    right = Runner<Gemm>(rung, options, machine, json).run(shapes_for(options, options.gemm_shape));
  if (options.gemm && options.fused_norm && !options.rows) std::puts("");
  if (options.fused_norm)
    right =
        Runner<FusedNorm>(rung, options, machine, json).run(shapes_for(options, options.norm_shape)) && right;
  return right ? Exit::passed : Exit::wrong_result;
}

}  // namespace ladder
