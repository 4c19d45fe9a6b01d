// How much is checked, and how much where the environment does not say.
#pragma once

#include <cstdint>

namespace simulator {

// Invalid accesses that a GPU faults on always end the launch with the error it would give. What a GPU lets
// pass (races, reads of memory never written, divergent barriers, …) is a finding:
enum class Checks : uint8_t {
  off,     // not checked
  report,  // printed on stderr; the launch goes on
  fail,    // printed on stderr; the launch ends with cudaErrorLaunchFailure
};

Checks default_checks();
bool default_strict();

}  // namespace simulator
