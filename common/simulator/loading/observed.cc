#include "common/simulator/loading/observed.h"

#include <algorithm>
#include <string_view>

#include "common/simulator/decode/watch.h"

namespace simulator {
namespace {

bool has(const ptx::Instruction& at, std::initializer_list<std::string_view> any) {
  return std::any_of(at.modifiers.begin(), at.modifiers.end(), [&](std::string_view modifier) {
    return std::find(any.begin(), any.end(), modifier) != any.end();
  });
}

bool is_product(const ptx::Instruction& at) {
  return at.opcode == "mma" || (at.opcode == "wmma" && has(at, {"mma"}));
}

bool is_arithmetic(const ptx::Instruction& at) {
  if (is_product(at)) return true;
  if (at.opcode == "wgmma" || at.opcode == "tcgen05") return has(at, {"mma", "mma_async"});
  const bool computes = at.opcode == "fma" || at.opcode == "mul" || at.opcode == "add" ||
                        at.opcode == "sub" || at.opcode == "mad";
  return computes && has(at, {"f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64"});
}

bool is_barrier(const ptx::Instruction& at) {
  return (at.opcode == "bar" || at.opcode == "barrier") && has(at, {"sync", "red", "arrive"}) &&
         !has(at, {"cluster", "warp"});
}

bool is_shared_read(const ptx::Instruction& at) {
  return at.opcode == "ldmatrix" || (at.opcode == "ld" && has(at, {"shared", "shared::cta"}));
}

// Of memory that threads share; a generic address counts.
bool is_load(const ptx::Instruction& at) {
  return at.opcode == "ldmatrix" || (at.opcode == "ld" && !has(at, {"param", "const", "local"}));
}

}  // namespace

void observe(Program& program, const std::vector<Access>& accesses) {
  const std::vector<ptx::Instruction>& code = program.function->instructions;
  program.observed.assign(code.size() + 1, {});
  // Registers that hold what was loaded, by themselves or by a move.
  constexpr uint32_t none = ~0u;
  std::vector<uint32_t> number(program.function->registers.size(), none);
  const auto add = [&](const std::vector<uint32_t>& registers) {
    bool any = false;
    for (const uint32_t r : registers) {
      if (number[r] != none) continue;
      number[r] = program.loaded_values++;
      any = true;
    }
    return any;
  };
  const auto any_of = [&](const std::vector<uint32_t>& registers) {
    return std::any_of(registers.begin(), registers.end(), [&](uint32_t r) { return number[r] != none; });
  };
  for (size_t pc = 0; pc < code.size(); ++pc) {
    if (is_load(code[pc])) add(accesses[pc].writes);
  }
  for (bool more = true; more;) {
    more = false;
    for (size_t pc = 0; pc < code.size(); ++pc)
      more |= is_move(code[pc]) && any_of(accesses[pc].reads) && add(accesses[pc].writes);
  }
  for (size_t pc = 0; pc < code.size(); ++pc) {
    const ptx::Instruction& at = code[pc];
    Observed& observed = program.observed[pc];
    const auto numbers = [&](const std::vector<uint32_t>& registers, std::vector<uint32_t>& into) {
      for (const uint32_t r : registers) {
        if (number[r] != none) into.push_back(number[r]);
      }
    };
    if (is_arithmetic(at)) observed.is |= Observed::arithmetic;
    if (is_product(at)) observed.is |= Observed::product;
    if (is_barrier(at)) observed.is |= Observed::barrier;
    if (is_shared_read(at)) observed.is |= Observed::shared_read;
    numbers(accesses[pc].reads, observed.reads);
    const bool loads = is_load(at), moves = is_move(at) && !observed.reads.empty();
    if (loads || moves) numbers(accesses[pc].writes, observed.writes);
    if (loads) observed.is |= Observed::load;
    if (moves) observed.is |= Observed::move;
    if (!moves && !observed.reads.empty()) observed.is |= Observed::use;
  }
}

}  // namespace simulator
