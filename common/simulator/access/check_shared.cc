#include "common/simulator/access/check_shared.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "common/simulator/access/check_async.h"
#include "common/simulator/access/names.h"
#include "common/simulator/access/written.h"
#include "common/simulator/naming/mbarrier_names.h"
#include "common/simulator/units/async_copies.h"
#include "common/simulator/units/async_stores.h"

namespace simulator {
namespace {

// Some thread's copy, and where it was issued.
std::string name_of_copy(const Warp& warp, uint32_t by, uint32_t lane, uint32_t pc) {
  return "the copy by " + name_of_thread(warp, by, lane) + " at " + place_of(*warp.cta, pc);
}

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

// The lane's access, `bytes` at offset[lane], meets this copy: which it is, what its thread has waited for
// and, of a load, how far from the address there are bytes that are complete; then what is to be done, the
// likeliest first.
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

bool is_copy(const Cta& cta, uint32_t pc) {
  const Program* program = program_at(cta, pc);
  return program && pc - program->first < program->function->instructions.size() &&
         program->function->instructions[pc - program->first].opcode == "cp";
}

std::string other_side(const Warp& warp, const SharedShadow::Access& other, uint32_t offset) {
  const Cta& cta = *warp.cta;
  if (!other.write || !is_copy(cta, other.pc)) {
    return std::string("the other ") + (other.write ? "write" : "read") + " is by " +
           name_of_thread(warp, other.warp, other.lane) + " at " + place_of(cta, other.pc);
  }
  const auto pending = cta.cluster->pending_copies.find(offset, 1);
  const bool waited_for = !pending || pending->warp != other.warp || pending->lane != other.lane;
  return "the other write is " + name_of_copy(warp, other.warp, other.lane, other.pc) +
         (waited_for ? ", for which that thread has waited; a barrier must follow" : ", which is under way");
}

// A store by a line of the program races with another one by that line: rather than that a barrier is
// missing, two threads have computed one address.
bool of_one_line(const Warp& warp, uint32_t pc, const SharedShadow::Access& other) {
  return other.write && !other.atomic &&
         (other.pc == pc || place_of(*warp.cta, other.pc) == place_of(*warp.cta, pc));
}

void tell_of_one_line(Warp& warp, const uint32_t offset[32], uint32_t bytes, uint32_t pc,
                      const SharedShadow::Problem& problem, const std::string& what) {
  const SharedShadow::Access& other = problem.other;
  const char* same = is_copy(*warp.cta, pc) ? "one destination was computed for two copies"
                                            : "one address was computed for two stores";
  const int lane = static_cast<int>(problem.lane);
  if (other.pc == pc && other.warp == warp.in_cluster && problem.offset - offset[other.lane] < bytes) {
    const auto [first, second] = std::minmax(other.lane, problem.lane);
    return finding(warp, FindingKind::race,
                   what + ": lanes " + std::to_string(first) + " and " + std::to_string(second) +
                       " of this instruction write different values there",
                   lane, {same});
  }
  finding(warp, FindingKind::race,
          what + ": two threads write there by this line, and nothing orders the two", lane,
          {"the other write is by " + name_of_thread(warp, other.warp, other.lane),
           std::string("likely ") + same +
               "; or they belong to different iterations, and a barrier must come between"});
}

void check_copies(Warp& warp, const uint32_t offset[32], uint32_t bytes, const AddressUse& use) {
  const PendingCopies& copies = warp.cta->cluster->pending_copies;
  if (!copies.may_meet(offset)) return;
  for (uint32_t left = lanes_that_count(warp, use); left; left &= left - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(left));
    const auto copy = copies.find(offset[lane], bytes);
    if (!copy) continue;
    return finding(
        warp, FindingKind::unfinished_copy,
        attempt_in_shared(warp, use.kind, bytes, offset[lane]) + ": a copy to it has not been waited for",
        static_cast<int>(lane), about_unfinished_copy(warp, lane, offset, bytes, use, *copy));
  }
}

// Conflicts with bulk copies and wgmma.
void check_async(Warp& warp, const uint32_t offset[32], uint32_t bytes, const AddressUse& use) {
  Cluster& cluster = *warp.cta->cluster;
  if (!cluster.async_accesses.any()) return;
  const AsyncAccesses::Problem problem = cluster.async_accesses.meet(
      cluster.shadow, warp.in_cluster, offset, lanes_that_count(warp, use), use.kind != AccessKind::load);
  if (problem.kind != AsyncAccesses::Problem::Kind::none)
    tell_async(warp, problem, attempt_in_shared(warp, use.kind, bytes, problem.offset));
}

// The lanes of an atomic operation which find nothing there. (An atomic of a byte is made of one of the word
// around it, whose other bytes need not have been written.)
uint32_t lanes_at_unwritten(const Warp& warp, const uint32_t offset[32], uint32_t bytes,
                            const AddressUse& use) {
  const SharedShadow& shadow = warp.cta->cluster->shadow;
  uint32_t found = 0;
  for (uint32_t left = lanes_that_count(warp, use); left; left &= left - 1) {
    const int l = std::countr_zero(left);
    bool written = false;
    for (uint32_t b = 0; b < bytes && !written; ++b) written = shadow.ever_written(offset[l] + b, 1);
    found |= uint32_t{!written} << l;
  }
  return found;
}

}  // namespace

void check_shared(Warp& warp, const uint32_t offset[32], uint32_t bytes, const AddressUse& use,
                  const std::byte* values, bool same) {
  const AccessKind kind = use.kind;
  const bool of_parts = kind == AccessKind::atomic && bytes > warp.cta->cluster->shadow.granule();
  const uint32_t unwritten = of_parts ? lanes_at_unwritten(warp, offset, bytes, use) : 0;
  const SharedShadow::Problem problem = warp.cta->cluster->shadow.access(
      warp.in_cluster, warp.frame->program->first + warp.pc - 1, offset, lanes_that_count(warp, use), bytes,
      kind != AccessKind::load, use.strong, values);
  if (problem.kind == SharedShadow::Problem::Kind::none) {
    check_copies(warp, offset, bytes, use);
    return check_async(warp, offset, bytes, use);
  }
  // The toolkit's own protocol: it synchronises, but is not itself free of races.
  const uint32_t scratch = warp.cta->grid->kernel->group_scratch;
  const uint32_t each = shadow_bytes(*warp.cta->grid);
  if (scratch && problem.offset % each + shared_reserved - scratch < group_scratch_bytes) return;
  const std::string what = attempt_in_shared(warp, kind, bytes, problem.offset);
  const int lane = static_cast<int>(problem.lane);
  if (problem.kind == SharedShadow::Problem::Kind::uninitialised) {
    if ((of_parts && !unwritten) || use.finds_anything) return;
    if (kind != AccessKind::load)
      return finding(warp, FindingKind::uninitialised, what + ": never written", lane);
    SharedShadow& shadow = warp.cta->cluster->shadow;
    for (uint32_t left = lanes_that_count(warp, use); left; left &= left - 1) {
      const int l = std::countr_zero(left);
      const int64_t at = offset[l], begin = at / each * each;  // of the CTA's memory
      const auto written = [&](int32_t i) {
        return at + i >= begin && at + i < begin + each &&
               shadow.ever_written(static_cast<uint32_t>(at + i), 1);
      };
      if (reads_unwritten(warp, l, bytes, use, written)) {
        return finding(warp, FindingKind::uninitialised,
                       attempt_in_shared(warp, kind, bytes, offset[l]) + ": never written", l);
      }
      uint32_t missing = 0;  // access() takes it for written now: not reported again
      for (uint32_t b = 0; b < bytes; ++b)
        missing |= static_cast<uint32_t>(!written(static_cast<int32_t>(b))) << b;
      shadow.unwrite(offset[l], bytes, missing & use.carried.bytes);
    }
    return;
  }
  if (same && problem.other.write) return;  // whichever comes last, the value is the same
  const uint32_t pc = warp.frame->program->first + warp.pc - 1;
  if (kind == AccessKind::store && of_one_line(warp, pc, problem.other))
    return tell_of_one_line(warp, offset, bytes, pc, problem, what);
  std::vector<std::string> details{other_side(warp, problem.other, problem.offset)};
  if (std::string met = mixed_barrier(warp, problem.other.warp); !met.empty())
    details.push_back(std::move(met));
  finding(warp, FindingKind::race, what + ": nothing orders it after another thread's access", lane,
          std::move(details));
}

}  // namespace simulator
