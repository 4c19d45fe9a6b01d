#include "common/simulator/instructions/mma/wgmma.h"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "common/simulator/access/check_async.h"
#include "common/simulator/counters/counts.h"
#include "common/simulator/counters/trace.h"
#include "common/simulator/decode/warp_matrix.h"
#include "common/simulator/instructions/mma/opcodes.h"
#include "common/simulator/instructions/mma/wgmma_product.h"
#include "common/simulator/settings/settings.h"
#include "common/simulator/tensor_core/shared_matrix.h"
#include "common/simulator/units/overlap.h"
#include "common/simulator/units/wgmma_queue.h"

namespace simulator {
namespace {

constexpr uint32_t all_warps = (1u << warpgroup_warps) - 1;

Warpgroup& warpgroup_of(const Warp& warp) {
  return warp.cta->state<Warpgroups>().all[warp.index / warpgroup_warps];
}
const WgmmaUse& use_of(const Inst& inst) {
  return *static_cast<const WgmmaUse*>(inst.data);
}
WgmmaOperation& operation(Warpgroup& group, uint64_t number) {
  return group.operations[number - group.first];
}

// Have all warps issued the operations below this number?
bool all_asked(const Warpgroup& group, uint64_t end) {
  return end <= group.first || group.operations[end - 1 - group.first].issued == all_warps;
}

void land(Warp& warp, Warpgroup& group, uint64_t end) {
  for (; group.landed < end; ++group.landed) {
    const WgmmaOperation& next = operation(group, group.landed);
    if (!multiply(next, use_of(*next.inst), warp.cta->shared.data())) {
      fault(warp, FindingKind::illegal_instruction,
            "the wgmma.mma_async at " + place_of(*warp.cta, next.pc) +
                " has sparsity metadata that name no two elements of four (tf32: no one of two)");
    }
    ++warp.worker->events;
    ++warp.writes;
  }
}

// Forgets operations that every warp has waited for.
void drop_finished(Cta& cta, uint32_t index) {
  Warpgroup& group = cta.state<Warpgroups>().all[index];
  uint64_t end = group.landed;
  for (uint32_t w = 0; w < warpgroup_warps; ++w) {
    const Warp& warp = cta.warps[index * warpgroup_warps + w];
    if (warp.live) end = std::min(end, warp.state<WgmmaQueue>().waited);
  }
  for (; group.first < end; ++group.first) group.operations.pop_front();
}

// ---- Registers

std::string place(const Warp& warp, const WgmmaOperation& of) {
  return place_of(*warp.cta, of.pc);
}

// What has to come before the warp may look at what this operation uses.
std::string missing_wait(const Warp& warp, uint64_t number) {
  const auto& groups = warp.state<WgmmaQueue>().groups;
  const auto group = std::find_if(groups.begin(), groups.end(), [&](uint64_t end) { return number < end; });
  if (group == groups.end()) return "it needs wgmma.commit_group and wgmma.wait_group 0 before this";
  const auto newer = groups.end() - group - 1;
  return "it needs wgmma.wait_group " + std::to_string(newer) + (newer ? " or less" : "") + " before this";
}

void tell_pending(Warp& warp, const WgmmaRegister& use) {
  const WgmmaOperation& of = operation(warpgroup_of(warp), use.operation - 1);
  finding(warp, FindingKind::unfinished_async,
          std::string("a register that holds ") + (use.factor ? "A" : "D") +
              " of a wgmma.mma_async that has not been waited for",
          -1, {"it is that at " + place(warp, of) + ": " + missing_wait(warp, use.operation - 1)});
}

void report_unfenced(Warp& warp) {
  finding(warp, FindingKind::missing_fence,
          warp.state<WgmmaQueue>().fences
              ? "a register of this wgmma.mma_async was accessed with no wgmma.fence since"
              : "no wgmma.fence comes before the first wgmma.mma_async");
}

// The warp's next operation is going to use these registers.
void use_registers(Warp& warp, const Inst& inst) {
  const WgmmaUse& use = use_of(inst);
  const uint64_t waited = warp.state<WgmmaQueue>().waited;
  bool unfenced = warp.state<WgmmaQueue>().fences == 0;
  const WgmmaRegister* pending = nullptr;
  const uint32_t results = use.results(), count = results + (use.a_in_registers ? 4 : 0);
  for (uint32_t i = 0; i < count; ++i) {
    WgmmaRegister& each = warp.frame->state<WgmmaRegisters>().at[inst.list[i] / 64];
    const bool factor = i >= results;
    unfenced |= each.touched == warp.state<WgmmaQueue>().fences + 1;
    if (each.operation > waited) {
      const bool in_order = factor == each.factor && (factor || use.same_results(use_of(*each.inst)));
      if (!in_order && !pending) pending = &each;
    }
    if (pending == &each && !warp.frame->program->module->debug) tell_pending(warp, each);
    each = {warp.state<WgmmaQueue>().issued + 1, &inst, factor, 0};
  }
  if (unfenced) report_unfenced(warp);
}

// ---- The instructions

void check_bounds(Warp& warp, const std::vector<uint32_t>& chunks, const char* name) {
  const uint32_t end = warp.cta->grid->shared_bytes;
  for (const uint32_t at : chunks) {
    if (at >= shared_reserved && at + 16 <= end) continue;
    char text[160];
    std::snprintf(
        text, sizeof text,
        "wgmma.mma_async reads 16 bytes of %s at 0x%x of shared memory, which lies from 0x%x to 0x%x", name,
        at, shared_reserved, end);
    fault(warp, FindingKind::shared_out_of_bounds, text);
  }
}

void check_pattern(Warp& warp, const MatrixDescriptor& descriptor, const char* name) {
  const std::string problem = misplaced_pattern(descriptor);
  if (problem.empty()) return;
  finding(warp, FindingKind::illegal_instruction,
          std::string("the descriptor of ") + name + ": " + problem + " (PTX ISA 9.7.15.5.1.2.2)");
}

WgmmaOperation begin(Warp& warp, const Inst& inst, const uint64_t matrix[2], bool accumulate) {
  const WgmmaUse& use = use_of(inst);
  WgmmaOperation made;
  made.inst = &inst;
  made.pc = warp.frame->program->first + warp.pc - 1;
  made.accumulate = accumulate;
  for (uint32_t i = 0; i < 2; ++i) {
    made.matrix[i] = matrix[i];
    if (i == 0 && use.a_in_registers) continue;
    const WgmmaElement& element = i ? *use.b : *use.a;
    const uint32_t per = 128 / bits_of(element), mn = i ? use.n : 64;
    const uint32_t k = i == 0 && use.sparse ? use.k / 2 : use.k;
    const bool mn_major = use.mn_major[i];
    const MatrixDescriptor descriptor(matrix[i]);
    made.chunks[i] = chunks_of(descriptor, mn_major, mn_major ? mn / per : mn, mn_major ? k : k / per);
    if (warp.worker->checking && settings().strict) check_pattern(warp, descriptor, i ? "B" : "A");
    check_bounds(warp, made.chunks[i], i ? "B" : "A");
    for (uint32_t& at : made.chunks[i]) at |= warp.cta->rank << rank_shift;
  }
  if (warp.worker->counting) {
    Counts& counts = warp.worker->counts[made.pc];
    const uint64_t bytes = 16 * (made.chunks[0].size() + made.chunks[1].size());
    ++counts.requests;
    counts.bytes += bytes;
    // Nsight Compute counts its operands as if they lay in whole rows of banks, whatever their layout.
    counts.wavefronts += bytes / 128;
    counts.ideal_wavefronts += bytes / 128;
  }
  made.id = async_begin(warp, SharedShadow::all_lanes, false);
  return made;
}

// All lanes of the warp have the same value there.
uint64_t uniform(Warp& warp, uint32_t offset, const char* name) {
  const uint64_t* values = warp.reg<uint64_t>(offset);
  for (int l = 1; l < warp_size; ++l) {
    if (values[l] != values[0]) {
      fault(warp, FindingKind::illegal_instruction, std::string("the lanes have different ") + name, l);
    }
  }
  return values[0];
}

// How many operations come before those of the newest `imm` groups.
uint64_t waited_for(const Warp& warp, const Inst& inst) {
  const auto& groups = warp.state<WgmmaQueue>().groups;
  return groups.size() <= inst.imm ? warp.state<WgmmaQueue>().waited : groups[groups.size() - 1 - inst.imm];
}

}  // namespace

void run_wgmma_multiply(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  const WgmmaUse& use = use_of(inst);
  Cta& cta = *warp.cta;
  const uint32_t index = warp.index / warpgroup_warps, mine = warp.index % warpgroup_warps;
  if ((index + 1) * warpgroup_warps > cta.warps.size()) {
    fault(warp, FindingKind::illegal_instruction,
          "wgmma.mma_async by a warpgroup of fewer than four warps: the CTA has " +
              std::to_string(cta.warps.size()));
  }
  const uint64_t matrix[2] = {use.a_in_registers ? 0 : uniform(warp, inst.a, "descriptors of A"),
                              uniform(warp, inst.b, "descriptors of B")};
  const uint32_t scale = warp.pred(inst.c) ^ (use.scale_negated ? ~0u : 0);
  if (scale != 0 && scale != ~0u) {
    fault(warp, FindingKind::illegal_instruction, "the lanes have different scale-d");
  }
  if (warp.worker->checking) use_registers(warp, inst);
  overlap_issue(warp, Groups::products);
  const auto& committed = warp.state<WgmmaQueue>().groups;
  const uint64_t begun = warp.state<WgmmaQueue>().issued;
  if (mine == 0 && begun == (committed.empty() ? warp.state<WgmmaQueue>().waited : committed.back()))
    overlap_begin(warp, index, begun);
  Warpgroup& group = cta.state<Warpgroups>().all[index];
  const uint64_t number = warp.state<WgmmaQueue>().issued++;
  if (number == group.first + group.operations.size()) {
    group.operations.push_back(begin(warp, inst, matrix, scale != 0));
  }
  WgmmaOperation& next = operation(group, number);
  const char* differs = next.inst != &inst                ? "another wgmma.mma_async"
                        : next.matrix[0] != matrix[0]     ? "another descriptor of A"
                        : next.matrix[1] != matrix[1]     ? "another descriptor of B"
                        : next.accumulate != (scale != 0) ? "another scale-d"
                                                          : nullptr;
  if (differs) {
    fault(warp, FindingKind::illegal_instruction,
          "all warps of a warpgroup have to execute the same wgmma.mma_async, but another one has " +
              std::string(differs) + ", at " + place(warp, next));
  }
  next.issued |= 1u << mine;
  next.registers[mine] = warp.registers;
  next.frame[mine] = warp.frame;
  if (use.sparse) {
    std::copy_n(warp.reg<uint32_t>(inst.d), warp_size, next.metadata[mine].begin());
  }
  const auto& [a, b] = next.chunks;
  const uint32_t own = static_cast<uint32_t>(a.size() / warpgroup_warps);
  async_access(warp, next.id, a.data() + mine * own, own, 16);
  async_access(warp, next.id, b.data(), static_cast<uint32_t>(b.size()), 16);
}

void run_wgmma_fence(Warp& warp, const Inst& inst) {
  if (whole_warp(warp, inst)) ++warp.state<WgmmaQueue>().fences;
}

void run_wgmma_commit(Warp& warp, const Inst& inst) {
  if (whole_warp(warp, inst)) warp.state<WgmmaQueue>().groups.push_back(warp.state<WgmmaQueue>().issued);
}

void run_wgmma_wait(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  WgmmaQueue& queue = warp.state<WgmmaQueue>();
  const uint64_t end = waited_for(warp, inst);
  const uint32_t before = static_cast<uint32_t>(queue.groups.size());
  if (end > queue.waited) {
    Warpgroup& group = warpgroup_of(warp);
    if (!all_asked(group, end)) return warp.wait(Group::State::blocked, warp.pc - 1);
    land(warp, group, end);
    for (uint64_t number = queue.waited; number < end; ++number)
      async_seen(warp, operation(group, number).id);
    queue.waited = end;
    drop_finished(*warp.cta, warp.index / warpgroup_warps);
  }
  while (queue.groups.size() > inst.imm) queue.groups.pop_front();
  overlap_wait(warp, Groups::products, before, static_cast<uint32_t>(queue.groups.size()));
  overlap_end(warp, warp.cta->rank, warp.index / warpgroup_warps, queue.waited, false);
}

namespace {

// The registers of some wgmma that the instruction before warp.pc is going to access.
template <class F>
void each_watched(Warp& warp, const Inst& inst, F f) {
  uint32_t lanes = warp.exec;
  if (inst.guard) lanes &= inst.guard_negated ? ~warp.pred(inst.guard) : warp.pred(inst.guard);
  if (!lanes) return;
  for (const uint32_t offset : warp.frame->program->watched[warp.pc - 1].registers) {
    f(warp.frame->state<WgmmaRegisters>().at[offset / 64]);
  }
}

void run_unwatched(Warp& warp, const Inst& inst) {
  warp.frame->program->watched[warp.pc - 1].run(warp, inst);
}

void land_wgmma_at_random(Warp& warp, uint64_t random) {
  Warpgroup& group = warpgroup_of(warp);
  uint64_t end = group.landed;
  while (end < group.first + group.operations.size() && all_asked(group, end + 1) && random >> 60 < 12) {
    ++end;
    random = random * 6364136223846793005u + 1442695040888963407u;
  }
  land(warp, group, end);
}

void forget_wgmma_registers(Warp& warp, const Frame* frame) {
  const uint32_t mine = warp.index % warpgroup_warps;
  for (WgmmaOperation& each : warpgroup_of(warp).operations) {
    if (!frame || each.frame[mine] == frame) each.registers[mine] = nullptr;
  }
}

// What the warp waits for, which is at a wgmma.wait_group; empty: nothing.
std::string awaited(const Warp& warp, const Inst& inst) {
  const Warpgroup& group = warpgroup_of(warp);
  const uint64_t end = waited_for(warp, inst);
  if (end <= group.first) return {};
  const WgmmaOperation& last = group.operations[end - 1 - group.first];
  std::string text = "wait for the wgmma.mma_async at " + place(warp, last) + ", which warps";
  for (uint32_t w = 0; w < warpgroup_warps; ++w) {
    if (!(last.issued >> w & 1))
      text += " " + std::to_string(warp.index / warpgroup_warps * warpgroup_warps + w);
  }
  return text + " of their warpgroup have not executed";
}

class WgmmaUnit final : public Unit {
  void start(Cta& cta) override {
    cta.make<Warpgroups>().all.assign((cta.warps.size() + warpgroup_warps - 1) / warpgroup_warps, {});
    for (Warp& warp : cta.warps) warp.make<WgmmaQueue>() = {};
  }
  void begin(Frame& frame) override {
    if (&frame.program->watch->unit == this)
      frame.make<WgmmaRegisters>().at.assign(frame.program->frame_bytes / 64, {});
  }
  void forget(Warp& warp, const Frame* frame) override {
    if (pending(warp)) forget_wgmma_registers(warp, frame);
  }
  bool pending(const Warp& warp) const override {
    return warp.state<WgmmaQueue>().issued != warp.state<WgmmaQueue>().waited;
  }
  void land_at_random(Warp& warp, uint64_t random) override { land_wgmma_at_random(warp, random); }
  std::string waits(const Warp& warp, const Group& group) const override {
    const Program& program = *group.frame->program;
    if (program.code[group.pc].inner != run_wgmma_wait) return {};
    const std::string what = awaited(warp, program.code[group.pc]);
    if (what.empty()) return {};
    return lanes_text(group.lanes) + " at " +
           source_of(*group.frame, group.pc, std::countr_zero(group.lanes)) + " " + what;
  }
};

}  // namespace

// Compilers put moves where they like: zeroes behind a wgmma.fence, copies between products. ptxas then waits
// where it has to, and so do we.
void run_watched_move(Warp& warp, const Inst& inst) {
  uint64_t end = 0;
  each_watched(warp, inst, [&](const WgmmaRegister& each) { end = std::max(end, each.operation); });
  Warpgroup* group = end > warp.state<WgmmaQueue>().waited ? &warpgroup_of(warp) : nullptr;
  if (group && !all_asked(*group, end)) return warp.wait(Group::State::blocked, warp.pc - 1);
  if (group) land(warp, *group, end);
  run_unwatched(warp, inst);
}

// A debug build stores every register right behind the instruction that writes it, and ptxas waits for it
// there.
void run_watched(Warp& warp, const Inst& inst) {
  if (warp.frame->program->module->debug) return run_watched_move(warp, inst);
  if (warp.worker->checking) {
    each_watched(warp, inst, [&](WgmmaRegister& each) {
      if (each.operation > warp.state<WgmmaQueue>().waited) return tell_pending(warp, each);
      each.touched = warp.state<WgmmaQueue>().fences + 1;
    });
  }
  run_unwatched(warp, inst);
}

Unit& wgmma_unit() {
  static WgmmaUnit unit;
  return unit;
}

}  // namespace simulator
