#include "common/simulator/launch/waiting.h"

#include <algorithm>
#include <iterator>

namespace simulator {

bool Waiting::look(const Worker& worker, const std::vector<std::unique_ptr<Cluster>>& clusters) {
  uint64_t fewest = ~0ull;  // polls of a warp since something happened
  uint64_t polling = 0;     // warps
  bool computes = false;
  const uint64_t happened = worker.events - worker.private_events;
  const bool quiet = happened == happened_;
  for (const auto& cluster : clusters) {
    for (const auto& cta : cluster->ctas) {
      for (Warp& warp : cta->warps) {
        if (!warp.live) continue;
        const bool polled = warp.polls != warp.polls_seen;
        warp.polls_seen = warp.polls;
        computes |= !polled && warp.ready();
        if (!quiet) warp.polls_before = warp.polls;
        polling += polled;
        if (polled) fewest = std::min(fewest, warp.polls - warp.polls_before);
      }
    }
  }
  if (!quiet || computes || fewest == ~0ull) {
    happened_ = happened;
    since_ = worker.executed;
    leap_ = first_leap;
    return false;
  }
  for (const auto& cluster : clusters) {
    for (const auto& cta : cluster->ctas) cta->time += leap_;
  }
  if (leap_ < last_leap) {
    leap_ *= 16;
    return false;
  }
  const uint64_t executed = worker.executed - since_;
  return std::any_of(std::begin(enough), std::end(enough), [&](const Enough& each) {
    return fewest >= each.polls && executed >= std::min(polling * each.of_each, each.of_all);
  });
}

}  // namespace simulator
