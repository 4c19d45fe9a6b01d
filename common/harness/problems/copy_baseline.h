// A plain copy: what a problem that is bound by memory is timed beside.
#pragma once

#include <cstdint>
#include <vector>

#include "common/harness/measure/benchmark.h"

namespace ladder {

// One plain copy that reads and writes together as many bytes as a problem must move, less what is over a
// multiple of 64 KiB each way where that is little: cudaMemcpy is much slower for some ragged sizes, and the
// rival is to be at its best.
std::vector<Contender> copy_of(std::uint64_t bytes, std::size_t sets);

}  // namespace ladder
