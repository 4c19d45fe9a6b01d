// What the environment chooses. Read once, at the first CUDA call.
//   SIMULATOR_DEVICE    a100 | h200 | b200                       the device (default h200)
//   SIMULATOR_SEED      a number: 0 (default) runs warps in order, any other number picks an interleaving
//   SIMULATOR_THREADS   CPU threads that run CTAs (default: all)
//   SIMULATOR_CHECKS    off | report | fail                      see Checks (default: how the library was
//   built) SIMULATOR_COUNTERS  a file to write counters to, as JSON, at exit; "-": a table on stderr
#pragma once

#include <cstdint>
#include <string>

namespace simulator {

// Invalid accesses that a GPU faults on always end the launch with the error it would give. What a GPU lets
// pass (races, reads of memory never written, divergent barriers, …) is a finding:
enum class Checks : uint8_t {
  off,     // not looked for
  report,  // told on stderr; the launch goes on
  fail,    // told on stderr; the launch ends with cudaErrorLaunchFailure
};

struct Settings {
  std::string device = "h200";
  uint64_t seed = 0;
  int threads = 0;  // 0: as many as the machine has
  Checks checks = Checks::report;
  std::string counters;  // empty: not written
};

// Mutable, so that a host program (the course's harness, a test) may choose too. Throws
// std::invalid_argument, with one line that names the variable, where a value is not one of those above.
Settings& settings();

}  // namespace simulator
