#include "common/simulator/access/unfinished_copy.h"

#include <bit>

#include "common/simulator/access/mbarrier_names.h"
#include "common/simulator/access/names.h"
#include "common/simulator/access/nearest_bytes.h"
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
  const std::string group = ", in the " + of_the_newest(pending.newer()) + " group of its thread";
  if (!pending.has_waited()) return group + ", which has not waited for any";
  const std::string wait = text_of_wait(warp, pending.async.waits.pc);
  return group + (pending.issued_since() ? ": it was issued after the last wait there, " + wait
                                         : ": the last wait there, " + wait + ", leaves it in flight");
}

// These bytes have been written, and no copy is still to write them.
bool complete(const Warp& warp, uint32_t offset, uint32_t bytes) {
  const Cluster& cluster = *warp.cta->cluster;
  return !cluster.pending_copies.find(offset, bytes) && cluster.shadow.ever_written(offset, bytes);
}

// st.async, which an mbarrier counts.
std::string about_store(const Warp& warp, const PendingCopies::Copy& found) {
  for (const auto& cta : warp.cta->cluster->ctas) {
    for (const AsyncStore& store : cta->state<AsyncStores>().pending) {
      if ((async_store_number | store.number) != found.number || store.warp->in_cluster != found.warp ||
          store.lane != found.lane)
        continue;
      return "the asynchronous store by " + name_of_thread(warp, found.warp, found.lane) + " at " +
             place_of(*cta, store.pc) + " (" + std::to_string(store.bytes) +
             " bytes) is counted by the mbarrier " + name_of_mbarrier(*cta, store.mbarrier) +
             ": wait for its phase before this";
    }
  }
  return "an mbarrier counts an asynchronous store: wait for its phase before this";
}

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
  if (copy.number & async_store_number) return {about_store(warp, copy)};
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
  const bool copies_too = mine.before > 0;
  if (!own && copies_too && mine.lanes >> lane & 1 && pending.group() < mine.covered[lane]) {
    lines.push_back("this thread has waited for its own copies of that group, " +
                    name_of_thread(warp, copy.warp, copy.lane) +
                    " has not yet: a barrier must come between the wait and this");
    return lines;
  }
  const std::string needs = what_it_needs(pending, own);
  const bool group_was_left = pending.has_waited() && pending.newer() > 0;  // perhaps another was meant
  constexpr uint32_t word = 4;
  const std::string nearest =
      group_was_left && !own && use.kind == AccessKind::load
          ? nearest_bytes(warp, offset[lane], word, [&](uint32_t at) { return complete(warp, at, word); })
          : "";
  if (nearest.empty()) {
    lines.push_back(needs);
    return lines;
  }
  uint32_t lanes = 0, right = 0;
  for (uint32_t left = lanes_that_count(warp, use); left; left &= left - 1) {
    ++lanes;
    right += complete(warp, offset[std::countr_zero(left)], bytes);
  }
  lines.push_back(std::to_string(right) + " of the " + std::to_string(lanes) +
                  " lanes of this load read bytes that are complete; the nearest such bytes " + nearest);
  const std::string early =
      pending.issued_since() ? "or the copy was issued before this thread had read what was there, " : "";
  lines.push_back(right > 0
                      ? "likely the address is wrong and should be among the bytes that are complete; " +
                            early + "or " + needs
                      : needs + "; " + early + "or the address is wrong");
  return lines;
}

}  // namespace simulator
