#include "common/simulator/access/check_shared.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "common/simulator/access/check_async.h"
#include "common/simulator/access/names.h"
#include "common/simulator/access/unfinished_copy.h"
#include "common/simulator/access/written.h"

namespace simulator {
namespace {

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
    if (of_parts && !unwritten) return;
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
