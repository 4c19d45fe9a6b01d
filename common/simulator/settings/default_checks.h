// How much is checked, and what of it where the environment does not say.
#pragma once

#include <cstdint>

namespace simulator {

// Invalid accesses that a GPU faults on always end the launch with the error it would give. What a GPU lets
// pass (races, reads of memory never written, divergent barriers, …) is a finding:
enum class Checks : uint8_t {
  off,     // not looked for
  report,  // told on stderr; the launch goes on
  fail,    // told on stderr; the launch ends with cudaErrorLaunchFailure
};

Checks default_checks();
bool default_strict();

}  // namespace simulator
