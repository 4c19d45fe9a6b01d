// What a program's source calls the object that a line initialises.
#pragma once

#include <string>
#include <vector>

#include "common/simulator/machine/source_lines.h"

namespace simulator {

// An expression such as "shared.full[#]", of the line that calls a function with "init" in its name and of
// the calls around it, the innermost first. An index that a loop counts from 0 is by_ordinal, threadIdx.x is
// by_thread. Empty: the lines do not say with certainty, or cannot be read.
constexpr char by_ordinal = '#', by_thread = '@';
std::string initialised_expression(const std::vector<SourceLine>& calls);

}  // namespace simulator
