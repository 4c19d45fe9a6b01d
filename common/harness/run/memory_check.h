// Does a run fit into memory?
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/harness/measure/rotation.h"
#include "common/harness/run/job.h"

namespace ladder {

// Buffer sets for the timings: as many as the candidate with the fewest bytes needs.
template <class Problem>
int sets_for(const Problem& shape, const std::vector<Candidate<Problem>>& candidates, const System& system) {
  std::uint64_t least_bytes = footprint_bytes(shape, Precision::bf16);
  for (const auto& c : candidates)
    if (c.runs()) least_bytes = std::min(least_bytes, footprint_bytes(shape, c.extension().precision));
  return sets_to_rotate(least_bytes, system.l2_bytes);
}

// Why it does not, in one line; empty where it does.
template <class Problem>
std::string lack_of_memory(const Problem& shape, const std::vector<Candidate<Problem>>& candidates, int sets,
                           const Options& options, bool timed) {
  if (options.ctas) return {};  // takes it only where it is written
  const bool bf16_only = std::all_of(candidates.begin(), candidates.end(), [](const auto& c) {
    return c.extension().precision == Precision::bf16;
  });
  double workspace_bytes = 0;  // of one variant at a time, beside the rung where it is timed in turns
  for (const auto& c : candidates) {
    if (!c.runs()) continue;
    const double own = ProblemInfo<Problem>::workspace_needed(*c.variant, shape);
    workspace_bytes = options.tune ? workspace_bytes + own : std::max(workspace_bytes, own);
  }
  if (options.ablate) workspace_bytes *= 2;
  const bool one_memory = options.device == DeviceKind::simulator;  // for host and device
  const double device_bytes = bytes_needed(shape, sets, timed, bf16_only) + sets * workspace_bytes;
  const double host_bytes = host_bytes_needed(shape, bf16_only) + (one_memory ? device_bytes : 0);
  const std::string lack = memory_shortage("GPU", device_bytes, free_device_bytes());
  return lack.empty() ? memory_shortage("host", host_bytes, free_host_bytes()) : lack;
}

}  // namespace ladder
