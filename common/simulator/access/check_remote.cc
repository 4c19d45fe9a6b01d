#include "common/simulator/access/check_remote.h"

#include "common/simulator/access/names.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/settings/settings.h"

namespace simulator {

void check_presence(Warp& warp, int lane, const Cta& holder) {
  if (&holder == warp.cta) return;
  if (holder.unfinished == 0) {
    const std::string what = "access to shared memory of " + name_of_cta(holder) + ", which has exited";
    if (!settings().survive) fault(warp, FindingKind::illegal_address, what, lane);
    return finding(warp, FindingKind::absent_cta, what, lane);  // with checks off, too
  }
  if (!warp.worker->checking) return;
  const SharedShadow& shadow = warp.cta->cluster->shadow;
  if (!shadow.knows_cta(warp.in_cluster, holder.rank)) {
    finding(warp, FindingKind::absent_cta,
            "access to shared memory of " + name_of_cta(holder) +
                ", which may not have started: a barrier.cluster of all threads must come before",
            lane);
  }
}

void reach(Warp& warp, int lane, const Cta& holder, bool write) {
  if (&holder == warp.cta) return;
  check_presence(warp, lane, holder);
  if (!warp.worker->checking) return;
  SharedShadow& shadow = warp.cta->cluster->shadow;
  shadow.reached(warp.in_cluster, static_cast<uint32_t>(lane), warp.frame->program->first + warp.pc - 1,
                 holder.rank, write);
}

}  // namespace simulator
