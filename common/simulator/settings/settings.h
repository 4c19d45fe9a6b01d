// What the environment chooses. Read once, at the first CUDA call.
//   SIMULATOR_DEVICE    a100 | l40s | h200 | b200                the device (default h200)
//   SIMULATOR_SMS       a number: fewer multiprocessors than it has, so that fewer tiles are more than one
//                       for each CTA (default 0: its own)
//   SIMULATOR_CTAS      a number: of a launch with more clusters (without clusters: CTAs) only so many run,
//   the
//                       first, the last and, by the seed, others between (default 0: all)
//   SIMULATOR_SEED      a number: 0 (default) runs warps in order, any other number picks an interleaving
//   SIMULATOR_THREADS   CPU threads that run CTAs (default: all)
//   SIMULATOR_CHECKS    off | report | fail                      see Checks (default: the library's)
//   SIMULATOR_STRICT    1: report, too, what the PTX ISA forbids and hardware is known to let pass; or 0
//                       (default: the library's)
//   SIMULATOR_SURVIVE   1: an access to shared memory of a CTA that has exited is reported, and
//                       the launch goes on
//   SIMULATOR_PTX       a file of PTX, whose kernels run instead of the program's of the same names
//   SIMULATOR_COUNTERS  a file to write counters to, as JSON, at exit; "-": a table on stderr
//   SIMULATOR_TRACE     a file to write the memory accesses of one warp of each launch to: counters/trace.h
//   SIMULATOR_TRACE_WARP   CTA:WARP                              which warp (default 0:0)
//   SIMULATOR_TRACE_LIMIT  a number                              of lines per launch (default 4096)
//   SIMULATOR_TRACE_EVENTS 1: barriers, waits for copies, landings of copies and matrix multiplications, too
//   SIMULATOR_LIMIT     N: a launch fails after N million warp-instructions, as though a watchdog had ended
//                       it, with a report of where its warps stand (default 0: never)
//   SIMULATOR_HEARTBEAT a number of seconds: how often a long launch says how far it is, on stderr; 0: never
//                       (default: 10 where that is a terminal, else 30)
//   SIMULATOR_SPEED     1: at exit, on stderr, how many warp-instructions were executed and how fast
#pragma once

#include <cstdint>
#include <string>

#include "common/simulator/settings/default_checks.h"

namespace simulator {

struct Settings {
  std::string device = "h200";
  int multiprocessors = 0;  // 0: the device's own
  uint64_t ctas = 0;        // 0: all
  bool tell_ctas = true;    // a line for each launch of which not all run
  uint64_t seed = 0;
  int threads = 0;  // 0: as many as the machine has
  Checks checks = Checks::report;
  bool strict = false;
  bool survive = false;
  bool speed = false;
  uint64_t limit = 0;    // warp-instructions of a launch; 0: none
  double heartbeat = 0;  // seconds; 0: none
  std::string ptx;       // empty: the program's own
  std::string counters;  // empty: not written
  std::string trace;     // empty: not written
  uint64_t trace_cta = 0, trace_limit = 4096;
  uint32_t trace_warp = 0;
  bool trace_events = false;
};

// Mutable, so that a host program (the course's harness, a test) may change them, too. Throws
// std::invalid_argument, with one line that names the variable, where a value is not one of those above.
Settings& settings();

}  // namespace simulator
