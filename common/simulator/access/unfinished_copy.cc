#include "common/simulator/access/unfinished_copy.h"

#include <algorithm>
#include <bit>

#include "common/simulator/access/mbarrier_names.h"
#include "common/simulator/access/names.h"
#include "common/simulator/units/async_copies.h"
#include "common/simulator/units/async_stores.h"

namespace simulator {
namespace {

// A copy of one lane that no wait has returned for.
struct Pending {
  const Warp& owner;
  const AsyncCopies& async;
  const AsyncCopy& copy;
  uint32_t lane;
  uint64_t number;

  Pending(const Warp& warp, const PendingCopies::Copy& found)
      : owner(warp_of_cluster(*warp.cta->cluster, found.warp)),
        async(owner.state<AsyncCopies>()),
        copy(async.pending[found.number - async.first]),
        lane(found.lane),
        number(found.number) {}

  uint32_t group() const { return copy.group[lane]; }
  uint32_t newer() const { return async.committed[lane] - group(); }  // groups, and its own; 0: it is in none
  bool has_waited() const { return async.waits.lanes >> lane & 1; }
  bool issued_since() const { return number >= async.waits.before; }  // the last wait of the warp
};

std::string of_the_newest(uint32_t rank) {  // from 1
  static constexpr const char* names[] = {"newest", "second newest", "third newest"};
  return rank <= 3 ? names[rank - 1] : std::to_string(rank) + "th newest";
}

std::string text_of_wait(const Warp& warp, uint32_t pc) {
  const Program* program = program_at(*warp.cta, pc);
  const std::string_view text = program->function->instructions[pc - program->first].text;
  return std::string(text) + " at " + place_of(*warp.cta, pc);
}

std::string what_was_waited_for(const Warp& warp, const Pending& pending) {
  if (pending.newer() == 0) return ", in no group";
  const std::string group = ", in the " + of_the_newest(pending.newer()) + " group of that thread";
  if (!pending.has_waited()) return group + ", which has not waited for any";
  const std::string wait = text_of_wait(warp, pending.async.waits.pc);
  return group + (pending.issued_since() ? ": it was issued after the last wait there, " + wait
                                         : ": the last wait there, " + wait + ", leaves that in flight");
}

// Bytes of the same CTA's memory that have been written and that no copy is still to write.
class Complete {
 public:
  Complete(const Warp& warp, const uint32_t offset[32], uint32_t bytes)
      : cluster_(*warp.cta->cluster), each_(shadow_bytes(*warp.cta->grid)), offset_(offset), bytes_(bytes) {}

  uint32_t lanes(uint32_t active) const {
    uint32_t found = 0;
    for (uint32_t left = active; left; left &= left - 1)
      found |= uint32_t{is(offset_[std::countr_zero(left)], bytes_)} << std::countr_zero(left);
    return found;
  }
  // How far the nearest ones are; empty: there are none.
  std::string nearest(uint32_t lane) const {
    const uint32_t at = offset_[lane] / word * word, begin = at / each_ * each_, end = begin + each_;
    for (uint32_t away = word; at >= begin + away || at + away < end; away += word) {
      if (at >= begin + away && is(at - away, word))
        return "end " + std::to_string(offset_[lane] - (at - away + word)) + " bytes before this address";
      if (at + away < end && is(at + away, word))
        return "begin " + std::to_string(at + away - offset_[lane]) + " bytes behind this address";
    }
    return {};
  }

 private:
  static constexpr uint32_t word = 4;

  bool is(uint32_t offset, uint32_t bytes) const {
    return !cluster_.pending_copies.find(offset, bytes) && cluster_.shadow.ever_written(offset, bytes);
  }

  const Cluster& cluster_;
  const uint32_t each_;
  const uint32_t* offset_;
  const uint32_t bytes_;
};

std::string what_it_needs(const Pending& pending, bool own) {
  const uint32_t newer = pending.newer();
  std::string text = "the copy needs ";
  text += newer == 0   ? "cp.async.commit_group and cp.async.wait_group 0"
          : newer == 1 ? "cp.async.wait_group 0"
                       : "cp.async.wait_group " + std::to_string(newer - 1) + " or less";
  return text + (own ? " before this" : " in that thread, then a barrier, before this");
}

// The mbarrier that is to count it; null: there is none.
const AsyncArrival* arrival_of(const Pending& pending) {
  for (const std::vector<AsyncArrival>* arrivals : {&pending.async.arriving, &pending.async.arrived}) {
    for (const AsyncArrival& arrival : *arrivals) {
      if (arrival.lanes >> pending.lane & 1 && pending.number < arrival.before) return &arrival;
    }
  }
  return nullptr;
}

}  // namespace

std::string name_of_copy(const Warp& warp, uint32_t by, uint32_t lane, uint32_t pc) {
  return "the copy by " + name_of_thread(warp, by, lane) + " at " + place_of(*warp.cta, pc);
}

std::vector<std::string> about_unfinished_copy(const Warp& warp, uint32_t lane, const uint32_t offset[32],
                                               uint32_t bytes, const AddressUse& use,
                                               const PendingCopies::Copy& copy) {
  if (copy.number & async_store_number)
    return {name_of_store(warp, copy) + " is counted by an mbarrier: wait for its phase before this"};
  const Pending pending(warp, copy);
  const std::string name = name_of_copy(warp, copy.warp, copy.lane, pending.copy.pc) + " (" +
                           std::to_string(pending.copy.bytes) + " bytes)";
  if (const AsyncArrival* arrival = arrival_of(pending)) {
    return {name + " is counted by the mbarrier " + name_of_mbarrier(*pending.owner.cta, arrival->mbarrier) +
            ": wait for its phase before this"};
  }
  if (!(pending.owner.live >> copy.lane & 1)) return {name + " was never waited for: that thread has exited"};

  const bool own = copy.warp == warp.in_cluster && copy.lane == lane;
  std::vector<std::string> lines{"it is " + name + what_was_waited_for(warp, pending)};
  const AsyncWaits& mine = warp.state<AsyncCopies>().waits;
  if (!own && mine.lanes >> lane & 1 && pending.group() < mine.covered[lane]) {
    lines.push_back("this thread has waited for its own copies of that group, " +
                    name_of_thread(warp, copy.warp, copy.lane) +
                    " has not yet: a barrier must come between the wait and this");
    return lines;
  }
  const std::string needs = what_it_needs(pending, own);
  const bool group_was_left = pending.has_waited() && pending.newer() > 0;  // perhaps another was meant
  const Complete complete(warp, offset, bytes);
  const std::string nearest =
      group_was_left && !own && use.kind == AccessKind::load ? complete.nearest(lane) : "";
  if (nearest.empty()) {
    lines.push_back(needs);
    return lines;
  }
  const uint32_t active = lanes_that_count(warp, use);
  const int right = std::popcount(complete.lanes(active));
  lines.push_back(std::to_string(right) + " of the " + std::to_string(std::popcount(active)) +
                  " lanes of this load read bytes that are complete; the nearest such bytes " + nearest);
  const std::string early =
      pending.issued_since() ? "or the copy was issued before this thread had read what was there, " : "";
  lines.push_back(right > 0 ? "likely the address is wrong, and meant are bytes that are complete; " + early +
                                  "or " + needs
                            : needs + "; " + early + "or the address is wrong");
  return lines;
}

}  // namespace simulator
