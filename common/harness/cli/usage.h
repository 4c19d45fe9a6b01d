// How a command line is refused.
#pragma once

#include <string>

#include "common/harness/base/failure.h"

namespace ladder {

[[noreturn]] inline void bad_usage(const std::string& line) {
  throw Failure(Exit::bad_usage, line + " (see --help)");
}

}  // namespace ladder
