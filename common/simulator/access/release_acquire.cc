#include "common/simulator/access/release_acquire.h"

#include "common/simulator/machine/machine.h"
#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

bool is_relaxed(const Warp& warp, bool relaxed) {
  return relaxed && (settings().strict || !warp.cta->grid->entry->relaxed_ends);
}

}  // namespace

void release_to(Warp& warp, std::vector<uint32_t>& clock, bool relaxed) {
  SharedShadow& shadow = warp.cta->cluster->shadow;
  if (!is_relaxed(warp, relaxed)) return shadow.release(warp.in_cluster, clock);
  shadow.release_ctas(warp.in_cluster, clock);
  shadow.merge(warp.fenced, clock);
}

void acquire_from(Warp& warp, const std::vector<uint32_t>& clock, bool relaxed) {
  SharedShadow& shadow = warp.cta->cluster->shadow;
  if (!is_relaxed(warp, relaxed)) return shadow.acquire(warp.in_cluster, clock);
  shadow.merge(clock, warp.unfenced);
}

}  // namespace simulator
