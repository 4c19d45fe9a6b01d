// Runs a rung as the options say.
#pragma once

#include "common/harness/base/failure.h"
#include "common/harness/cli/options.h"

namespace ladder {

// Prints the table to stdout, progress to stderr where that is a terminal, and results to the JSON file.
// Returns the program's exit code; throws Failure for everything that ends the run early.
Exit run(const Rung& rung, const Options& options);

}  // namespace ladder
