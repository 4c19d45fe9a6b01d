// Where the executor hands in what it counted. Everything is kept by value: modules may be gone when counters
// are read.
#pragma once

#include <cstdint>
#include <vector>

#include "common/simulator/counters/counts.h"
#include "common/simulator/program/program.h"

namespace simulator {

// Are launches to be counted? Read at the start of each.
bool counting();

// One launch. functions: every function of the kernel, the kernel too; counts[Program::first + pc], overlap:
// of each of their instructions (and of the implicit ret at the end of each), over all warps. ctas: that ran.
void record(const Program& kernel, const std::vector<const Program*>& functions, const Counts* counts,
            const Overlap* overlap, uint64_t ctas, uint64_t warps, uint64_t findings,
            uint64_t ctas_left_out = 0);

}  // namespace simulator
