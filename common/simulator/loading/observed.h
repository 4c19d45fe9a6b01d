// Which instructions bring values from memory, and which use them first: for the counters of overlap.
#pragma once

#include <vector>

#include "common/simulator/program/program.h"

namespace simulator {

// Sets program.observed and program.loaded_values. accesses: of its function's instructions.
void observe(Program& program, const std::vector<Access>& accesses);

}  // namespace simulator
