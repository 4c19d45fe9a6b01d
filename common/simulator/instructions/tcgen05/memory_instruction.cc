#include "common/simulator/instructions/tcgen05/memory_instruction.h"

#include "common/simulator/decode/decoder.h"
#include "common/simulator/instructions/tcgen05/allocation.h"
#include "common/simulator/instructions/tcgen05/copy.h"
#include "common/simulator/instructions/tcgen05/load.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/units/tcgen05_accesses.h"

namespace simulator {
namespace {

// tcgen05.fence (PTX ISA 9.7.16.11.1). It orders, too, what relaxed arrivals and waits are around it.
template <bool before>
void run_fence(Warp& warp, const Inst&) {
  if (!warp.worker->checking) return;
  Cluster& cluster = *warp.cta->cluster;
  SharedShadow& shadow = cluster.shadow;
  if (before) {
    tcgen05_accesses(cluster).fence_before(shadow, warp.in_cluster);
    return shadow.release(warp.in_cluster, warp.fenced);
  }
  if (!warp.unfenced.empty()) shadow.acquire(warp.in_cluster, warp.unfenced);
  warp.unfenced.clear();
  tcgen05_accesses(cluster).fence_after(shadow, warp.in_cluster);
}

}  // namespace

void decode_tcgen05_memory(Decoder& d) {
  if (d.has("ld")) return decode_tcgen05_load(d);
  if (d.has("st")) return decode_tcgen05_store(d);
  if (d.has("cp")) return decode_tcgen05_copy(d);
  if (d.has("shift")) return decode_tcgen05_shift(d);
  const std::string_view operation = d.ptx().modifiers.empty() ? "" : d.ptx().modifiers.front();
  if (operation.starts_with("wait::")) return decode_tcgen05_wait(d);
  if (operation == "alloc" || operation == "dealloc" || operation == "relinquish_alloc_permit")
    return decode_tcgen05_allocation(d);
  const int fence = d.one_of({"fence::before_thread_sync", "fence::after_thread_sync"});
  if (fence < 0) d.unsupported("this simulator has no such instruction");
  d.inst().inner = fence == 0 ? run_fence<true> : run_fence<false>;
}

}  // namespace simulator
