// Control flow (PTX ISA 9.7.12): branches, calls, returns, exits.
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

void run_return(Warp& warp, const Inst& inst) {
  if (!warp.enter_guard(inst)) return;
  Frame* callee = warp.frame;
  Frame* caller = callee->caller;
  if (!caller) return warp.leave(warp.exec);
  for (Unit* unit : units_of(*warp.cta)) unit->forget(warp, callee);
  // Results go where the call puts them.
  const uint32_t* list = callee->call->list;  // [arguments, their offsets …, results, their offsets …]
  const uint32_t* results = list + 1 + list[0];
  for (uint32_t i = 0; i < results[0]; ++i) {
    const Program::Formal& formal = callee->program->results[i];
    const uint32_t stride = param_stride(formal.bytes);
    for (uint32_t left = warp.exec; left; left &= left - 1) {
      const uint32_t at = static_cast<uint32_t>(std::countr_zero(left)) * stride;
      std::memcpy(caller->registers + results[1 + i] + at, callee->registers + formal.offset + at, stride);
    }
  }
  warp.frame = caller;
  warp.registers = caller->registers;
  warp.code = caller->program->code.data();
  warp.pc = callee->return_pc;
  warp.stop = 0;
  if ((callee->lanes &= ~warp.exec) == 0) warp.worker->frames.emplace_back(callee);
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
  Frame* frame = new_frame(warp, callee, caller);
  for (uint32_t i = 0; i < list[0]; ++i) {
    const Program::Formal& formal = callee.params[i];
    std::memcpy(frame->registers + formal.offset, caller->registers + list[1 + i],
                size_t{param_stride(formal.bytes)} * warp_size);
  }
  frame->return_pc = warp.pc;
  frame->call = &inst;
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
    if (!decode_builtin(d, callee.function->name)) {
      if (callee.function->name.starts_with("__cudaCDP"))
        d.unsupported("part of a launch from the device, which this simulator has not");
      d.unsupported(
          "function '" + std::string(callee.function->name) +
          "' is not in this source file (functions of others, as -rdc=true allows, cannot be called)");
    }
  } else {
    d.own_guard();
    d.inst().data = d.loader().program_of(*callee.function);
    d.inst().inner = run_call;
  }
}

void run_trap(Warp& warp, const Inst&) {
  fault(warp, FindingKind::trap, "trap instruction");
}

// Lets others run: the running group's turn is over.
void run_nanosleep(Warp& warp, const Inst& inst) {
  if (!warp.enter_guard(inst)) return;
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
