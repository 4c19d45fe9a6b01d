#include "common/simulator/units/overlap.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "common/simulator/units/async_copies.h"
#include "common/simulator/units/mbarriers.h"
#include "common/simulator/units/places.h"

namespace simulator {
namespace {

// A warp that knows of something, the reading of its clock when it came to know, and by which of its lanes:
// what a diverged warp's other lanes have waited for does not hold one of them back.
struct Knows {
  uint32_t warp = 0, clock = 0, lanes = 0;
};
using Known = std::vector<Knows>;

struct Copies {  // that one phase of an mbarrier counts: a k-tile
  uint32_t rank = 0, mbarrier = 0;
  uint64_t phase = 0;
  Known ended;
};
struct Products {  // a group of MMAs
  uint32_t rank = 0, queue = 0, pc = 0;
  uint64_t number = 0;  // of its first
  uint64_t copies = 0;  // k-tiles on their way while it runs
  bool counted = false;
  Known ended;
};
struct Wait {
  uint32_t rank = 0, pc = 0;
  bool for_copies = true;  // else for MMAs
  uint64_t in_flight = 0;
  Known ended;
};

struct OfCluster final : UnitState {
  static constexpr auto place = InCluster::overlap;
  std::deque<Copies> copies;
  std::deque<Products> products;
  std::deque<Wait> waits;
};
constexpr size_t most = 256;  // of each that are kept: more are of programs in which nothing follows them

struct Sample {  // of an instruction, until something follows it
  uint32_t pc = 0;
  uint64_t going_on = 0, many = 0;
};

struct OfWarp final : UnitState {
  static constexpr auto place = InWarp::overlap;
  std::array<std::vector<Sample>, 4> waits;  // by Groups
  std::vector<Sample> products;              // of matrices in registers
  uint64_t arithmetic = 0;                   // instructions
  uint32_t barrier = ~0u;                    // pc of the last one, where no read has followed
  uint64_t at_barrier = 0;
};

struct OfFrame final : UnitState {
  static constexpr auto place = InFrame::overlap;
  struct Value {
    uint32_t pc = 0;          // of the load
    uint64_t arithmetic = 0;  // then
    uint64_t load = 0;        // its number, from 1; 0: none, or its use has been counted
  };
  std::vector<Value> values;
  uint64_t loads = 0;          // in all activations that have had this frame
  std::vector<uint64_t> used;  // by pc in the function: the last of its loads whose use was counted
};

uint32_t here(const Warp& warp) {
  return warp.frame->program->first + warp.pc - 1;
}
SharedShadow& shadow_of(Warp& warp) {
  return warp.cta->cluster->shadow;
}
OfCluster& of_cluster(Warp& warp) {
  return warp.cta->cluster->state<OfCluster>();
}
bool ordered(const Warp& warp) {
  return warp.worker->counting && warp.worker->checking;
}

// True: it is new to the warp.
bool learn(Warp& warp, Known& known) {
  const auto same = std::find_if(known.begin(), known.end(),
                                 [&](const Knows& each) { return each.warp == warp.in_cluster; });
  if (same == known.end()) {
    known.push_back({warp.in_cluster, shadow_of(warp).clock_of_warp(warp.in_cluster), warp.exec});
    return true;
  }
  same->lanes |= warp.exec;
  return false;
}
bool knows(Warp& warp, const Known& known) {
  return std::any_of(known.begin(), known.end(), [&](const Knows& each) {
    return each.warp == warp.in_cluster ? (each.lanes & warp.exec) != 0
                                        : shadow_of(warp).knows(warp.in_cluster, each.warp, each.clock);
  });
}

void add(std::vector<Sample>& samples, uint32_t pc, uint64_t going_on) {
  const auto same = std::find_if(samples.begin(), samples.end(), [&](const Sample& each) {
    return each.pc == pc && each.going_on == going_on;
  });
  if (same == samples.end()) {
    samples.push_back({pc, going_on, 1});
  } else {
    ++same->many;
  }
}
void count(Worker& worker, std::vector<Sample>& samples, Occasions Overlap::*of) {
  for (const Sample& each : samples) (worker.overlap[each.pc].*of).add(each.going_on, each.many);
  samples.clear();
}

Occasions Overlap::*occasions(Groups kind) {
  return kind == Groups::products ? &Overlap::math : &Overlap::memory;
}

// Of: Copies, Products.
template <class Of>
uint64_t in_flight(Warp& warp, const std::deque<Of>& all, uint32_t rank) {
  return static_cast<uint64_t>(std::count_if(
      all.begin(), all.end(), [&](const Of& each) { return each.rank == rank && !knows(warp, each.ended); }));
}

template <class T>
void keep_few(std::deque<T>& all) {
  while (all.size() > most) all.pop_front();
}

// More work of the kind that these wait for begins. One that is known to have ended is followed by it.
void follow_waits(Warp& warp, uint32_t rank, bool copies) {
  std::erase_if(of_cluster(warp).waits, [&](Wait& each) {
    if (each.rank != rank || each.for_copies != copies) return false;
    if (!knows(warp, each.ended)) {
      ++each.in_flight;
      return false;
    }
    Overlap& overlap = warp.worker->overlap[each.pc];
    (copies ? overlap.memory : overlap.math).add(each.in_flight);
    return true;
  });
}

void note_wait(Warp& warp, uint32_t rank, bool copies, bool was_known, uint64_t left) {
  Overlap& overlap = warp.worker->overlap[here(warp)];
  Occasions& occasions = copies ? overlap.memory : overlap.math;
  ++occasions.times;
  occasions.none += was_known;
  Wait wait{rank, here(warp), copies, left, {}};
  learn(warp, wait.ended);
  of_cluster(warp).waits.push_back(std::move(wait));
  keep_few(of_cluster(warp).waits);
}

}  // namespace

uint32_t groups_of_copies(const Warp& warp) {
  const AsyncCopies& async = warp.state<AsyncCopies>();
  if (async.pending.empty()) return 0;
  const uint32_t lane = static_cast<uint32_t>(std::countr_zero(warp.exec));
  uint32_t groups = 0, last = ~0u;
  for (const AsyncCopy& copy : async.pending) {
    if (!(copy.lanes >> lane & 1) || copy.group[lane] == last) continue;
    last = copy.group[lane];
    ++groups;
  }
  return groups;
}

namespace {

void use(Warp& warp, OfFrame& frame, uint32_t reg) {
  OfFrame::Value& value = frame.values[reg];
  if (!value.load) return;
  uint64_t& used = frame.used[value.pc - warp.frame->program->first];
  if (used < value.load) {
    used = value.load;
    const uint64_t between = warp.state<OfWarp>().arithmetic - value.arithmetic;
    Occasions& math = warp.worker->overlap[value.pc].math;
    ++math.times;
    math.none += between == 0;
    math.add(between);
  }
  value.load = 0;
}

class OverlapUnit final : public Unit {
  void start(Cta& cta) override {
    if (!cta.worker->counting) return;
    if (cta.rank == 0) cta.cluster->make<OfCluster>() = {};
    for (Warp& warp : cta.warps) warp.make<OfWarp>() = {};
  }

  void seen(Warp& warp, Cta& cta, uint32_t mbarrier) override {
    if (!ordered(warp)) return;
    const uint64_t complete = mbarriers_of(cta)[mbarrier].phase;
    for (Copies& each : of_cluster(warp).copies) {
      if (each.rank != cta.rank || each.mbarrier != mbarrier || each.phase + 1 != complete) continue;
      const bool was_known = knows(warp, each.ended);
      if (!learn(warp, each.ended)) return;  // it has tested this phase before
      return note_wait(warp, cta.rank, true, was_known, in_flight(warp, of_cluster(warp).copies, cta.rank));
    }
  }

  void observe(Warp& warp, uint32_t pc) override {
    const Observed& at = warp.frame->program->observed[pc];
    OfWarp& of = warp.state<OfWarp>();
    const uint32_t index = warp.frame->program->first + pc;
    if (!at.reads.empty() || !at.writes.empty()) {
      OfFrame& frame = warp.frame->make<OfFrame>();
      if (frame.values.size() < warp.frame->program->loaded_values)
        frame.values.resize(warp.frame->program->loaded_values);
      if (frame.used.size() < warp.frame->program->observed.size())
        frame.used.resize(warp.frame->program->observed.size());
      if (at.is & Observed::use) {
        for (const uint32_t reg : at.reads) use(warp, frame, reg);
      }
      if (at.is & Observed::move) {
        for (const uint32_t reg : at.writes) frame.values[reg] = frame.values[at.reads[0]];
      }
      if (at.is & Observed::load) {
        ++frame.loads;
        for (const uint32_t reg : at.writes) frame.values[reg] = {index, of.arithmetic, frame.loads};
      }
    }
    if (at.is & Observed::shared_read && of.barrier != ~0u) {
      warp.worker->overlap[of.barrier].math.add(of.arithmetic - of.at_barrier);
      of.barrier = ~0u;
    }
    if (at.is & Observed::barrier) {
      ++warp.worker->overlap[index].math.times;
      of.barrier = index;
      of.at_barrier = of.arithmetic;
    }
    if (at.is & Observed::product) {
      ++warp.worker->overlap[index].memory.times;
      add(of.products, index, groups_of_copies(warp));
    }
    of.arithmetic += (at.is & Observed::arithmetic) != 0;
  }
};

}  // namespace

Unit& overlap_unit() {
  static OverlapUnit unit;
  return unit;
}

void overlap_wait(Warp& warp, Groups kind, uint32_t before, uint32_t after) {
  if (!warp.worker->counting) return;
  Occasions& of = warp.worker->overlap[here(warp)].*occasions(kind);
  ++of.times;
  of.none += before == 0;
  if (kind == Groups::transfers) return of.add(after);  // such a wait leaves none
  add(warp.state<OfWarp>().waits[static_cast<size_t>(kind)], here(warp), after);
}

void overlap_issue(Warp& warp, Groups kind) {
  if (!warp.worker->counting) return;
  OfWarp& of = warp.state<OfWarp>();
  count(*warp.worker, of.waits[static_cast<size_t>(kind)], occasions(kind));
  if (kind == Groups::copies) count(*warp.worker, of.products, &Overlap::memory);
}

void overlap_copy(Warp& warp, const Cta& counting, uint32_t mbarrier, uint64_t phase) {
  if (!ordered(warp)) return;
  OfCluster& all = of_cluster(warp);
  const auto of_mbarrier = [&](const Copies& each) {
    return each.rank == counting.rank && each.mbarrier == mbarrier;
  };
  const auto last = std::find_if(all.copies.rbegin(), all.copies.rend(), of_mbarrier);
  if (last != all.copies.rend() && last->phase == phase) return;  // part of a k-tile that has begun
  std::erase_if(all.copies, of_mbarrier);
  all.copies.push_back({counting.rank, mbarrier, phase, {}});
  keep_few(all.copies);
  follow_waits(warp, counting.rank, true);
  for (Products& each : all.products) {
    if (each.rank != counting.rank || each.counted) continue;
    if (!knows(warp, each.ended)) {
      ++each.copies;
      continue;
    }
    each.counted = true;
    warp.worker->overlap[each.pc].memory.add(each.copies);
  }
}

void overlap_begin(Warp& warp, uint32_t queue, uint64_t number) {
  if (!ordered(warp)) return;
  OfCluster& all = of_cluster(warp);
  const uint32_t rank = warp.cta->rank;
  const auto of_queue = [&](const Products& each) { return each.rank == rank && each.queue == queue; };
  const uint64_t before = static_cast<uint64_t>(
      std::count_if(all.products.begin(), all.products.end(),
                    [&](const Products& each) { return of_queue(each) && !knows(warp, each.ended); }));
  std::erase_if(all.products, [&](const Products& each) {
    return of_queue(each) && each.counted && knows(warp, each.ended);
  });
  follow_waits(warp, rank, false);
  const uint64_t copies = in_flight(warp, all.copies, rank);
  all.products.push_back({rank, queue, here(warp), number, copies, false, {}});
  keep_few(all.products);
  Overlap& overlap = warp.worker->overlap[here(warp)];
  ++overlap.memory.times;
  ++overlap.math.times;
  overlap.math.none += before == 0;
  overlap.math.add(before);
}

void overlap_end(Warp& warp, uint32_t rank, uint32_t queue, uint64_t before, bool by_mbarrier) {
  if (!ordered(warp)) return;
  bool any = false, were_known = true;
  for (Products& each : of_cluster(warp).products) {
    if (each.rank != rank || each.queue != queue || each.number >= before) continue;
    const bool known = knows(warp, each.ended);
    if (!learn(warp, each.ended)) continue;
    any = true;
    were_known &= known;
  }
  if (any && by_mbarrier)
    note_wait(warp, rank, false, were_known, in_flight(warp, of_cluster(warp).products, rank));
}

}  // namespace simulator
