#include "common/simulator/program/speculation.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace simulator {
namespace {

using ptx::Instruction;
using ptx::Operand;

constexpr size_t furthest = 64;  // instructions from the load to the choice

template <class F>
void each_register(const Operand& operand, F f) {
  if (operand.kind == Operand::Kind::reg) f(operand.index);
  for (const Operand& element : operand.elements) each_register(element, f);
}

bool is(const Operand& operand, uint32_t reg) {
  return operand.kind == Operand::Kind::reg && operand.index == reg;
}

bool has(const Instruction& instruction, std::string_view modifier) {
  return std::find(instruction.modifiers.begin(), instruction.modifiers.end(), modifier) !=
         instruction.modifiers.end();
}

// A choice between two others.
bool chooses(const Instruction& at, uint32_t reg) {
  return at.opcode == "selp" && at.operands.size() == 4 && is(at.operands[3], reg) &&
         !is(at.operands[1], reg) && !is(at.operands[2], reg);
}

// Opcodes whose one result depends on their operands and on nothing else, and that do nothing else.
bool is_pure(std::string_view opcode) {
  static constexpr std::string_view pure[] = {"abs",  "add", "and", "bfe", "bfi", "cnot", "cvt", "div", "fma",
                                              "lop3", "mad", "max", "min", "mov", "mul",  "neg", "not", "or",
                                              "prmt", "rem", "shl", "shr", "shf", "sub",  "xor"};
  return std::find(std::begin(pure), std::end(pure), opcode) != std::end(pure);
}

}  // namespace

Speculation::Speculation(const ptx::Function& function)
    : function_(function), mentions_(function.registers.size(), 0) {
  for (const Instruction& at : function.instructions) {
    for (const Operand& operand : at.operands) each_register(operand, [&](uint32_t r) { ++mentions_[r]; });
    if (at.guard >= 0) ++mentions_[static_cast<size_t>(at.guard)];
  }
}

// Does anything between the load and its use mention the predicate as a destination?
bool Speculation::between(const Operand& predicate, size_t load, size_t use) const {
  for (size_t i = load + 1; i < use; ++i) {
    bool written = false;
    const auto& operands = function_.instructions[i].operands;
    if (!operands.empty()) each_register(operands[0], [&](uint32_t r) { written |= r == predicate.index; });
    if (written) return true;
  }
  return false;
}

std::optional<Speculation::Choice> Speculation::of(size_t load) const {
  const auto& code = function_.instructions;
  if (code[load].guard >= 0 || code[load].operands.empty()) return {};
  const Operand& loaded = code[load].operands[0];
  if (loaded.kind != Operand::Kind::reg) return {};
  uint32_t value = loaded.index;
  for (size_t i = load + 1; i < std::min(code.size(), load + furthest); ++i) {
    const Instruction& at = code[i];
    if (mentions_[value] != 2) return {};  // written once, read once
    if (std::binary_search(function_.label_targets.begin(), function_.label_targets.end(), i)) return {};
    bool reads = at.guard >= 0 && static_cast<uint32_t>(at.guard) == value;
    for (const Operand& operand : at.operands)
      each_register(operand, [&](uint32_t r) { reads |= r == value; });
    if (!reads) {
      if (at.opcode == "bra" || at.opcode == "brx" || at.opcode == "call" || at.opcode == "ret" ||
          at.opcode == "exit")
        return {};
      continue;
    }
    if (at.guard >= 0 || at.operands.size() < 2 || at.operands[0].kind != Operand::Kind::reg) return {};
    const Operand* predicate = nullptr;
    bool when = true;
    if (at.opcode == "selp" && at.operands.size() == 4 && !is(at.operands[3], value)) {
      predicate = &at.operands[3];
      when = is(at.operands[1], value);
    } else if ((at.opcode == "and" || at.opcode == "or") && has(at, "pred") && at.operands.size() == 3) {
      predicate = &at.operands[is(at.operands[1], value) ? 2 : 1];
      when = at.opcode == "and";
    } else if (!is_pure(at.opcode) && !chooses(at, value) &&
               !(at.opcode == "setp" && at.operands.size() == 3)) {
      return {};
    }
    if (predicate) {
      if (predicate->kind != Operand::Kind::reg || between(*predicate, load, i)) return {};
      return Choice{predicate, when != predicate->negated};
    }
    value = at.operands[0].index;
  }
  return {};
}

}  // namespace simulator
