// From what was typed to what runs: the problems, their shapes and variants, and what excludes what.
#pragma once

#include "common/harness/cli/options.h"
#include "common/harness/cli/sizes.h"

namespace ladder {

// "gemm, fused_norm": those that the rung has. A program of a reader's own may have one alone.
std::string known_problems(const Rung& rung);

// `problem`: as named, or empty. Sets o's choices; throws Failure(Exit::bad_usage).
void choose(const Rung& rung, const std::string& problem, const Sizes& sizes, bool shapes_given, Options& o);

}  // namespace ladder
