#include "common/simulator/launch/turns.h"

#include <algorithm>

#include "common/simulator/machine/cluster_queue.h"

namespace simulator {
namespace {

// Instructions of a warp's turn; where a kernel reads the clock, which counts turns as though they were at
// the same time; with a seed, at most.
constexpr uint64_t quantum = 1 << 16, timed_quantum = 16;

// Some of what is under way takes effect. Of: Cta, Warp.
template <class Of>
void land_at_random(Of& of) {
  Worker& worker = *of.worker;
  for (Unit* unit : worker.grid->units) {
    if (unit->pending(of)) unit->land_at_random(of, next_random(worker.random));
  }
}

// One turn for every warp of a CTA that can go on. False: none could.
bool advance(Cta& cta) {
  Worker& worker = *cta.worker;
  const bool timed = worker.grid->entry->reads_clock;
  const uint32_t count = static_cast<uint32_t>(cta.warps.size());
  const uint64_t seed = worker.grid->seed, most = seed ? random_quantum : timed ? timed_quantum : quantum;
  cta.time += most;
  const uint32_t first = seed ? static_cast<uint32_t>(next_random(worker.random) % count) : 0;
  bool any = false;
  if (seed) land_at_random(cta);
  for (uint32_t i = 0; i < count; ++i) {
    Warp& warp = cta.warps[(first + i) % count];
    if (!warp.live) continue;
    wake(warp);
    if (!warp.ready()) continue;
    any = true;
    const uint64_t turn = seed ? 1 + next_random(worker.random) % most : most;
    if (seed) land_at_random(warp);
    run(warp, turn);
  }
  return any;
}

}  // namespace

void wake(Warp& warp) {
  for (Group& group : warp.others) {
    if (group.state == Group::State::blocked) group.state = Group::State::ready;
  }
}

void run(Warp& warp, uint64_t turn) {
  const bool counting = warp.worker->counting;
  if (warp.cta->grid->entry->reads_clock) {
    counting ? warp.run<true, true>(turn) : warp.run<false, true>(turn);
  } else {
    counting ? warp.run<true, false>(turn) : warp.run<false, false>(turn);
  }
}

bool advance(Cluster& cluster) {
  bool any = false;
  for (const auto& cta : cluster.ctas) any |= cta->unfinished && advance(*cta);
  return any;
}

bool resolve(Cluster& cluster) {
  bool any = false;
  for (const auto& cta : cluster.ctas) {
    const auto units = units_of(*cta);
    any |= std::any_of(units.begin(), units.end(), [&](Unit* unit) { return unit->resolve(*cta); });
  }
  return any;
}

bool short_turns(const Grid& grid) {
  return grid.seed || grid.entry->reads_clock;
}

}  // namespace simulator
