// CUDA's own declarations, made visible outside the shared library (everything else is hidden), and help to
// define them.
#pragma once

#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

// A second name for a function: the variants that -default-stream per-thread calls.
#define SIMULATOR_ALIAS(second, name) \
  extern "C" decltype(name) second __attribute__((visibility("default"), alias(#name)))

// Definitions without a declaration in the header.
#define SIMULATOR_EXPORT extern "C" __attribute__((visibility("default")))
