// Who runs next. A warp's lanes fall into groups at different instructions; the group that is deepest in
// calls, then the one with the lowest instruction, runs, so that the others wait for it where paths join.
// When a group has run for long while others could, they take turns: a lane that spins for another lane of
// its warp, or a warp or CTA that spins for another, always gets its answer in the end.
#include "common/simulator/machine/scheduler.h"

#include <algorithm>
#include <bit>

#include "common/simulator/counters/trace.h"
#include "common/simulator/machine/frames.h"
#include "common/simulator/machine/machine.h"

namespace simulator {

namespace {

// Are they at one instruction? Then `first` has the lanes of both.
bool meet(Warp& warp, Group& first, const Group& second) {
  if (first.frame == second.frame) {
    first.lanes |= second.lanes;
    return true;
  }
  return first.state == Group::State::convergence && second.state == Group::State::convergence &&
         first.frame->program == second.frame->program && join(warp, first, second);
}

}  // namespace

void Warp::select() {
  if (exec) others.push_back({pc, exec, frame, Group::State::ready, 0, nullptr});
  const uint32_t running = exec;
  exec = 0;
  stop = ~0u;
  // Those that have met go on together.
  for (size_t i = 0; i < others.size(); ++i) {
    if (others[i].state == Group::State::barrier) continue;
    for (size_t j = i + 1; j < others.size();) {
      if (others[j].pc == others[i].pc && others[j].state != Group::State::barrier &&
          meet(*this, others[i], others[j])) {
        others[i].state = Group::State::ready;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(j));
      } else {
        ++j;
      }
    }
  }
  size_t best = others.size();
  for (size_t i = 0; i < others.size(); ++i) {
    const Group& group = others[i];
    if (group.state != Group::State::ready) continue;
    if (rotated && (group.lanes & running)) {
      best = i;
      break;
    }
    if (best == others.size() || group.frame->depth > others[best].frame->depth ||
        (group.frame->depth == others[best].frame->depth && group.pc < others[best].pc)) {
      best = i;
    }
  }
  if (best == others.size()) {
    rotated = false;
    return;
  }
  const Group chosen = others[best];
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(best));
  if (!(chosen.lanes & running)) rotated = false;
  exec = chosen.lanes;
  full = exec == live;
  pc = chosen.pc;
  frame = chosen.frame;
  registers = frame->registers;
  code = frame->program->code.data();
  for (const Group& group : others) {
    if (group.frame == frame && group.state != Group::State::barrier && group.pc > pc)
      stop = std::min(stop, group.pc);
  }
}

void Warp::split(uint32_t lanes, uint32_t target) {
  others.push_back({target, lanes, frame, Group::State::ready, 0, nullptr});
  exec &= ~lanes;
  full = false;
  stop = 0;
}

void Warp::wait(Group::State state, uint32_t at) {
  others.push_back({at, exec, frame, state, 0, nullptr});
  if (at != pc && worker->counting) {  // it will be counted when it goes through
    Counts& counts = worker->counts[frame->program->first + at];
    --counts.executed;
    counts.lanes -= static_cast<uint64_t>(std::popcount(exec));
    if (Trace* trace = trace_of(*this)) trace->again();
  }
  exec = 0;
  stop = 0;
}

void Warp::leave(uint32_t lanes) {
  if (lanes == live && cta->unfinished == 1) {
    for (Unit* unit : units_of(*cta)) unit->leave(*this, std::countr_zero(lanes));
  }
  ++worker->events;
  live &= ~lanes;
  exec &= ~lanes;
  stop = 0;
  exited(*worker, frame, lanes);
  if (!exec) frame = nullptr;  // it may be over
  for (Group& group : others) {
    if (group.state == Group::State::convergence) group.state = Group::State::ready;
  }
  if (live) return;
  for (Unit* unit : units_of(*cta)) unit->forget(*this, nullptr);
  if (--cta->unfinished == 0) {
    for (Unit* unit : units_of(*cta)) unit->end(*cta);
  }
  for (Unit* unit : units_of(*cta)) unit->exited(*this);
}

bool Warp::enter_guard(const Inst& inst) {
  if (inst.guard == 0) return true;
  const uint32_t predicate = pred(inst.guard);
  const uint32_t lanes = exec & (inst.guard_negated ? ~predicate : predicate);
  if (lanes == 0) return false;
  if (lanes != exec) split(exec & ~lanes, pc);
  return true;
}

bool Warp::ready() const {
  if (exec) return true;
  return std::any_of(others.begin(), others.end(),
                     [](const Group& g) { return g.state == Group::State::ready; });
}

template <bool counting, bool timed>
void Warp::run(uint64_t quantum) {
  if (!exec) select();
  uint64_t left = quantum;
  Trace* const trace = counting ? trace_of(*this) : nullptr;
  while (exec) {
    while (pc < stop) {
      const Inst& inst = code[pc];
      if constexpr (counting) {
        uint32_t lanes = exec;
        if (inst.guard) lanes &= inst.guard_negated ? ~pred(inst.guard) : pred(inst.guard);
        Counts& counts = worker->counts[frame->program->first + pc];
        counts.executed += lanes != 0;
        counts.lanes += static_cast<uint64_t>(std::popcount(lanes));
        if (frame->program->observed[pc].is && lanes) cta->grid->observer->observe(*this, pc);
        if (trace && lanes) [[unlikely]] {
          const size_t lane = static_cast<size_t>(std::countr_zero(lanes));
          CommittedGroups groups;
          for (const Unit* unit : units_of(*cta)) unit->groups(*this, lane, groups);
          trace->step(*frame->program, pc, lanes, groups);
        }
      }
      ++pc;
      if constexpr (timed) in_turn = quantum - left;
      inst.run(*this, inst);
      if (--left == 0) goto over;
    }
    if (yield) break;
    select();
  }
over:
  yield = false;
  worker->executed += quantum - left;
  // A group that has just come to wait may have met another one that does.
  exec ? take_turns() : select();
}

// The running group has had its time: another one that is ready goes on, if there is one.
void Warp::take_turns() {
  const auto next = std::find_if(others.begin(), others.end(),
                                 [](const Group& group) { return group.state == Group::State::ready; });
  if (next != others.end()) {
    const Group chosen = *next;
    *next = {pc, exec, frame, Group::State::ready, 0, nullptr};
    std::rotate(next, next + 1, others.end());  // its turn comes again after all others'
    pc = chosen.pc;
    exec = chosen.lanes;
    frame = chosen.frame;
    rotated = true;
    return select();
  }
  stop = 0;
}

template void Warp::run<false, false>(uint64_t);
template void Warp::run<false, true>(uint64_t);
template void Warp::run<true, false>(uint64_t);
template void Warp::run<true, true>(uint64_t);

void wait_for_others(Warp& warp, uint32_t lanes) {
  if (!lanes) return;
  if (lanes == warp.exec) return warp.wait(Group::State::convergence, warp.pc - 1);
  warp.split(lanes, warp.pc - 1);
  warp.others.back().state = Group::State::convergence;
  if (warp.worker->counting) {  // they will be counted when they go through
    warp.worker->counts[warp.frame->program->first + warp.pc - 1].lanes -=
        static_cast<uint64_t>(std::popcount(lanes));
  }
}

void Warp::enter(Frame* callee) {
  frame = callee;
  registers = callee->registers;
  code = callee->program->code.data();
  pc = 0;
  stop = 0;
}

}  // namespace simulator
