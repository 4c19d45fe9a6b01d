// Which variants of a rung run.
#pragma once

#include <algorithm>
#include <vector>

#include "common/harness/run/job.h"

namespace ladder {

// The variant that is named, or the last that the options leave: the rung itself, where they choose nothing.
template <class Problem>
const Variant<Problem>* chosen_one(const Rung& rung, const Options& options) {
  const Variant<Problem>* last = nullptr;
  for (const auto& v : ProblemInfo<Problem>::variants(rung)) {
    if (!options.variant.empty() && v.name != options.variant) continue;
    if (options.type && extension_of(v).precision != *options.type) continue;
    if (options.trace.empty() || v.traced) last = &v;
  }
  return last;
}

// Which kernel a variant that chooses takes here; empty for one that has a single kernel.
template <class Problem>
std::string kernel_of(const Variant<Problem>& variant, const Problem& shape) {
  const auto kernel = extension_of(variant).kernel;
  return kernel ? kernel(shape).c_str() : "";
}

// The variants that the options leave, the rung last, and which of them refuse the shape.
template <class Problem>
std::vector<Candidate<Problem>> chosen(const Context& context, const Problem& shape) {
  using Info = ProblemInfo<Problem>;
  const Options& options = context.options;
  std::vector<Candidate<Problem>> list;
  const Variant<Problem>* one = chosen_one<Problem>(context.rung, options);
  for (const auto& v : Info::variants(context.rung)) {
    if (options.type && extension_of(v).precision != *options.type) continue;
    if (options.tune && (extension_of(v).precision != Precision::bf16 || v.dependent_launch)) continue;
    const bool is_rung = &v == &Info::variants(context.rung).back();
    if (options.tune && !is_rung && !is_named(options.variant, v.name)) continue;
    if (&v != one && !options.ablate && !options.tune) continue;
    Candidate<Problem> c{&v, {}};
    c.result.rung = context.rung.name;
    c.result.title = context.rung.title;
    c.result.problem = Info::name;
    c.result.variant = v.name;
    c.result.shape = shape_text(shape);
    c.result.unit = Info::unit;
    c.result.refused = v.unsupported(shape).c_str();
    const Extension<Problem>& extension = extension_of(v);
    if (options.ctas && c.result.refused.empty() &&
        (extension.precision != Precision::bf16 || extension.workspace_bytes))
      c.result.refused = "--ctas is for variants in bf16 without a workspace";
    if (c.result.refused.empty()) c.result.kernel = kernel_of(v, shape);
    list.push_back(c);
  }
  return list;
}

// All of them refuse, and for the same reason.
template <class Problem>
bool refused_alike(const std::vector<Candidate<Problem>>& candidates) {
  const std::string& reason = candidates[0].result.refused;
  return !reason.empty() && std::all_of(candidates.begin(), candidates.end(),
                                        [&](const auto& c) { return c.result.refused == reason; });
}

// With --pad, the problem with its rows padded to the smallest power of two at which no more variants refuse
// it than at the largest one.
template <class Problem>
Problem padded(const Context& context, const Problem& content) {
  using Info = ProblemInfo<Problem>;
  if constexpr (requires { Info::padded(content, 1); }) {
    const auto refusals = [&](const Problem& p) {
      const auto list = chosen(context, p);
      return std::count_if(list.begin(), list.end(), [](const auto& c) { return !c.runs(); });
    };
    constexpr int largest = 128;
    for (int of = 1; context.options.pad && of <= largest; of *= 2)
      if (refusals(Info::padded(content, of)) == refusals(Info::padded(content, largest)))
        return Info::padded(content, of);
  }
  return content;
}

}  // namespace ladder
