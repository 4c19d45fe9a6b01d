#include "common/simulator/access/check_async.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/simulator/access/names.h"
#include "common/simulator/naming/mbarrier_names.h"
#include "common/simulator/units/bulk_copies.h"
#include "common/simulator/units/mbarriers.h"

namespace simulator {
namespace {

using Kind = AsyncAccesses::Problem::Kind;

// "the wgmma.mma_async of warp 4 at gemm.cu:42".
std::string name_of(const Warp& warp, const AsyncAccesses::Operation& operation) {
  const Cta& cta = *warp.cta;
  std::string text = "the ";
  const Program* program = program_at(cta, operation.pc);
  if (program && operation.pc - program->first < program->function->instructions.size()) {
    const ptx::Instruction& instruction = program->function->instructions[operation.pc - program->first];
    text += instruction.opcode;
    for (const std::string_view modifier : instruction.modifiers) {
      if (modifier == "sync" || modifier.find("::") != std::string_view::npos) break;
      text.append(1, '.').append(modifier);
    }
  }
  text += operation.lane == SharedShadow::all_lanes
              ? " of " + name_of_warp(warp, operation.warp)
              : " by " + name_of_thread(warp, operation.warp, operation.lane);
  return text + " at " + place_of(cta, operation.pc);
}

// What ends the wait for an operation; where it is another warp's, that is to come before what leads here.
// copy: which it is, if one that an mbarrier counts.
std::string what_is_missing(const Warp& warp, const AsyncAccesses::Operation& operation,
                            const BulkCopy* copy) {
  const Program* program = program_at(*warp.cta, operation.pc);
  if (!program || operation.pc - program->first >= program->function->instructions.size()) return {};
  const ptx::Instruction& instruction = program->function->instructions[operation.pc - program->first];
  const auto has = [&](std::string_view modifier) {
    return std::find(instruction.modifiers.begin(), instruction.modifiers.end(), modifier) !=
           instruction.modifiers.end();
  };
  const bool wgmma = instruction.opcode == "wgmma", stores = has("bulk_group");
  if (!wgmma && !stores) {
    const std::string mbarrier = copy ? ", " + name_of_mbarrier(*copy->counting, copy->mbarrier) + "," : "";
    return ": a wait for the phase of its mbarrier" + mbarrier + " must come before this";
  }
  const bool own = operation.warp == warp.in_cluster;
  return std::string(wgmma ? ": it needs wgmma.commit_group and wgmma.wait_group"
                           : ": it needs cp.async.bulk.commit_group and cp.async.bulk.wait_group") +
         (own ? " before this" : " before the barrier or arrival that leads here");
}

// Of bytes that have been written and that no operation is still to write.
std::string nearest_complete(const Warp& warp, uint32_t offset) {
  constexpr uint32_t chunk = 16;
  const Cluster& cluster = *warp.cta->cluster;
  return nearest_bytes(warp, offset, chunk, [&](uint32_t at) {
    const uint32_t only[32] = {at};
    return cluster.shadow.ever_written(at, chunk) &&
           cluster.async_accesses.meet(cluster.shadow, warp.in_cluster, only, 1, false).kind == Kind::none;
  });
}

// The copy that is this operation, where it is one and an mbarrier still counts it.
const BulkCopy* copy_of(const Cluster& cluster, const AsyncAccesses::Operation& operation, uint32_t offset) {
  for (const auto& cta : cluster.ctas) {
    for (const BulkCopy& copy : cta->state<BulkCopies>().arriving) {
      if (copy.warp->in_cluster == operation.warp && copy.lane == operation.lane && copy.pc == operation.pc &&
          offset - shadow_offset(*copy.cta, copy.shared) < copy.extent)
        return &copy;
    }
  }
  return nullptr;
}

}  // namespace

std::string unexpected_bytes(const BulkCopy& copy) {
  const Cta& cta = *copy.counting;
  const auto found = mbarriers_of(cta).find(copy.mbarrier);
  if (found == mbarriers_of(cta).end()) return {};
  const uint64_t phase = found->second.phase;
  if (mbarrier_of_phase(phase) != mbarrier_of_phase(copy.phase)) return {};
  MbarrierState state;
  std::memcpy(&state, cta.shared.data() + copy.mbarrier, sizeof state);
  const bool landed = copy.state == BulkCopy::State::done;
  if (landed ? phase != copy.phase || state.bytes >= 0 : phase == copy.phase) return {};
  const std::string mbarrier = "the mbarrier " + name_of_mbarrier(cta, copy.mbarrier);
  std::string text = "nothing expected its " + std::to_string(copy.bytes) + " bytes: ";
  if (!landed)
    return text + "phase " + std::to_string(number_of_phase(copy.phase)) + " of " + mbarrier +
           " is complete without them; an expect_tx must count them before the phase's last arrival";
  return text + "in phase " + std::to_string(number_of_phase(phase)) + " of " + mbarrier + ", " +
         std::to_string(-state.bytes) + " bytes have arrived that were not expected";
}

void tell_async(Warp& warp, const AsyncAccesses::Problem& problem, const std::string& what) {
  const Cta& cta = *warp.cta;
  const int lane = static_cast<int>(problem.lane);
  const std::string begin = what + ": ";
  const auto other = [&] {
    return std::string("the other ") + (problem.other.write ? "write" : "read") + " is by " +
           name_of_thread(warp, problem.other.warp, problem.other.lane) + " at " +
           place_of(cta, problem.other.pc);
  };
  switch (problem.kind) {
    case Kind::none:
      return;
    case Kind::uninitialised:
      return finding(warp, FindingKind::uninitialised, begin + "never written", lane);
    case Kind::race:
      return finding(warp, FindingKind::race, begin + "nothing orders it after another thread's access", lane,
                     {other()});
    case Kind::unfenced:
      return finding(
          warp, FindingKind::missing_fence,
          begin + "no fence.proxy.async follows a " + (problem.other.write ? "write to it" : "read of it") +
              " by a thread",
          lane, {other() + ": that thread needs the fence after it, before the barrier that leads here"});
    case Kind::operation:
      break;
  }
  const AsyncAccesses::Operation& earlier = problem.earlier;
  const std::string does = earlier.write ? " writes it" : " reads it";
  if (earlier.seen.empty()) {
    const BulkCopy* copy = copy_of(*warp.cta->cluster, earlier, problem.offset);
    std::vector<std::string> details{"it is " + name_of(warp, earlier) +
                                     what_is_missing(warp, earlier, copy)};
    if (std::string text = copy ? unexpected_bytes(*copy) : ""; !text.empty()) {
      details.push_back(std::move(text));
    } else if (copy && earlier.write) {
      const std::string nearest = nearest_complete(warp, problem.offset);
      if (!nearest.empty())
        details.push_back("or the address is wrong: the nearest bytes that are complete " + nearest);
    }
    return finding(warp, FindingKind::unfinished_async,
                   begin + "an asynchronous operation that" + does + " has not been waited for", lane,
                   std::move(details));
  }
  finding(warp, FindingKind::race, begin + "nothing orders it after an asynchronous operation that" + does,
          lane,
          {"it is " + name_of(warp, earlier) + ", for which " +
           name_of_warp(warp, earlier.seen.front().first) + " has waited; a barrier must follow"});
}

AsyncAccesses::Id async_begin(Warp& warp, uint32_t lane, bool write) {
  if (!warp.worker->checking) return 0;
  return warp.cta->cluster->async_accesses.begin(warp.in_cluster, lane,
                                                 warp.frame->program->first + warp.pc - 1, write);
}

void async_access(Warp& warp, AsyncAccesses::Id id, const uint32_t* address, uint32_t count, uint32_t bytes) {
  if (!id || !count) return;
  std::vector<uint32_t> offset(address, address + count);
  Cluster& cluster = *warp.cta->cluster;
  for (uint32_t& at : offset) at = shadow_offset(*cluster.ctas[at >> rank_shift], at & offset_in_cta);
  const AsyncAccesses::Problem problem =
      cluster.async_accesses.access(cluster.shadow, id, warp.in_cluster, offset.data(), count, bytes);
  if (problem.kind == Kind::none) return;
  const Program& program = *warp.frame->program;
  tell_async(warp, problem,
             std::string(program.function->instructions[warp.pc - 1].opcode) +
                 place_in_shared(warp, problem.offset));
}

void async_reads_fenced(Warp& warp, uint32_t lane, uint32_t address, uint32_t bytes) {
  Cluster& cluster = *warp.cta->cluster;
  const uint32_t offset = shadow_offset(*cluster.ctas[address >> rank_shift], address & offset_in_cta);
  const SharedShadow::Problem problem = cluster.shadow.unfenced_read(warp.in_cluster, lane, offset, bytes);
  if (problem.kind == SharedShadow::Problem::Kind::none) return;
  tell_async(warp, {Kind::unfenced, problem.offset, problem.lane, problem.other, {}},
             std::string(warp.frame->program->function->instructions[warp.pc - 1].opcode) +
                 place_in_shared(warp, problem.offset));
}

void async_seen(Warp& warp, AsyncAccesses::Id id) {
  Cluster& cluster = *warp.cta->cluster;
  if (id) cluster.async_accesses.seen(cluster.shadow, id, warp.in_cluster);
}

}  // namespace simulator
