// The command line of a rung.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "common/harness/problems/registry.h"

namespace ladder {

// Whether a problem runs, and the sizes that were given, completed by the course's.
template <class Problem>
struct Choice {
  bool runs = ProblemInfo<Problem>::runs_unnamed;
  std::optional<Problem> shape;
};

struct Options {
  DeviceKind device = DeviceKind::gpu;

  bool help = false;
  bool list = false;

#define LADDER_CHOICE(Problem) std::tuple<Choice<Problem>>(),
  decltype(std::tuple_cat(LADDER_PROBLEMS(LADDER_CHOICE) std::tuple<>())) choices;
#undef LADDER_CHOICE
  template <class Problem>
  Choice<Problem>& of() {
    return std::get<Choice<Problem>>(choices);
  }
  template <class Problem>
  const Choice<Problem>& of() const {
    return std::get<Choice<Problem>>(choices);
  }
  template <class Problem>
  bool runs() const {
    return of<Problem>().runs;
  }
  template <class Problem>
  const std::optional<Problem>& shape() const {
    return of<Problem>().shape;
  }
  bool even = false;  // see InputOptions

  std::string variant;            // empty: the rung itself; beside tune also several, "one,other"
  std::optional<Precision> type;  // only variants of this precision, without a variant the last of them
  bool pad = false;               // a gemm that is refused grows to the next sizes that are not
  bool ablate = false;
  bool sweep = false;
  bool over_k = false;  // a sweep over k at one m and n, of the gemm alone
  bool models = false;  // a sweep over shapes that models have, of the gemm alone
  int model_shapes = default_model_shapes;
  bool tune = false;  // time the gemm's variants in bf16 in turns: does the rung choose the fastest?
  bool verify_only = false;
  int soak = 0;  // launches over random shapes, instead of anything else
  Reference reference = Reference::cublas;

  bool counters = false;  // only on the simulator: accesses by kind, instructions
  int ctas = 0;           // only on the simulator: so many CTAs of one launch; 0: all
  bool source = false;    // only on the simulator: the same, line by line
  std::string trace;      // file for a timeline; empty: none

  int repeats = 0;  // 0: as many as fit a fixed time
  Launches launches = Launches::automatic;
  std::uint64_t seed = 1;
  int power_seconds = 0;        // run for this long without a pause and watch the card, instead of timing
  Input input = Input::normal;  // of a gemm's timed A and B, beside power_seconds
  int outlier = 0;       // what the last element of a gemm's normal A and of its B is; 0: like the others
  int l2_set_aside = 0;  // MiB of L2 set aside for lines that persist; 0: as the driver has it
  std::string json;      // empty: no file
  bool rows = false;     // table rows without the header, for the course's ladder

  bool any_runs() const;
  bool any_shape() const;  // sizes were given
  InputOptions inputs() const {
    return {seed, reference, input, outlier, even};
  }
};

// What the rung's program for that device is called: "03_vectorized", "03_vectorized_sim".
std::string program_name(const Rung& rung, DeviceKind device);

// Reads the arguments after the program's name. Throws Failure(Exit::bad_usage) with one line that names the
// argument at fault and what it should have been.
Options parse_options(const std::vector<std::string>& arguments, const Rung& rung, DeviceKind device);

// Whether --variant, beside --tune, leaves this one: "one,other" or nothing, which leaves all.
bool is_named(const std::string& names, const std::string& variant);

std::string help_text(const Rung& rung, DeviceKind device);
std::string list_text(const Rung& rung);
// The same for programs: of each problem what registry.h knows of it, and its variants.
// docs/deeper/records.md has the fields.
std::vector<JsonObject> list_json(const Rung& rung);

}  // namespace ladder
