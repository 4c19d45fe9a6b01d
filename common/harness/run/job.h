// What all jobs of a run share.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "common/harness/backend/system.h"
#include "common/harness/base/json.h"
#include "common/harness/cli/options.h"
#include "common/harness/report/report.h"

namespace ladder {

// One line on the terminal that says what is under way; nothing where stderr is not a terminal.
class Progress {
 public:
  ~Progress() { clear(); }  // also when an error ends the run: its line stands by itself
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

struct Context {
  const Rung& rung;
  const Options& options;
  const System& system;
  JsonLines& json;
  Tally& tally;
};

// A variant under test, and what is known of it so far.
template <class Problem>
struct Candidate {
  const Variant<Problem>* variant;
  Result result;

  const Extension<Problem>& extension() const { return extension_of(*variant); }
  bool runs() const { return result.refused.empty() && result.fault.empty(); }  // so far
};

// The candidates at one shape.
template <class Problem>
struct Job {
  using Info = ProblemInfo<Problem>;

  const Context& context;
  Problem shape, content;  // content: as typed; the shape is larger where it was padded
  int sets;                // of buffers, to rotate over
  std::vector<Candidate<Problem>>& candidates;
  Workload<Problem>& workload;
  std::string step;   // "[2/6] " in a list of shapes
  std::string notes;  // below the table's rows
  Progress progress;

  const Options& options() const { return context.options; }
  bool is_rung(const Candidate<Problem>& c) const {
    return c.variant == &Info::variants(context.rung).back();
  }
  void show(const std::string& what) const {
    progress.show(step + Info::name + " " + shape_text(shape) + ": " + what);
  }
  std::vector<Problem> problems() const {  // of all sets, for the chosen variant
    std::vector<Problem> all;
    for (int set = 0; set < sets; ++set) all.push_back(workload.problem(set));
    return all;
  }
  double score(const Candidate<Problem>& c, double us) const {
    return Info::score(c.extension(), content, us);
  }
};

// Times a variant, launched on these problems.
template <class Problem>
Contender contender(const Variant<Problem>& variant, const std::vector<Problem>& problems) {
  return {variant.name, [&variant, problems](int set, cudaStream_t stream) {
            return variant.launch(problems[std::size_t(set)], stream);
          }};
}

}  // namespace ladder
