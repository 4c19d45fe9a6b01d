// Control flow (PTX ISA 9.7.12): branches, calls, returns, exits.
#include <algorithm>
#include <bit>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/instructions/control/builtins.h"
#include "common/simulator/instructions/control/opcodes.h"
#include "common/simulator/machine/frames.h"
#include "common/simulator/machine/scheduler.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Type;

uint32_t taken_lanes(const Warp& warp, const Inst& inst) {
  if (inst.guard == 0) return warp.exec;
  const uint32_t predicate = warp.pred(inst.guard);
  return warp.exec & (inst.guard_negated ? ~predicate : predicate);
}

void run_branch(Warp& warp, const Inst& inst) {
  const uint32_t taken = taken_lanes(warp, inst);
  if (taken == 0) return;
  const uint32_t target = static_cast<uint32_t>(inst.imm);
  if (taken == warp.exec) {
    warp.jump(target);
  } else {
    warp.split(taken, target);
  }
}

void decode_branch(Decoder& d) {
  d.has("uni");
  d.own_guard();
  const Operand& target = d.operand(0);
  if (target.kind != Operand::Kind::label) d.unsupported("the target is not a label");
  d.inst().imm = target.index;
  d.inst().inner = run_branch;
}

void run_indexed_branch(Warp& warp, const Inst& inst) {
  uint32_t left = taken_lanes(warp, inst);
  const uint32_t lanes = left;
  const uint32_t* index = warp.reg<uint32_t>(inst.a);
  const uint32_t fall_through = warp.exec & ~left;
  uint32_t first = ~0u;
  while (left) {
    const uint32_t value = index[std::countr_zero(left)];
    if (value >= inst.imm) {
      fault(warp, FindingKind::illegal_instruction,
            "brx.idx index " + std::to_string(value) + " is outside its table of " + std::to_string(inst.imm),
            std::countr_zero(left));
    }
    uint32_t same = 0;
    for (uint32_t rest = left; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (index[lane] == value) same |= 1u << lane;
    }
    left &= ~same;
    if (same == warp.exec) return warp.jump(inst.list[value]);
    if (first == ~0u && !fall_through) {
      first = value;  // this one stays the running group
    } else {
      warp.split(same, inst.list[value]);
    }
  }
  if (lanes && first != ~0u) {
    warp.pc = inst.list[first];
    warp.stop = 0;
  }
}

void decode_indexed_branch(Decoder& d) {
  d.has("idx");
  d.has("uni");
  d.own_guard();
  const auto& tables = d.ptx().operands;
  const auto found = d.program().function->branch_targets.find(d.operand(1).text);
  if (tables.size() != 2 || found == d.program().function->branch_targets.end())
    d.unsupported("no such list of targets");
  d.inst().a = d.src(0, Type::u32);
  d.inst().imm = found->second.size();
  d.inst().list = d.list(found->second);
  d.inst().inner = run_indexed_branch;
}

// The results of some lanes go where their call puts them.
void return_results(const Frame& callee, const Way& way, uint32_t lanes) {
  const uint32_t* list = way.call->list;  // [arguments, their offsets …, results, their offsets …]
  const uint32_t* results = list + 1 + list[0];
  for (uint32_t i = 0; i < results[0]; ++i) {
    const Program::Formal& formal = callee.program->results[i];
    const uint32_t stride = param_stride(formal.bytes);
    for (uint32_t left = lanes; left; left &= left - 1) {
      const uint32_t at = static_cast<uint32_t>(std::countr_zero(left)) * stride;
      std::memcpy(way.caller->registers + results[1 + i] + at, callee.registers + formal.offset + at, stride);
    }
  }
}

void run_return(Warp& warp, const Inst& inst) {
  if (!warp.enter_guard(inst)) return;
  Frame& callee = *warp.frame;
  const uint32_t lanes = warp.exec;
  if (!callee.ways.front().caller) return warp.leave(lanes);
  for (Unit* unit : units_of(*warp.cta)) unit->forget(warp, &callee);
  warp.exec = 0;
  for (const Way& way : callee.ways) {
    const uint32_t back = way.lanes & lanes;
    if (!back) continue;
    return_results(callee, way, back);
    if (warp.exec) warp.others.push_back({way.return_pc, back, way.caller, Group::State::ready, 0, nullptr});
    if (warp.exec) continue;
    warp.exec = back;
    warp.frame = way.caller;
    warp.registers = way.caller->registers;
    warp.code = way.caller->program->code.data();
    warp.pc = way.return_pc;
    warp.stop = 0;
  }
  warp.full = warp.exec == warp.live;
  returned(*warp.worker, callee, lanes);
}

void run_exit(Warp& warp, const Inst& inst) {
  const uint32_t lanes = taken_lanes(warp, inst);
  if (lanes) warp.leave(lanes);
}

void call(Warp& warp, const Inst& inst, const Program& callee) {
  const uint32_t* list = inst.list;
  if (list[0] != callee.params.size() || list[1 + list[0]] > callee.results.size()) {
    fault(
        warp, FindingKind::illegal_instruction,
        "call of " + std::string(callee.function->name) + " with " + std::to_string(list[0]) + " arguments");
  }
  Frame* caller = warp.frame;
  Frame* frame = new_frame(warp, callee, {.caller = caller, .return_pc = warp.pc, .call = &inst});
  for (uint32_t i = 0; i < list[0]; ++i) {
    const Program::Formal& formal = callee.params[i];
    std::memcpy(frame->registers + formal.offset, caller->registers + list[1 + i],
                size_t{param_stride(formal.bytes)} * warp_size);
  }
  warp.enter(frame);
}

void run_call(Warp& warp, const Inst& inst) {
  if (warp.enter_guard(inst)) call(warp, inst, *static_cast<const Program*>(inst.data));
}

void run_indirect_call(Warp& warp, const Inst& inst) {
  if (!warp.enter_guard(inst)) return;
  const uint64_t* target = warp.reg<uint64_t>(inst.a);
  const int lane = std::countr_zero(warp.exec);
  const uint64_t address = target[lane];
  uint32_t same = 0;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    if (target[std::countr_zero(left)] == address) same |= left & -left;
  }
  if (same != warp.exec) warp.split(warp.exec & ~same, warp.pc - 1);  // others call theirs afterwards
  const auto& functions = warp.cta->grid->kernel->by_function;
  const uint64_t index = (address - function_window) / 16;
  if (address < function_window || index >= functions.size() || !functions[index]) {
    fault(warp, FindingKind::illegal_instruction, "call of an address that is no function", lane);
  }
  if (!functions[index]->unsupported.empty()) {
    fault(warp, FindingKind::not_supported, functions[index]->unsupported.front(), lane);
  }
  call(warp, inst, *functions[index]);
}

void decode_call(Decoder& d) {
  d.has("uni");
  const auto offsets_of = [&](const Operand& operands, std::vector<uint32_t>& to) {
    to.push_back(static_cast<uint32_t>(operands.elements.size()));
    for (const Operand& each : operands.elements) {
      const auto found = each.kind == Operand::Kind::variable ? d.program().call_params.find(each.variable)
                                                              : d.program().call_params.end();
      if (found == d.program().call_params.end())
        d.unsupported("arguments of calls must be .param variables");
      to.push_back(found->second);
    }
  };
  std::vector<uint32_t> list;
  offsets_of(d.operand(2), list);
  offsets_of(d.operand(0), list);
  d.inst().list = d.list(std::move(list));
  const Operand& callee = d.operand(1);
  if (callee.kind == Operand::Kind::reg) {
    d.loader().has_indirect_call();
    d.own_guard();
    d.inst().a = d.src(callee, Type::u64);
    d.inst().inner = run_indirect_call;
  } else if (callee.kind != Operand::Kind::function) {
    d.unsupported("this simulator has no such call");
  } else if (!callee.function->defined) {
    if (!decode_builtin(d, callee.function->name)) d.unsupported(why_missing(callee.function->name));
  } else {
    d.own_guard();
    d.inst().data = d.loader().program_of(*callee.function);
    d.inst().inner = run_call;
  }
}

// Cooperative groups trap in grid_group::sync() where %envreg1 and 2, the workspace of a cooperative launch,
// are 0. Where the kernel has its lines, the trap must be one of that header's.
bool is_grid_sync(const Warp& warp) {
  if (warp.cta->grid->workspace) return false;
  const ptx::Function& function = *warp.frame->program->function;
  const auto reads_workspace = [](const ptx::Instruction& each) {
    return std::any_of(each.operands.begin(), each.operands.end(), [](const ptx::Operand& operand) {
      return operand.text == "%envreg1" || operand.text == "%envreg2";
    });
  };
  if (std::none_of(function.instructions.begin(), function.instructions.end(), reads_workspace)) return false;
  const std::string place = source_of(*warp.frame->program, warp.pc - 1);
  return place.find(".cu") == std::string::npos || place.find("cooperative_groups") != std::string::npos;
}

void run_trap(Warp& warp, const Inst&) {
  fault(warp, FindingKind::trap,
        is_grid_sync(warp) ? "grid sync in a launch that is not cooperative: use cudaLaunchCooperativeKernel"
                           : "trap instruction");
}

// Lets others run: the running group's turn is over.
void run_nanosleep(Warp& warp, const Inst& inst) {
  if (!warp.enter_guard(inst)) return;
  constexpr uint64_t as_polls = 10;  // it takes longer
  warp.polls += as_polls;
  warp.wait(Group::State::blocked, warp.pc);
}

}  // namespace

Handler implicit_return() {
  return run_return;
}

std::span<const Opcode> control_opcodes() {
  static const Opcode table[] = {
      {"bra", decode_branch},
      {"brx", decode_indexed_branch},
      {"call", decode_call},
      {"ret", [](Decoder& d) { d.has("uni"), d.own_guard(), d.inst().inner = run_return; }},
      {"exit", [](Decoder& d) { d.own_guard(), d.inst().inner = run_exit; }},
      {"trap", [](Decoder& d) { d.inst().inner = run_trap; }},
      {"brkpt", [](Decoder& d) { d.inst().inner = run_trap; }},
      // Launches run one after the other: what this one depends on has always ended.
      {"griddepcontrol",
       [](Decoder& d) {
         d.one_of({"wait", "launch_dependents"}), d.inst().inner = run_nothing;
       }},
      {"pmevent", [](Decoder& d) { d.has("mask"), d.operand(0), d.inst().inner = run_nothing; }},
      {"nanosleep",
       [](Decoder& d) { d.type(), d.own_guard(), d.src(0, Type::u32), d.inst().inner = run_nanosleep; }},
  };
  return table;
}

}  // namespace simulator
