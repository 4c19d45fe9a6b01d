#include "common/simulator/units/register_pool.h"

#include <algorithm>
#include <bit>
#include <string>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/instructions/control/opcodes.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

constexpr uint32_t group_warps = 4;

using ptx::Operand;
using Step = RegisterPool::Step;

[[noreturn]] void misuse(Warp& warp, const std::string& what, int lane = -1) {
  fault(warp, FindingKind::illegal_instruction, "setmaxnreg " + what, lane);
}

// The warp comes to its next setmaxnreg, together with its warpgroup. The PTX ISA requires the same
// instruction in all four; CUTLASS's attention kernels give each warp its own, and not all of them the same
// number.
void take_step(Warp& warp) {
  RegisterPool& pool = warp.cta->state<RegisterPool>();
  SharedShadow& shadow = warp.cta->cluster->shadow;
  const uint32_t first = warp.index / group_warps * group_warps;
  const uint32_t end = std::min(first + group_warps, static_cast<uint32_t>(warp.cta->warps.size()));
  std::vector<Step>& steps = pool.steps[warp.index / group_warps];
  const uint32_t number = pool.done[warp.index]++;
  const uint32_t pc = warp.frame->program->first + warp.pc - 1;
  if (number == steps.size()) steps.push_back({pc});
  if (steps[number].pc != pc && warp.worker->checking && settings().strict) {
    misuse(warp, "by some warps of warpgroup " + std::to_string(first / group_warps) +
                     ", while others execute the one at " + place_of(*warp.cta, steps[number].pc));
  }
  for (uint32_t other = first; other < end && number > 0; ++other) {
    const uint32_t before = steps[number - 1].clock[other - first];
    const uint32_t by = warp.cta->warps[other].in_cluster;
    if (before != 0 && (!warp.worker->checking || shadow.knows(warp.in_cluster, by, before))) continue;
    misuse(warp, "follows the one at " + place_of(*warp.cta, steps[number - 1].pc) +
                     " without a barrier of the warpgroup between: warp " + std::to_string(other) +
                     " may not have executed that");
  }
  steps[number].clock[warp.index - first] = warp.worker->checking ? shadow.clock_of_warp(warp.in_cluster) : 1;
}

// imm: registers; extra: not 0: .inc
void run_set(Warp& warp, const Inst& inst) {
  if (!warp.enter_guard(inst)) return;
  if (warp.exec != warp.live) return warp.wait(Group::State::convergence, warp.pc - 1);
  const uint32_t at_entry = warp.cta->grid->kernel->info.registers_at_entry;
  if (at_entry == 0) return;
  RegisterPool& pool = warp.cta->state<RegisterPool>();
  const size_t warps = warp.cta->warps.size();
  if (pool.owned.empty()) {
    pool.owned.assign(warps, at_entry);
    pool.done.assign(warps, 0);
    pool.steps.resize((warps + group_warps - 1) / group_warps);
  }
  uint32_t& owned = pool.owned[warp.index];
  const uint32_t wanted = static_cast<uint32_t>(inst.imm);
  const bool more = inst.extra != 0;
  if (more ? wanted < owned : wanted > owned) {
    misuse(warp, std::string(more ? ".inc" : ".dec") + " to " + std::to_string(wanted) +
                     " registers by a warp that has " + std::to_string(owned));
  }
  if (wanted > owned && wanted - owned > pool.free) return warp.wait(Group::State::blocked, warp.pc - 1);
  take_step(warp);
  pool.free += owned - wanted;
  owned = wanted;
  ++warp.worker->events;
}

void decode(Decoder& d) {
  const int action = d.one_of({"inc", "dec"});
  if (action < 0 || !d.has("sync") || !d.has("aligned")) d.unsupported("unknown action");
  d.type();
  const Operand& count = d.operand(0);
  if (count.kind != Operand::Kind::immediate || count.value < 24 || count.value > 256 || count.value % 8 != 0)
    d.unsupported("the number of registers must be a multiple of 8 from 24 to 256");
  d.program().most_registers = std::max(d.program().most_registers, static_cast<uint32_t>(count.value));
  d.own_guard();
  d.inst().imm = static_cast<uint64_t>(count.value);
  d.inst().extra = action == 0;
  d.inst().inner = run_set;
}

// The last threads of a CTA exit: have all warps of its warpgroups executed the same setmaxnreg?
void check_register_pool(Warp& warp, int lane) {
  const RegisterPool& pool = warp.cta->state<RegisterPool>();
  for (uint32_t w = 0; w < pool.done.size(); ++w) {
    const std::vector<Step>& steps = pool.steps[w / group_warps];
    if (pool.done[w] == steps.size()) continue;
    misuse(warp,
           "at " + place_of(*warp.cta, steps[pool.done[w]].pc) + " was not executed by warp " +
               std::to_string(w) + ", though by another one of its warpgroup",
           lane);
  }
}

class Registers final : public Unit {
  void start(Cta& cta) override { cta.make<RegisterPool>() = {}; }
  void leave(Warp& warp, int lane) override { check_register_pool(warp, lane); }
  std::string waits(const Warp& warp, const Group& group) const override {
    const Program& program = *group.frame->program;
    if (program.code[group.pc].inner != run_set) return {};
    return lanes_that(group.lanes, "wait") + " for registers at " +
           source_of(*group.frame, group.pc, std::countr_zero(group.lanes)) + ": " +
           std::to_string(warp.cta->state<RegisterPool>().free) + " for each thread of a warp are free";
  }
};

}  // namespace

Unit& register_pool_unit() {
  static Registers unit;
  return unit;
}

std::span<const Opcode> register_pool_opcodes() {
  static const Opcode table[] = {{"setmaxnreg", decode}};
  return table;
}

}  // namespace simulator
