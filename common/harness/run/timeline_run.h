// --trace: one more launch of a variant, by the kernel that notes what its warps do.
#pragma once

#include <string>

#include "common/harness/base/failure.h"
#include "common/harness/problems/workload.h"
#include "common/harness/timeline/buffer.h"

namespace ladder {

template <class Problem>
struct Traceable {
  const Variant<Problem>& variant;
  Workload<Problem>& workload;
  bool timed;  // beside the launch that notes nothing
  int repeats;
  Launches launches;
};

// Writes the file; `about` is completed by what noting costs. fault: set where the traced launch's result is
// wrong. Returns a line that says what was written.
template <class Problem>
std::string write_trace(const Traceable<Problem>& of, const std::string& path, JsonObject about,
                        std::string& fault) {
  of.workload.choose(of.variant);
  const Problem problem = of.workload.problem(0);
  const TimelineBuffer buffer;
  const auto traced = [&](int, cudaStream_t stream) {
    const cudaError_t error = buffer.begin(stream);
    return error == cudaSuccess ? of.variant.traced(problem, buffer.view(), stream) : error;
  };
  const auto plain = [&](int, cudaStream_t stream) {
    const cudaError_t error = buffer.begin(stream);  // as much work as the other has
    return error == cudaSuccess ? of.variant.launch(problem, stream) : error;
  };
  std::string cost;
  if (of.timed) {
    const auto timings = measure({{"plain", plain}, {"traced", traced}}, 1, of.repeats, of.launches).timings;
    const double plain_us = timings[0].median_us, traced_us = timings[1].median_us;
    about.field("plain_us", plain_us).field("traced_us", traced_us);
    cost = cost_text(plain_us, traced_us);
  }
  of.workload.poison();
  const std::string doing = std::string(of.variant.name) + ", traced";
  check(traced(0, nullptr), doing);
  check(cudaDeviceSynchronize(), doing);
  std::string outside;
  if (!of.workload.verify(outside).passed() || !outside.empty()) fault = "wrong where it is traced";
  const Recording recording = buffer.read();
  write_timeline(path, recording, about);
  return path + ": " + summary_of(recording) + cost;
}

}  // namespace ladder
