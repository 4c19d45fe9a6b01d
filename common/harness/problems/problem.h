// A problem, as the harness sees it. Each folder beside this file is one: its problem.h specialises
// ProblemInfo, and registry.h names it. A shape is the problem's own struct (Gemm, FusedNorm, …) with null
// pointers.
//
//   shape.h, shape.cc    the shapes that are verified and swept, what each must compute, move and hold
//   reference.h, .cc     what the outputs must be, on the CPU
//   workload.h, .cc      the inputs and outputs in device memory
//   partial.h, .cc       the same of any size for --ctas, where the problem has it
//   baselines.cc         what it is timed beside, on a GPU
//   problem.h            ProblemInfo: all of it under the names that the harness uses
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/extension.h"
#include "common/harness/base/device_kind.h"
#include "common/harness/base/json.h"
#include "common/harness/measure/benchmark.h"
#include "common/harness/problems/inputs.h"

namespace ladder {

// A size of a problem, as it is typed: "m" of --m.
template <class Problem>
struct Dimension {
  const char* name;
  int Problem::*size;
  bool set_by_size = true;  // by --size
};

// What a variant is timed beside.
enum class Beside { library, copy, chain };

// What is true of a problem whose ProblemInfo does not say otherwise.
struct ProblemDefaults {
  static constexpr bool runs_unnamed = false;  // also where the command line names no problem
  static constexpr bool has_types = false;     // --type chooses among its variants
  static constexpr bool has_outlier = false;   // --outlier is in its matrices

  // What a variant uses of memory beside the problem's own, in every buffer set.
  template <class Problem>
  static double workspace_needed(const Variant<Problem>&, const Problem&) {
    return 0;
  }
};

// Everything else. `Described`, in registry.h, is the list of what it must have.
template <class Problem>
struct ProblemInfo;

template <class Problem>
using Workload = typename ProblemInfo<Problem>::Workload;

// The problems of all buffer sets with a variant's workspaces, which stay as they are while others of its
// precision are chosen.
template <class Problem>
struct Held {
  std::vector<Problem> problems;
  std::vector<std::shared_ptr<const void>> behind;
};

// Several sets of inputs and outputs of one shape. `content`: the sizes as given, before padding.
template <class Problem>
Workload<Problem> make_workload(const Problem& shape, const Problem& content, int sets,
                                const InputOptions& options) {
  if constexpr (std::constructible_from<Workload<Problem>, const Problem&, const Problem&, int,
                                        const InputOptions&>)
    return Workload<Problem>(shape, content, sets, options);
  else
    return Workload<Problem>(shape, sets, options);
}

// What a variant is timed beside. `sets` are the problems that timings rotate over.
struct Baselines {
  std::vector<Contender> rivals;
  std::vector<Contender> product_alone;  // of the rung, with no epilogue; one or none
};

// "4096x4096x4096": the sizes in the order of dimensions().
template <class Problem>
std::string shape_text(const Problem& p) {
  std::string text;
  for (const auto& d : ProblemInfo<Problem>::dimensions()) {
    if (!text.empty()) text += "x";
    text += std::to_string(p.*d.size);
  }
  return text;
}

template <class Problem>
void add_shape(JsonObject& object, const Problem& p) {
  for (const auto& d : ProblemInfo<Problem>::dimensions()) object.field(d.name, p.*d.size);
}

}  // namespace ladder
