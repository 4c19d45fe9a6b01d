#include "common/simulator/launch/deadlock.h"

#include <algorithm>
#include <cstring>

#include "common/simulator/launch/standing.h"
#include "common/simulator/launch/turns.h"

namespace simulator {
namespace {

// Everything that decides what a warp will do, except memory.
class Snapshot {
 public:
  explicit Snapshot(const Warp& warp) : groups_(groups_of(warp)) {
    for (const Group& group : groups_) add(group.frame);
    for (size_t i = 0; i < frames_.size(); ++i) {
      for (const Way& way : std::vector(frames_[i].ways)) add(way.caller);
    }
  }
  bool holds(const Warp& warp) const {
    if (warp.exec != groups_.front().lanes || (warp.exec && warp.pc != groups_.front().pc)) return false;
    const std::vector<Group> now = groups_of(warp);
    const auto same = [](const Group& a, const Group& b) {
      return a.pc == b.pc && a.lanes == b.lanes && a.frame == b.frame && a.state == b.state;
    };
    if (!std::is_permutation(now.begin(), now.end(), groups_.begin(), groups_.end(), same)) return false;
    const auto returns_to = [](const Way& a, const Way& b) {
      return a.lanes == b.lanes && a.caller == b.caller && a.return_pc == b.return_pc;
    };
    return std::all_of(frames_.begin(), frames_.end(), [&](const Activation& known) {
      return std::ranges::equal(known.frame->ways, known.ways, returns_to) &&
             std::memcmp(known.frame->registers, known.registers.data(), known.registers.size()) == 0;
    });
  }

 private:
  static std::vector<Group> groups_of(const Warp& warp) {  // the running one first; its lanes 0: none runs
    std::vector<Group> groups(1);
    if (warp.exec) groups[0] = {warp.pc, warp.exec, warp.frame, Group::State::ready, 0, nullptr};
    groups.insert(groups.end(), warp.others.begin(), warp.others.end());
    return groups;
  }

  void add(const Frame* frame) {
    const auto same = [&](const Activation& known) { return known.frame == frame; };
    if (!frame || std::any_of(frames_.begin(), frames_.end(), same)) return;
    frames_.push_back(
        {frame, frame->ways, {frame->registers, frame->registers + frame->program->frame_bytes}});
  }

  std::vector<Group> groups_;
  struct Activation {
    const Frame* frame;
    std::vector<Way> ways;  // a function that is called twice in a row is not at the same place
    std::vector<std::byte> registers;
  };
  std::vector<Activation> frames_;
};

// Will the warp come back to the very state it is in, without anything having happened? Then, as long as
// nothing happens elsewhere, it does so for ever. The state to come back to is taken anew after 1, 2, 4 …
// instructions (Brent 1980): it may have to reach its loop first.
bool loops_forever(Warp& warp) {
  constexpr int most_steps = 20000;
  const uint64_t events = warp.worker->events;
  // %clock goes on from turn to turn: a warp that waits for a time is never where it was
  warp.cta->time += random_quantum;
  for (int step = 0, next = 1; step < most_steps; next *= 2) {
    const Snapshot before(warp);
    for (; step < next; ++step) {
      wake(warp);
      run(warp, 1);
      if (warp.worker->events != events || !warp.live) return false;
      if (before.holds(warp)) return true;
    }
  }
  return false;
}

}  // namespace

bool stuck(Cluster& cluster) {
  bool stored = false;  // a warp may look at what bulk copies write
  for (const auto& cta : cluster.ctas) {
    for (Unit* unit : units_of(*cta)) stored |= unit->land_stores(*cta);
  }
  if (stored) return false;
  const auto waits = [](Warp& warp) {
    wake(warp);
    return !warp.live || !warp.ready() || loops_forever(warp);
  };
  Worker& worker = *cluster.ctas[0]->worker;
  const uint64_t events = worker.events;
  worker.probing = true;
  const bool all = std::all_of(cluster.ctas.begin(), cluster.ctas.end(), [&](const auto& cta) {
    return std::all_of(cta->warps.begin(), cta->warps.end(), waits);
  });
  worker.probing = false;
  return all && worker.events == events;
}

void deadlock(const std::vector<std::unique_ptr<Cluster>>& clusters, bool polling) {
  constexpr size_t most_lines = 24;
  const Standing standing = where_warps_stand(clusters, "spin");
  Finding finding;
  finding.kind = FindingKind::deadlock;
  finding.what =
      polling ? "no thread can go on: those that could have long read what does not change, time after time"
              : "no thread can go on";
  finding.details = standing.lines(most_lines);
  finding.site = standing.site();
  throw Fault(std::move(finding));
}

}  // namespace simulator
