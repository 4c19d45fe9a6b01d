// Which shapes of a problem run.
#pragma once

#include <vector>

#include "common/harness/base/failure.h"
#include "common/harness/cli/options.h"

namespace ladder {

template <class Problem>
std::vector<Problem> shapes_for(const Options& o) {
  using Info = ProblemInfo<Problem>;
  const std::optional<Problem>& given = o.shape<Problem>();
  if constexpr (requires { Info::over_k(*given); })
    if (o.over_k) return Info::over_k(*given);
  if (given) return {*given};
  if (o.sweep && !o.models) return Info::sweep_shapes();
  if (!o.verify_only && !o.models) return {Info::default_shape(o.device)};
  std::vector<Problem> shapes;
  if constexpr (requires { Info::of_models(o.model_shapes, o.seed); })
    if (o.models) shapes = Info::of_models(o.model_shapes, o.seed);
  if (!o.models) shapes = Info::verify_shapes();
  if (o.device == DeviceKind::simulator)
    std::erase_if(shapes, [](const Problem& p) { return !quick_on_simulator(p); });
  if (o.reference == Reference::cpu) std::erase_if(shapes, [](const Problem& p) { return !quick_on_cpu(p); });
  if (shapes.empty())
    throw Failure(Exit::cannot_run, "none of these shapes is small enough: draw more (--shapes)");
  return shapes;
}

}  // namespace ladder
