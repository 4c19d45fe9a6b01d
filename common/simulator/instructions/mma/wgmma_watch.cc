// Which instructions are watched because some wgmma of their function uses the same registers
// (decode/watch.h).
//
// Sparsity metadata are a special case. The simulator reads their register when the instruction is issued,
// hardware when the product is made: what is loaded into it meanwhile may be taken for them.
#include <algorithm>
#include <utility>

#include "common/simulator/decode/watch.h"
#include "common/simulator/instructions/mma/opcodes.h"
#include "common/simulator/instructions/mma/wgmma.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/units/wgmma_queue.h"

namespace simulator {
namespace {

using ptx::Operand;

// D, A, B, metadata, selector, …; null: the instruction has none.
const Operand* metadata_of(const ptx::Instruction& at) {
  constexpr size_t nth = 3;
  const bool sparse = at.opcode == "wgmma" && at.operands.size() > nth &&
                      std::find(at.modifiers.begin(), at.modifiers.end(), "sp") != at.modifiers.end();
  return sparse && at.operands[nth].kind == Operand::Kind::reg ? &at.operands[nth] : nullptr;
}

// Does f(register) hold for one that the load writes?
template <class F>
bool any_result(const ptx::Instruction& load, F f) {
  if (load.operands.empty()) return false;
  const Operand& to = load.operands.front();
  if (to.kind == Operand::Kind::reg) return f(to.index);
  return std::any_of(to.elements.begin(), to.elements.end(),
                     [&](const Operand& each) { return each.kind == Operand::Kind::reg && f(each.index); });
}

// The newest product of the warp in flight whose metadata the load overwrites.
const WgmmaOperation* overwritten(const Warp& warp, const ptx::Instruction& load) {
  const Warpgroup& group = warp.cta->state<Warpgroups>().all[warp.index / warpgroup_warps];
  for (uint64_t number = warp.state<WgmmaQueue>().issued; number-- > warp.state<WgmmaQueue>().waited;) {
    const WgmmaOperation& each = group.operations[number - group.first];
    if (each.frame[warp.index % warpgroup_warps] != warp.frame) continue;
    const Program& program = *warp.frame->program;
    const Operand* metadata = metadata_of(program.function->instructions[each.pc - program.first]);
    if (metadata && any_result(load, [&](uint32_t r) { return r == metadata->index; })) return &each;
  }
  return nullptr;
}

// By number; empty: no wgmma.mma_async of the function is sparse.
std::vector<bool> metadata_registers(const ptx::Function& function) {
  std::vector<bool> registers;
  for (const ptx::Instruction& at : function.instructions) {
    const Operand* metadata = metadata_of(at);
    if (!metadata) continue;
    registers.resize(function.registers.size());
    registers[metadata->index] = true;
  }
  return registers;
}

void run_watched_metadata(Warp& warp, const Inst& inst) {
  if (warp.worker->checking && warp.exec &&
      warp.state<WgmmaQueue>().issued != warp.state<WgmmaQueue>().waited) {
    const Program& program = *warp.frame->program;
    if (const WgmmaOperation* of = overwritten(warp, program.function->instructions[warp.pc - 1])) {
      finding(
          warp, FindingKind::unfinished_async,
          "a load into the register of a wgmma.mma_async's sparsity metadata that has not been waited for",
          -1,
          {"it is that at " + place_of(*warp.cta, of->pc) +
           ": hardware reads its metadata when it is executed, so that wgmma.wait_group has to come before "
           "this"});
    }
  }
  const Watched& watched = warp.frame->program->watched[warp.pc - 1];
  watched.registers.empty() ? watched.run(warp, inst) : run_watched(warp, inst);
}

class WgmmaWatch final : public Watch {
 public:
  WgmmaWatch(std::vector<bool> registers_, std::vector<bool> metadata)
      : Watch(wgmma_unit(), std::move(registers_)), metadata_(std::move(metadata)) {}

  Handler handler(const ptx::Instruction& instruction, bool names_one) const override {
    if (instruction.opcode == "wgmma") return nullptr;
    if (loads_metadata(instruction)) return run_watched_metadata;
    if (!names_one) return nullptr;
    return is_move(instruction) ? run_watched_move : run_watched;
  }

 private:
  // A move into them waits by itself, as of any register that a wgmma uses.
  bool loads_metadata(const ptx::Instruction& instruction) const {
    return !metadata_.empty() && instruction.opcode.starts_with("ld") &&
           any_result(instruction, [&](uint32_t r) { return metadata_[r]; });
  }

  const std::vector<bool> metadata_;
};

}  // namespace

std::unique_ptr<const Watch> watch_wgmma(const ptx::Function& function) {
  std::vector<bool> registers;
  for (const ptx::Instruction& at : function.instructions) {
    if (at.opcode != "wgmma" || at.operands.size() < 2) continue;
    registers.resize(function.registers.size());
    for (size_t i = 0; i < 2; ++i) {  // D, and A where it is in registers: else its descriptor stands there
      if (at.operands[i].kind == Operand::Kind::vector) add_registers(at.operands[i], registers);
    }
  }
  if (registers.empty()) return nullptr;
  return std::make_unique<WgmmaWatch>(std::move(registers), metadata_registers(function));
}

}  // namespace simulator
