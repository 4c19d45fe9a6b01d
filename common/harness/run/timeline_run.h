// --trace: one more launch of a variant, by the kernel that notes what its warps do.
#pragma once

#include <string>

#include "common/harness/base/failure.h"
#include "common/harness/run/job.h"
#include "common/harness/timeline/buffer.h"

namespace ladder {

// Writes the file, with what noting costs where `timed`: beside the launch that notes nothing. Sets c's fault
// where the traced launch's result is wrong.
template <class Problem>
void record_timeline(Job<Problem>& job, Candidate<Problem>& c, bool timed) {
  const Options& options = job.options();
  job.show(std::string("tracing ") + c.variant->name);
  JsonObject about;
  about.field("rung", job.context.rung.name).field("problem", ProblemInfo<Problem>::name);
  about.field("variant", c.variant->name);
  add_shape(about, job.shape);
  add_system(about, job.context.system);
  job.workload.choose(*c.variant);
  const Problem problem = job.workload.problem(0);
  const TimelineBuffer buffer;
  const auto traced = [&](int, cudaStream_t stream) {
    const cudaError_t error = buffer.begin(stream);
    return error == cudaSuccess ? c.variant->traced(problem, buffer.view(), stream) : error;
  };
  const auto plain = [&](int, cudaStream_t stream) {
    const cudaError_t error = buffer.begin(stream);  // as much work as the other has
    return error == cudaSuccess ? c.variant->launch(problem, stream) : error;
  };
  std::string cost;
  if (timed) {
    const auto timings =
        measure({{"plain", plain}, {"traced", traced}}, 1, options.repeats, options.launches).timings;
    const double plain_us = timings[0].median_us, traced_us = timings[1].median_us;
    about.field("plain_us", plain_us).field("traced_us", traced_us);
    cost = cost_text(plain_us, traced_us);
  }
  job.workload.poison();
  const std::string doing = std::string(c.variant->name) + ", traced";
  check(traced(0, nullptr), doing);
  check(cudaDeviceSynchronize(), doing);
  std::string outside;
  if (!job.workload.verify(outside).passed() || !outside.empty()) c.result.fault = "wrong where it is traced";
  const Recording recording = buffer.read();
  write_timeline(options.trace, recording, about);
  job.notes += options.trace + ": " + summary_of(recording) + cost + "\n";
  job.progress.clear();
}

}  // namespace ladder
