#include "common/simulator/units/tcgen05_accesses.h"

#include <algorithm>
#include <cstring>

namespace simulator {
namespace {

using Kind = Tcgen05Accesses::Kind;

constexpr int lane_bits = 5, thread_bits = 14;

Tcgen05Accesses::Id thread_of(uint32_t warp, uint32_t lane) {
  return warp << lane_bits | lane;
}

bool is_piped(Kind kind) {
  return kind == Kind::mma || kind == Kind::cp || kind == Kind::cp_4x256b || kind == Kind::shift;
}

bool is_transfer(Kind kind) {
  return kind == Kind::ld || kind == Kind::st;
}

bool overlap(const Tcgen05Region& a, const Tcgen05Region& b) {
  return a.column < b.column + b.columns && b.column < a.column + a.columns && (a.lanes & b.lanes).any();
}

bool covers(const Tcgen05Region& outer, const Tcgen05Region& inner) {
  return outer.column <= inner.column && inner.column + inner.columns <= outer.column + outer.columns &&
         (inner.lanes & ~outer.lanes) == Tcgen05Lanes{};
}

// Pairs that the ISA names (9.7.16.6.2).
bool in_order_by_the_isa(Kind first, const Tcgen05Accesses::Access& one, Kind second,
                         const Tcgen05Accesses::Access& other) {
  if (first == Kind::mma && second == Kind::mma) {  // "same accumulator and shape"
    return one.write && other.write && covers(one.region, other.region) && covers(other.region, one.region);
  }
  if (second == Kind::mma) return true;
  return (first == Kind::shift && second == Kind::cp_4x256b) || (first == Kind::mma && second == Kind::shift);
}

}  // namespace

void Tcgen05Accesses::reset(uint32_t ctas, uint32_t warps, bool strict) {
  strict_ = strict;
  warps_ = warps / ctas;
  operations_.clear();
  accesses_.assign(ctas, {});
  fences_.assign(strict ? warps : 0, {});
}

Tcgen05Accesses::Moment Tcgen05Accesses::now(SharedShadow& shadow, uint32_t warp) {
  return {warp, shadow.clock_of_warp(warp), shadow.life(), ++moments_};
}

// Does it come before what the warp does now?
bool Tcgen05Accesses::is_before(const SharedShadow& shadow, const Moment& moment, uint32_t warp) const {
  return moment.life != shadow.life() || shadow.knows(warp, moment.warp, moment.clock);
}

// The same, with a tcgen05.fence::after_thread_sync of the warp since it has known that.
bool Tcgen05Accesses::is_fenced_after(const SharedShadow& shadow, const Moment& moment, uint32_t warp) const {
  const Fence& fence = fences_[warp];
  if (moment.life != shadow.life()) return true;
  if (moment.warp == warp) return moment.count < fence.count;
  return fence.life == shadow.life() && fence.known[moment.warp] >= moment.clock;
}

Tcgen05Accesses::Id Tcgen05Accesses::begin(SharedShadow& shadow, uint32_t warp, uint32_t lane, uint32_t pc,
                                           Kind kind) {
  const Id id = ++count_ << thread_bits | thread_of(warp, lane);
  Operation& made = operations_[id];
  made.id = id;
  made.kind = kind;
  made.warp = warp;
  made.lane = lane;
  made.pc = pc;
  made.quarter = warp / warps_ * 4 + warp % warps_ % 4;
  made.issued = now(shadow, warp);
  return id;
}

Tcgen05Accesses::Problem::Kind Tcgen05Accesses::judge(const SharedShadow& shadow, const Access& earlier,
                                                      const Access& access) const {
  using enum Problem::Kind;
  const Operation &first = operations_.at(earlier.id), &second = operations_.at(access.id);
  const uint32_t warp = second.warp;
  const bool piped = is_piped(first.kind) && is_piped(second.kind);
  const bool same_thread = first.warp == warp && first.lane == second.lane;
  const bool transfers = is_transfer(first.kind) && is_transfer(second.kind) && first.warp != second.warp;
  const bool known = first.warp == warp || is_before(shadow, first.issued, warp);
  if (transfers && !strict_ && known) return none;
  const bool named = in_order_by_the_isa(first.kind, earlier, second.kind, access);
  if (piped && (named || !strict_)) {
    if (same_thread) return none;
    if (known) {
      if (!strict_) return none;
      if (first.fenced.count == 0 || !is_before(shadow, first.fenced, warp)) return unfenced_before;
      return is_fenced_after(shadow, first.fenced, warp) ? none : unfenced_after;
    }
  }
  // Not by who has waited meanwhile, which depends on the order of the warps: a warp that knows that the
  // first was issued knows it by a synchronisation before which nothing has waited.
  Problem::Kind found = known && !piped ? unfinished : unordered;
  for (const Moment& moment : first.seen) {
    if (!is_before(shadow, moment, warp)) continue;
    if (!strict_) return none;
    // What a warp has waited for with tcgen05.wait it may go on with at once.
    if (!is_piped(first.kind) && first.warp == warp) return none;
    if (!is_piped(first.kind) && (first.fenced.count == 0 || !is_before(shadow, first.fenced, warp))) {
      found = unfenced_before;
    } else if (!is_fenced_after(shadow, is_piped(first.kind) ? moment : first.fenced, warp)) {
      found = unfenced_after;
    } else {
      return none;
    }
  }
  if (found == unordered && piped && same_thread) return unpiped;
  return found;
}

void Tcgen05Accesses::drop(std::vector<Access>& from, size_t index) {
  const auto operation = operations_.find(from[index].id);
  if (--operation->second.accesses == 0) operations_.erase(operation);
  from[index] = from.back();
  from.pop_back();
}

Tcgen05Accesses::Problem Tcgen05Accesses::access(SharedShadow& shadow, uint32_t rank, const Access& access) {
  Problem problem;
  std::vector<Access>& known = accesses_[rank];
  const Operation& mine = operations_.at(access.id);
  for (size_t i = 0; i < known.size();) {
    const Access& earlier = known[i];
    if (earlier.id == access.id || !overlap(earlier.region, access.region)) {
      ++i;
      continue;
    }
    const Operation& other = operations_.at(earlier.id);
    if ((earlier.write || access.write) && problem.kind == Problem::Kind::none) {
      problem.kind = judge(shadow, earlier, access);
      if (problem.kind != Problem::Kind::none) {
        problem.earlier = other;
        problem.access = earlier;
      }
      // A missing fence is reported once.
      if (problem.kind == Problem::Kind::unfenced_before) operations_.at(earlier.id).fenced = other.issued;
      if (problem.kind == Problem::Kind::unfenced_after) fence_after(shadow, mine.warp);
    }
    // What is in order after this one is after that one, too.
    const bool alike = !earlier.write && other.warp == mine.warp && other.lane == mine.lane &&
                       is_piped(other.kind) == is_piped(mine.kind);
    if ((access.write || alike) && covers(access.region, earlier.region)) {
      drop(known, i);
    } else {
      ++i;
    }
  }
  known.push_back(access);
  ++operations_.at(access.id).accesses;
  return problem;
}

void Tcgen05Accesses::seen(SharedShadow& shadow, uint32_t warp, Id id) {
  const Id thread = id & ((1u << thread_bits) - 1);
  const Moment moment = now(shadow, warp);
  const auto end = operations_.upper_bound(id);
  for (auto each = operations_.begin(); each != end; ++each) {
    Operation& operation = each->second;
    if (!is_piped(operation.kind) || thread_of(operation.warp, operation.lane) != thread) continue;
    if (std::none_of(operation.seen.begin(), operation.seen.end(),
                     [&](const Moment& other) { return other.warp == warp && other.life == moment.life; })) {
      operation.seen.push_back(moment);
    }
  }
}

void Tcgen05Accesses::used(SharedShadow& shadow, uint32_t warp, Id id) {
  const auto operation = operations_.find(id);
  if (strict_ || operation == operations_.end() || !operation->second.seen.empty()) return;
  end(shadow, operation->second, now(shadow, warp));
}

// The warp has waited for its load or store. In a pipeline those before it have ended, too.
void Tcgen05Accesses::end(const SharedShadow& shadow, Operation& transfer, const Moment& moment) {
  transfer.seen.push_back(moment);
  if (strict_) return;
  for (auto& [id, other] : operations_) {
    if (id >= transfer.id) break;
    if (is_transfer(other.kind) && other.quarter == transfer.quarter && other.warp != transfer.warp &&
        other.seen.empty() && is_before(shadow, other.issued, transfer.warp))
      other.seen.push_back(moment);
  }
}

void Tcgen05Accesses::waited(SharedShadow& shadow, uint32_t warp, Kind kind) {
  const Moment moment = now(shadow, warp);
  for (auto& [id, operation] : operations_) {
    if (operation.kind == kind && operation.warp == warp && operation.seen.empty())
      end(shadow, operation, moment);
  }
}

void Tcgen05Accesses::fence_before(SharedShadow& shadow, uint32_t warp) {
  if (!strict_) return;
  const Moment moment = now(shadow, warp);
  for (auto& [id, operation] : operations_) {
    const bool ready = is_piped(operation.kind) || !operation.seen.empty();
    if (operation.warp == warp && operation.fenced.count == 0 && ready) operation.fenced = moment;
  }
}

void Tcgen05Accesses::fence_after(const SharedShadow& shadow, uint32_t warp) {
  if (!strict_) return;
  Fence& fence = fences_[warp];
  fence = {++moments_, shadow.life(), {}};
  for (uint32_t v = 0; v < fences_.size(); ++v) fence.known.push_back(shadow.known_clock(warp, v));
}

void Tcgen05Accesses::forget(uint32_t rank, uint32_t column, uint32_t columns) {
  std::vector<Access>& known = accesses_[rank];
  for (size_t i = 0; i < known.size();) {
    if (overlap(known[i].region, {Tcgen05Lanes::all(), column, columns})) {
      drop(known, i);
    } else {
      ++i;
    }
  }
}

}  // namespace simulator
