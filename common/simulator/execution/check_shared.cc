#include "common/simulator/execution/check_shared.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <vector>

#include "common/simulator/execution/check_async.h"

namespace simulator {
namespace {

// Some thread's copy, and where it was asked for.
std::string name_of_copy(const Cta& cta, uint32_t warp, uint32_t lane, uint32_t pc) {
  return "the copy by thread " + thread_name(cta, warp * warp_size + lane) + " at " + place_of(cta, pc);
}

bool is_copy(const Cta& cta, uint32_t pc) {
  const Program* program = program_at(cta, pc);
  return program && pc - program->first < program->function->instructions.size() &&
         program->function->instructions[pc - program->first].opcode == "cp";
}

std::string other_side(const Cta& cta, const SharedShadow::Access& other, uint32_t offset) {
  if (!other.write || !is_copy(cta, other.pc)) {
    return std::string("the other ") + (other.write ? "write" : "read") + " is by thread " +
           thread_name(cta, other.warp * warp_size + other.lane) + " at " + place_of(cta, other.pc);
  }
  const auto pending = cta.pending_copies.find(offset, 1);
  const bool waited_for = !pending || pending->warp != other.warp || pending->lane != other.lane;
  return "the other write is " + name_of_copy(cta, other.warp, other.lane, other.pc) +
         (waited_for ? ", for which that thread has waited; a barrier must follow" : ", which is under way");
}

// What must come before this thread's access.
std::string what_is_missing(const Warp& warp, uint32_t lane, const PendingCopies::Copy& found) {
  const Cta& cta = *warp.cta;
  const Warp& owner = cta.warps[found.warp];
  const AsyncCopies& async = owner.async;
  const AsyncCopy& copy = async.pending[found.number - async.first];
  const bool own = found.warp == warp.index && found.lane == lane;
  const uint32_t newer = async.committed[found.lane] - copy.group[found.lane];  // groups, and its own
  const auto counts_it = [&](const AsyncArrival& arrival) {
    return arrival.lanes >> found.lane & 1 && found.number < arrival.before;
  };
  const bool at_mbarrier = std::any_of(async.arriving.begin(), async.arriving.end(), counts_it) ||
                           std::any_of(async.arrived.begin(), async.arrived.end(), counts_it);
  std::string text =
      name_of_copy(cta, found.warp, found.lane, copy.pc) + " (" + std::to_string(copy.bytes) + " bytes) ";
  if (at_mbarrier) return text + "is counted by an mbarrier: wait for its phase before this";
  if (!(owner.live >> found.lane & 1)) return text + "was never waited for: that thread has exited";
  text += newer == 0   ? "is in no group: it needs cp.async.commit_group and cp.async.wait_group 0"
          : newer == 1 ? "needs cp.async.wait_group 0"
                       : "needs cp.async.wait_group " + std::to_string(newer - 1) + " or less";
  return text + (own ? " before this" : " in that thread, then a barrier, before this");
}

void check_copies(Warp& warp, const uint32_t offset[32], uint32_t bytes, const AddressUse& use) {
  if (!warp.cta->pending_copies.may_meet(offset)) return;
  for (uint32_t left = lanes_that_count(warp, use); left; left &= left - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(left));
    const auto copy = warp.cta->pending_copies.find(offset[lane], bytes);
    if (!copy) continue;
    return finding(warp, FindingKind::unfinished_copy,
                   attempt(use.kind, bytes, offset[lane] + shared_reserved) +
                       " of shared memory: a copy to it has not been waited for",
                   static_cast<int>(lane), {what_is_missing(warp, lane, *copy)});
  }
}

// In bulk copies' and wgmma's way, or they in ours.
void check_async(Warp& warp, const uint32_t offset[32], uint32_t bytes, const AddressUse& use) {
  Cta& cta = *warp.cta;
  if (!cta.async_accesses.any()) return;
  const AsyncAccesses::Problem problem = cta.async_accesses.meet(
      cta.shadow, warp.index, offset, lanes_that_count(warp, use), use.kind != AccessKind::load);
  if (problem.kind != AsyncAccesses::Problem::Kind::none)
    tell_async(warp, problem, attempt(use.kind, bytes, problem.offset + shared_reserved));
}

}  // namespace

std::string attempt(AccessKind kind, uint32_t bytes, uint64_t address) {
  static constexpr const char* doing[] = {"load", "store", "atomic operation"};
  char text[64];
  std::snprintf(text, sizeof text, "%s of %u byte%s at 0x%llx", doing[static_cast<int>(kind)], bytes,
                bytes == 1 ? "" : "s", static_cast<unsigned long long>(address));
  return text;
}

void check_shared(Warp& warp, const uint32_t offset[32], uint32_t bytes, const AddressUse& use,
                  const std::byte* values) {
  const AccessKind kind = use.kind;
  const SharedShadow::Problem problem = warp.cta->shadow.access(
      warp.index, warp.frame->program->first + warp.pc - 1, offset, lanes_that_count(warp, use), bytes,
      kind != AccessKind::load, use.strong, values);
  if (problem.kind == SharedShadow::Problem::Kind::none) {
    check_copies(warp, offset, bytes, use);
    return check_async(warp, offset, bytes, use);
  }
  // The toolkit's own protocol: it synchronises, but is not itself free of races.
  const uint32_t scratch = warp.cta->grid->kernel->group_scratch;
  if (scratch && problem.offset + shared_reserved - scratch < group_scratch_bytes) return;
  const std::string what = attempt(kind, bytes, problem.offset + shared_reserved) + " of shared memory";
  const int lane = static_cast<int>(problem.lane);
  if (problem.kind == SharedShadow::Problem::Kind::uninitialised) {
    if (kind != AccessKind::load)
      return finding(warp, FindingKind::uninitialised, what + ": never written", lane);
    // As in reads_unwritten().
    const uint32_t element = use.element ? use.element : bytes;
    for (uint32_t left = lanes_that_count(warp, use); left; left &= left - 1) {
      const int l = std::countr_zero(left);
      for (uint32_t begin = 0; begin < bytes; begin += element) {
        if ((use.used >> begin & ((uint64_t{1} << element) - 1)) == 0) continue;
        if (warp.cta->shadow.ever_written(offset[l] + begin, element)) continue;
        return finding(warp, FindingKind::uninitialised,
                       attempt(kind, bytes, offset[l] + shared_reserved) + " of shared memory: never written",
                       l);
      }
    }
    return;
  }
  finding(warp, FindingKind::race, what + ": nothing orders it after another thread's access", lane,
          {other_side(*warp.cta, problem.other, problem.offset)});
}

}  // namespace simulator
