#include "common/simulator/launch/deadlock.h"

#include <algorithm>
#include <bit>
#include <cstring>

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
    if (warp.exec != groups_.front().lanes || warp.pc != groups_.front().pc) return false;
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
  static std::vector<Group> groups_of(const Warp& warp) {  // the running one first
    std::vector<Group> groups{{warp.pc, warp.exec, warp.frame, Group::State::ready, 0, nullptr}};
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
// nothing happens elsewhere, it does so for ever.
bool loops_forever(Warp& warp) {
  const uint64_t events = warp.worker->events;
  warp.cta->time +=
      random_quantum;  // %clock goes on from turn to turn: a warp that waits for a time is never where it was
  const auto step = [&] {
    wake(warp);
    run(warp, 1);
  };
  for (int i = 0; i < 64 && !warp.exec; ++i) step();
  if (warp.worker->events != events || !warp.live) return false;
  if (!warp.exec) return !warp.ready();  // whatever it tried again had to wait again
  const Snapshot before(warp);
  for (int i = 0; i < 20000; ++i) {
    step();
    if (warp.worker->events != events || !warp.live) return false;
    if (before.holds(warp)) return true;
  }
  return false;
}

std::string what_is_awaited(const Warp& warp, const Group& group) {
  for (const Unit* unit : units_of(*warp.cta)) {
    std::string what = unit->waits(warp, group);
    if (!what.empty()) return what;
  }
  const std::string where = " at " + source_of(*group.frame->program, group.pc);
  if (group.state == Group::State::convergence)
    return lanes_that(group.lanes, "wait") + " for the other lanes of their warp" + where;
  return lanes_that(group.lanes, "spin") + where;
}

// Who waits for what, a line each.
std::vector<std::string> who_waits(Cta& cta) {
  std::vector<std::string> lines;
  for (Warp& warp : cta.warps) {
    const std::string name = "CTA (" + std::to_string(cta.id[0]) + "," + std::to_string(cta.id[1]) + "," +
                             std::to_string(cta.id[2]) + ") warp " + std::to_string(warp.index) + ", ";
    if (warp.exec) {
      lines.push_back(name + lanes_that(warp.exec, "spin") + " at " +
                      source_of(*warp.frame->program, warp.pc));
    }
    for (const Group& group : warp.others) {
      lines.push_back(name + what_is_awaited(warp, group));
    }
    for (const Unit* unit : units_of(cta)) unit->describe(warp, lines);
  }
  return lines;
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

void deadlock(const std::vector<std::unique_ptr<Cluster>>& clusters) {
  std::vector<Cta*> ctas;
  for (const auto& cluster : clusters) {
    for (const auto& cta : cluster->ctas) {
      if (cta->unfinished) ctas.push_back(cta.get());
    }
  }
  std::vector<std::string> lines;
  for (Cta* cta : ctas) {
    for (std::string& line : who_waits(*cta)) lines.push_back(std::move(line));
  }
  if (lines.size() > 24) {
    const size_t more = lines.size() - 24;
    lines.resize(24);
    lines.push_back("and " + std::to_string(more) + " more");
  }
  Cta& cta = *ctas.front();
  Warp* blamed = nullptr;
  Frame* frame = nullptr;
  uint32_t pc = 0, lanes = 0;
  for (Warp& warp : cta.warps) {
    if (!warp.live) continue;
    blamed = &warp;
    if (warp.exec) {
      frame = warp.frame, pc = warp.pc, lanes = warp.exec;
    } else {
      const Group& group = warp.others.front();
      frame = group.frame, lanes = group.lanes;
      pc = group.state == Group::State::barrier ? group.pc - 1 : group.pc;
    }
    break;
  }
  Finding finding;
  finding.kind = FindingKind::deadlock;
  finding.what = "no thread can go on";
  finding.details = std::move(lines);
  if (blamed) finding.site = site_of(*blamed, *frame->program, pc, std::countr_zero(lanes));
  throw Fault(std::move(finding));
}

}  // namespace simulator
