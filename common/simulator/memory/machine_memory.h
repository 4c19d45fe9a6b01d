// How much memory this machine can still give the process.
#pragma once

#include <cstdint>

namespace simulator {

// Bytes: what the kernel calls available, or what is left of the control group's limit (containers) where
// that is less. No limit where neither can be read.
uint64_t available_machine_memory();

}  // namespace simulator
