#include "common/simulator/decode/watch.h"

#include <algorithm>

namespace simulator {

void keep_watched(Decoder& decoder) {
  if (!decoder.program().watch) return;
  const std::vector<bool>& registers = decoder.program().watch->registers;
  ptx::Operand each;
  each.kind = ptx::Operand::Kind::reg;
  for (uint32_t r = 0; r < registers.size(); ++r) {
    each.index = r;
    if (registers[r]) decoder.src(each, ptx::Type::b32);
  }
}

void add_registers(const ptx::Operand& operand, std::vector<bool>& registers) {
  if (operand.kind == ptx::Operand::Kind::reg) registers[operand.index] = true;
  if (operand.kind != ptx::Operand::Kind::vector) return;
  for (const ptx::Operand& each : operand.elements) add_registers(each, registers);
}

bool is_move(const ptx::Instruction& instruction) {
  return instruction.opcode == "mov" &&
         std::none_of(instruction.operands.begin(), instruction.operands.end(),
                      [](const ptx::Operand& each) { return each.kind == ptx::Operand::Kind::vector; });
}

}  // namespace simulator
