// --ctas: a few CTAs of one launch, whose buffers may be larger than this machine's memory.
#pragma once

#include <string>

#include "common/harness/backend/device.h"
#include "common/harness/run/candidates.h"
#include "common/harness/run/job.h"

namespace ladder {

// How many kernels and copies a launch enqueues.
template <class Problem>
std::size_t operations(const Variant<Problem>& variant, const Problem& problem, const std::string& doing) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  std::size_t count = 0;
  check(cudaStreamCreate(&stream), doing);
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), doing);
  check(variant.launch(problem, stream), doing);
  check(cudaStreamEndCapture(stream, &graph), doing);
  check(cudaGraphGetNodes(graph, nullptr, &count), doing);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  return count;
}

// Verifies what they have written. Returns a note below the table.
template <class Problem>
std::string check_few_ctas(const Context& context, const Problem& shape, Candidate<Problem>& c) {
  using Info = ProblemInfo<Problem>;
  const std::string doing = std::string(Info::name) + " " + c.variant->name + " at " + shape_text(shape);
  const typename Info::Partial partial(shape, context.options.seed);
  Result& r = c.result;
  if (operations(*c.variant, partial.problem(), doing) > 1) {
    r.refused = "--ctas is for one kernel: the CTAs of a second one want what all of the first have written";
    return {};
  }
  const Counters counters = count(
      [&] {
        check(c.variant->launch(partial.problem(), nullptr), doing);
        check(cudaDeviceSynchronize(), doing);
      },
      false);
  std::string missing;
  r.verdict = partial.verify(missing);
  if (r.verdict.wrong)
    r.fault = std::to_string(r.verdict.wrong) + " of " + std::to_string(r.verdict.checked) +
              " written elements wrong; " + r.verdict.first_wrong;
  else if (!missing.empty())
    r.fault = missing;
  else if (r.verdict.checked < counters.ctas)
    r.fault = "nothing was written by some CTAs";

  const std::string ran = std::to_string(counters.ctas) + " of " +
                          std::to_string(counters.ctas + counters.ctas_left_out) + " CTAs ran";
  return "  " + std::string(c.variant->name) + ": " + ran + "; " + std::to_string(r.verdict.checked) +
         " elements, all that they wrote, were checked\n";
}

}  // namespace ladder
