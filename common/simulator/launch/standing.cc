#include "common/simulator/launch/standing.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace simulator {
namespace {

// The nearer to the cause, the lower. Most warps of a deadlock wait at a barrier for those that wait for
// something else: an mbarrier, registers, a value in memory.
enum Rank { something_else, memory, other_lanes, named_barrier, whole_barrier };

// Adds what lanes of a CTA do.
class Places {
 public:
  Places(Standing& standing, const Cta& cta) : standing_(standing), first_(standing.places.size()) {
    name_ = "CTA (" + std::to_string(cta.id[0]) + "," + std::to_string(cta.id[1]) + "," +
            std::to_string(cta.id[2]) + ")";
  }
  void add(Standing::Place place, uint32_t warp) {
    auto& all = standing_.places;
    const auto same = [&](const Standing::Place& each) {
      return each.rank == place.rank && each.what == place.what && each.details == place.details;
    };
    auto found = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(first_), all.end(), same);
    if (found == all.end()) {
      place.cta = name_;
      found = all.insert(found, std::move(place));
    }
    found->warps |= 1u << warp;
  }

 private:
  Standing& standing_;
  size_t first_;  // of this CTA's
  std::string name_;
};

// What the lanes of a group do, and how near that is to the cause.
std::pair<int, std::string> what_it_does(const Warp& warp, const Group& group, const std::string& running) {
  for (const Unit* unit : units_of(*warp.cta)) {
    std::string what = unit->waits(warp, group);
    if (what.empty()) continue;
    const int at_barrier = group.barrier ? named_barrier : whole_barrier;
    return {group.state == Group::State::barrier ? at_barrier : something_else, std::move(what)};
  }
  const std::string where = " at " + source_of(*group.frame, group.pc, std::countr_zero(group.lanes));
  if (group.state == Group::State::convergence)
    return {other_lanes, lanes_that(group.lanes, "wait") + " for the other lanes of their warp" + where};
  return {memory, lanes_that(group.lanes, running) + where};
}

}  // namespace

void Standing::most_warps_first() {
  std::map<std::string, int> warps_of;  // by what they do, and where
  for (const Place& place : places) warps_of[place.what] += std::popcount(place.warps);
  std::ranges::stable_sort(places, [&](const Place& a, const Place& b) {
    const int of_a = warps_of[a.what], of_b = warps_of[b.what];
    return of_a != of_b ? of_a > of_b : a.what < b.what;
  });
}

std::vector<std::string> Standing::lines(size_t most) const {
  std::vector<std::string> lines;
  for (const Place& place : places) {
    lines.push_back(place.cta + " " + warps_text(place.warps) + ", " + place.what);
    for (const std::string& detail : place.details) lines.push_back(detail);
  }
  if (lines.size() > most) {
    const size_t more = lines.size() - most;
    lines.resize(most);
    lines.push_back("and " + std::to_string(more) + " lines more");
  }
  return lines;
}

Standing where_warps_stand(const std::vector<std::unique_ptr<Cluster>>& clusters,
                           const std::string& running) {
  Standing standing;
  for (const auto& cluster : clusters) {
    for (const auto& cta : cluster->ctas) {
      Places places(standing, *cta);
      for (Warp& warp : cta->warps) {
        if (!warp.live) continue;
        std::vector<std::string> of_warp;
        for (const Unit* unit : units_of(*cta)) unit->describe(warp, of_warp);
        std::vector<Group> groups = warp.others;
        if (warp.exec) groups.push_back({warp.pc, warp.exec, warp.frame, Group::State::ready, 0, nullptr});
        std::vector<Standing::Place> found;
        for (const Group& group : groups) {
          auto [rank, what] = what_it_does(warp, group, running);
          const uint32_t pc = group.state == Group::State::barrier ? group.pc - 1 : group.pc;
          found.push_back({rank,
                           {},
                           std::move(what),
                           {},
                           0,
                           site_of(warp, *group.frame, pc, std::countr_zero(group.lanes))});
        }
        if (!of_warp.empty() && !found.empty()) {  // it is on what some of them read, if any do
          const auto reads = std::ranges::find(found, static_cast<int>(memory), &Standing::Place::rank);
          Standing::Place& described = reads == found.end() ? found.front() : *reads;
          if (reads != found.end()) described.rank = something_else;
          described.details = std::move(of_warp);
        }
        for (Standing::Place& place : found) places.add(std::move(place), warp.index);
      }
    }
  }
  std::ranges::stable_sort(standing.places, {}, &Standing::Place::rank);
  return standing;
}

}  // namespace simulator
