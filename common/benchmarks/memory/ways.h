// The ways in which data that lies in the host's memory reaches a kernel, and its result the host.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <vector>

#include "common/benchmarks/memory/block.h"

namespace ladder::memory {

// One way, with its memory. What fails throws Failure.
struct Trial {
  std::function<void(cudaStream_t)> prepare;  // before each sample, not timed; the stream is idle
  std::function<void(cudaStream_t)> run;      // timed, from the stream's work before it to that after it
  std::function<bool()> correct;  // after a sample, the device idle: is everything where it belongs?
};

struct Way {
  const char* name;  // as in the records
  const char* what;
  // Allocates what the way needs for these numbers, which outlive the trial and are whole vectors of 16
  // bytes.
  Trial (*make)(const Numbers&);
};

// One step each: a copy, locking pages, a kernel that only reads.
std::vector<Way> steps();
// In, one pass, and out again.
std::vector<Way> whole();

// How many units of 16 bytes.
inline std::size_t vectors_of(const Numbers& numbers) {
  return numbers.size() * sizeof numbers[0] / 16;
}

// Stream-ordered: moves managed memory to the current device, or to the host.
void prefetch(const Block& managed, cudaMemLocationType to, cudaStream_t stream);

}  // namespace ladder::memory
