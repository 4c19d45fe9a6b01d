// What a GPU and the simulator do each in their own way. A program is linked with gpu.cc or with
// simulated.cc, beside objects that are the same for both. What only the other kind can do throws
// std::logic_error: cli/ accepts no command line that leads there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/harness/backend/counters.h"
#include "common/harness/base/device_kind.h"

namespace ladder {

DeviceKind device_kind();          // the one that is linked
std::uint64_t guard_zone_bytes();  // before and after each buffer, see GuardedBuffer
// What the device's own reports are to call the memory that begins here. A GPU has none.
void name_memory(const void* memory, const std::string& name);

// What the harness runs on. Empty: there is none.
struct Platform {
  std::string driver;                          // "580.159.04"
  std::string cublas;                          // "13.1.0"
  std::string checks;                          // the simulator's: "fail", "report" or "off"
  std::optional<std::uint64_t> schedule_seed;  // the simulator's: which order its warps run in
};

// Called before any other function of the CUDA runtime. Throws Failure(Exit::bad_usage) where the environment
// sets the simulator to what it does not know.
Platform platform();

// --- Only on the simulator.

// Calls `launch`, which launches kernels and waits for them, and returns what they did. `listing`: line by
// line, too.
Counters count(const std::function<void()>& launch, bool listing);

// Of each launch from now on at most so many clusters (without clusters: CTAs) run, the first and the last
// among them. The GPU has so many SMs that a CTA of a persistent kernel has one tile.
// Called before any function of the CUDA runtime.
void run_few_ctas(int ctas);

}  // namespace ladder
