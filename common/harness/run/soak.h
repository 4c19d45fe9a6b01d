// Many launches over random shapes, back to back: what a single check of a shape cannot find, such as a
// barrier that is right in most runs, or a launch that disturbs the next one.
#pragma once

#include <cstdint>
#include <string>

#include "common/extension.h"
#include "common/harness/cli/options.h"
#include "common/harness/report/report.h"

namespace ladder {

struct Soaked {
  int launches = 0, shapes = 0;
  int wrong = 0;  // launches
};

// Launches the variant at least options.soak times, over random shapes that it takes. Each shape is verified
// once, then launched again and again among others, without a pause, and its outputs compared bit by bit with
// the verified ones. Prints a line per wrong launch, that begins with the program's name. Throws Failure on
// an error of the runtime.
template <class Problem>
Soaked soak(const Variant<Problem>& variant, const std::string& program, const Options& options);

}  // namespace ladder
