// One launch, every element of whose outputs is compared.
#pragma once

#include <string>

#include "common/harness/backend/device.h"
#include "common/harness/run/job.h"

namespace ladder {

// Of the variant that the workload is prepared for. launch() waits until it is done.
template <class Problem, class Launch>
void check_launch(const Job<Problem>& job, Result& r, const Launch& launch) {
  job.workload.poison();
  launch();
  std::string outside;
  r.verdict = job.workload.verify(outside);
  if (!r.verdict.passed())
    r.fault = std::to_string(r.verdict.wrong) + " of " + std::to_string(r.verdict.checked) +
              " elements wrong; " + r.verdict.first_wrong;
  if (!outside.empty()) r.fault += (r.fault.empty() ? "" : "; ") + outside;
}

// `counted`: on the simulator, what the launch does.
template <class Problem>
void check_candidate(const Job<Problem>& job, Candidate<Problem>& c, bool counted) {
  job.show(std::string("checking ") + c.variant->name);
  job.workload.choose(*c.variant);
  const std::string doing =
      std::string(ProblemInfo<Problem>::name) + " " + c.variant->name + " at " + shape_text(job.shape);
  const auto launch = [&] {
    check(c.variant->launch(job.workload.problem(0), nullptr), doing);
    check(cudaDeviceSynchronize(), doing);
  };
  check_launch(job, c.result, [&] {
    if (counted) {
      c.result.counters = count(launch, job.options().source);
    } else {
      launch();
    }
  });
}

// All of them, on each of the workload's inputs.
template <class Problem>
void check_all(const Job<Problem>& job, bool counted) {
  for (int pass = 0; pass < Workload<Problem>::passes; ++pass) {
    job.show("computing the reference");
    job.workload.prepare(pass);
    for (Candidate<Problem>& c : job.candidates)
      if (c.runs()) check_candidate(job, c, counted && pass + 1 == Workload<Problem>::passes);
  }
}

}  // namespace ladder
