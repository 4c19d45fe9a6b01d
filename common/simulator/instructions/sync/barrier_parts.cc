#include "common/simulator/instructions/sync/barrier_parts.h"

#include <algorithm>
#include <bit>

#include "common/simulator/access/names.h"

namespace simulator {
namespace {

// Calls f(warp, group) for the lanes that wait there.
template <class F>
void each_waiting(const Cta& cta, uint32_t number, F f) {
  for (uint64_t left = cta.barriers[number].warps; left; left &= left - 1) {
    const Warp& warp = cta.warps[static_cast<size_t>(std::countr_zero(left))];
    for (const Group& group : warp.others) {
      if (group.state == Group::State::barrier && group.barrier == number) f(warp, group);
    }
  }
}

bool at_different_lines(const Cta& cta, const std::vector<BarrierPart>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const BarrierPart& part) {
    return part.waits && place_of(cta, part.pc) != place_of(cta, parts.front().pc);
  });
}

}  // namespace

std::vector<BarrierPart> barrier_parts(const Cta& cta, uint32_t number) {
  std::vector<BarrierPart> parts = cta.barriers[number].arrivals;
  each_waiting(cta, number, [&](const Warp& warp, const Group& group) {
    parts.push_back({warp.index, group.frame->program->first + group.pc - 1});
  });
  const auto by_warp = [](const BarrierPart& a, const BarrierPart& b) { return a.warp < b.warp; };
  std::stable_sort(parts.begin(), parts.end(), by_warp);
  return parts;
}

void note_barrier_parts(Cta& cta, uint32_t number) {
  const Inst* first = nullptr;
  bool differ = false;
  each_waiting(cta, number, [&](const Warp&, const Group& group) {
    if (!first) first = group.waiting;
    differ |= group.waiting != first;
  });
  Barrier& barrier = cta.barriers[number];
  if (differ) {
    barrier.mixed = barrier_parts(cta, number);
    barrier.mixed_all = barrier.expected == 0;
  }
  barrier.arrivals.clear();
}

void describe_mixed_barriers(const Warp& warp, std::vector<std::string>& lines) {
  const Cta& cta = *warp.cta;
  const auto live = [](const Warp& each) { return each.live != 0; };
  if (&*std::find_if(cta.warps.begin(), cta.warps.end(), live) != &warp) return;
  for (uint32_t number = 0; number < cta.barriers.size(); ++number) {
    const std::vector<BarrierPart>& parts = cta.barriers[number].mixed;
    if (!at_different_lines(cta, parts)) continue;
    lines.push_back("  barrier " + std::to_string(number) + " was last passed together by " +
                    parts_by_place(cta, parts));
  }
}

void explain_races(Cta& cta) {
  if (!cta.worker->checking) return;
  for (uint32_t number = 0; number < cta.barriers.size(); ++number) {
    const Barrier& barrier = cta.barriers[number];
    if (!barrier.mixed_all || !at_different_lines(cta, barrier.mixed)) continue;
    cta.grid->findings.explain(FindingKind::race, cta.id,
                               "warps met at different lines of barrier " + std::to_string(number) + ": " +
                                   parts_by_place(cta, barrier.mixed));
  }
}

}  // namespace simulator
