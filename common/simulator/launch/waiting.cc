#include "common/simulator/launch/waiting.h"

#include <algorithm>
#include <iterator>

namespace simulator {

namespace {

// What a warp may look at arrives. False: nothing was under way.
bool land_stores(const std::vector<std::unique_ptr<Cluster>>& clusters) {
  bool any = false;
  for (const auto& cluster : clusters) {
    for (const auto& cta : cluster->ctas) {
      for (Unit* unit : units_of(*cta)) any |= cta->unfinished && unit->land_stores(*cta);
    }
  }
  return any;
}

}  // namespace

bool Waiting::look(const Worker& worker, const std::vector<std::unique_ptr<Cluster>>& clusters) {
  uint64_t fewest = ~0ull;             // polls of a warp since something happened
  uint64_t polling = 0, watching = 0;  // warps
  bool computes = false;
  const uint64_t happened = worker.events - worker.private_events;
  const bool quiet = happened == happened_;
  for (const auto& cluster : clusters) {
    for (const auto& cta : cluster->ctas) {
      for (Warp& warp : cta->warps) {
        if (!warp.live) continue;
        const bool polled = warp.polls != warp.polls_seen, watched = warp.watches != warp.watches_seen;
        warp.polls_seen = warp.polls;
        warp.watches_seen = warp.watches;
        computes |= !polled && !watched && warp.ready();
        if (!quiet) warp.polls_before = warp.polls;
        polling += polled;
        watching += watched;
        if (polled) fewest = std::min(fewest, warp.polls - warp.polls_before);
      }
    }
  }
  if (!quiet || computes || polling + watching == 0 || land_stores(clusters)) {
    happened_ = worker.events - worker.private_events;
    since_ = worker.executed;
    leap_ = first_leap;
    return false;
  }
  for (const auto& cluster : clusters) {
    for (const auto& cta : cluster->ctas) cta->time += leap_;
  }
  if (leap_ < last_leap) {
    leap_ *= leap_growth;
    return false;
  }
  const uint64_t executed = worker.executed - since_;
  return polling && std::any_of(std::begin(enough), std::end(enough), [&](const Enough& each) {
           return fewest >= each.polls && executed >= std::min(polling * each.of_each, each.of_all);
         });
}

}  // namespace simulator
