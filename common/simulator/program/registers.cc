// Register allocation: PTX has as many registers as the compiler cared to name (3500 in an unrolled GEMM), of
// which few are alive at once. Sharing storage keeps a warp's registers within the CPU's caches. Linear scan
// over live intervals (Poletto and Sarkar, TOPLAS 1999), one pool of slots per register width.
//
// A lane's column is its own: what is dead on one lane's path may be alive on another's, and masked writes
// keep them apart.
#include "common/simulator/program/registers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

namespace simulator {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;

bool always(const Instruction& instruction) {
  return instruction.guard < 0;
}

// Instruction indices that may follow instruction `i`.
std::vector<uint32_t> successors(const Function& function, uint32_t i) {
  const Instruction& at = function.instructions[i];
  std::vector<uint32_t> next;
  const uint32_t count = static_cast<uint32_t>(function.instructions.size());
  if (at.opcode == "bra" && !at.operands.empty()) {
    next.push_back(at.operands[0].index);
  } else if (at.opcode == "brx") {
    for (const Operand& operand : at.operands) {
      const auto found = function.branch_targets.find(operand.text);
      if (found != function.branch_targets.end()) {
        next.insert(next.end(), found->second.begin(), found->second.end());
      }
    }
  }
  const bool ends = at.opcode == "bra" || at.opcode == "brx" || at.opcode == "ret" || at.opcode == "exit";
  if (!ends || !always(at)) next.push_back(i + 1);
  std::erase_if(next, [count](uint32_t target) { return target >= count; });
  return next;
}

struct Block {
  uint32_t begin, end;           // instructions
  std::vector<uint32_t> before;  // blocks that may come right before this one
};

int width_class(ptx::Type type) {
  switch (ptx::bits(type)) {
    case 1:
      return 0;
    case 8:
    case 16:
      return 1;
    case 32:
      return 2;
    case 64:
      return 3;
    default:
      return 4;
  }
}
constexpr std::array<uint32_t, 5> slot_words{0, 1, 1, 2, 4};

constexpr uint32_t never = ~0u;

struct Flow {
  std::vector<Block> blocks;
  // Per register, the blocks that read what an earlier block wrote, and those that write all of it.
  std::vector<std::vector<uint32_t>> readers, writers;
};

std::vector<Block> make_blocks(const Function& function) {
  const uint32_t count = static_cast<uint32_t>(function.instructions.size());
  std::vector<bool> leader(count + 1, false);
  if (count) leader[0] = true;
  std::vector<std::vector<uint32_t>> next(count);
  for (uint32_t i = 0; i < count; ++i) {
    next[i] = successors(function, i);
    if (next[i].size() == 1 && next[i][0] == i + 1) continue;
    leader[i + 1] = true;
    for (uint32_t target : next[i]) leader[target] = true;
  }
  std::vector<Block> blocks;
  std::vector<uint32_t> block_of(count + 1, 0);
  for (uint32_t i = 0; i < count; ++i) {
    if (leader[i]) blocks.push_back({i, i, {}});
    block_of[i] = static_cast<uint32_t>(blocks.size() - 1);
    blocks.back().end = i + 1;
  }
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    for (uint32_t target : next[blocks[b].end - 1]) blocks[block_of[target]].before.push_back(b);
  }
  return blocks;
}

Flow flow_of(const Function& function, const std::vector<Access>& accesses) {
  const size_t registers = function.registers.size();
  Flow flow{make_blocks(function), std::vector<std::vector<uint32_t>>(registers),
            std::vector<std::vector<uint32_t>>(registers)};
  std::vector<uint32_t> read_in(registers, never), written_in(registers, never);
  for (uint32_t b = 0; b < flow.blocks.size(); ++b) {
    for (uint32_t i = flow.blocks[b].begin; i < flow.blocks[b].end; ++i) {
      for (uint32_t r : accesses[i].reads) {
        if (written_in[r] == b || read_in[r] == b) continue;
        read_in[r] = b;
        flow.readers[r].push_back(b);
      }
      if (accesses[i].partial_write) continue;
      for (uint32_t r : accesses[i].writes) {
        if (written_in[r] == b) continue;
        written_in[r] = b;
        flow.writers[r].push_back(b);
      }
    }
  }
  return flow;
}

// When a register is alive: instruction i reads at time 2i and writes at 2i + 1 (early clobber: at 2i, before
// its reads are over).
struct Intervals {
  std::vector<uint32_t> first, last;  // by register

  void extend(size_t r, uint32_t time) {
    first[r] = std::min(first[r], time);
    last[r] = std::max(last[r], time);
  }
};

// Between blocks a register is alive on every path back from a reader to a writer. uninitialised: those for
// which a path leads back to the beginning.
Intervals intervals_of(const Flow& flow, const std::vector<Access>& accesses,
                       std::vector<uint32_t>& uninitialised) {
  const auto& blocks = flow.blocks;
  const size_t registers = flow.readers.size();
  Intervals alive{std::vector<uint32_t>(registers, never), std::vector<uint32_t>(registers, 0)};
  std::vector<uint32_t> alive_at(blocks.size(), never), written_in(blocks.size(), never), left;
  for (uint32_t r = 0; r < registers; ++r) {
    for (uint32_t b : flow.writers[r]) written_in[b] = r;
    left = flow.readers[r];
    for (uint32_t b : left) alive_at[b] = r;
    while (!left.empty()) {
      const uint32_t at = left.back();
      left.pop_back();
      alive.extend(r, 2 * blocks[at].begin);
      if (at == 0) uninitialised.push_back(r);
      for (uint32_t b : blocks[at].before) {
        alive.extend(r, 2 * blocks[b].end);
        if (alive_at[b] == r || written_in[b] == r) continue;
        alive_at[b] = r;
        left.push_back(b);
      }
    }
  }
  for (uint32_t i = 0; i < accesses.size(); ++i) {
    const bool clobber = accesses[i].early_clobber || accesses[i].writes.size() > 1;
    for (uint32_t r : accesses[i].reads) alive.extend(r, 2 * i);
    for (uint32_t r : accesses[i].writes) {
      alive.extend(r, clobber ? 2 * i : 2 * i + 1);
      alive.extend(r, 2 * i + 1);
    }
  }
  return alive;
}

// A slot of the register's width for each that is alive at some time.
struct Slots {
  std::vector<uint32_t> order;      // registers, as they come alive
  std::vector<uint32_t> slot;       // by register
  std::array<uint32_t, 5> count{};  // by width
  uint32_t words_live = 0;          // as Allocated has it
};
Slots scan(const Function& function, const Intervals& alive) {
  const size_t registers = function.registers.size();
  Slots result;
  result.slot.assign(registers, 0);
  for (uint32_t r = 0; r < registers; ++r) {
    if (alive.first[r] != never) result.order.push_back(r);
  }
  std::stable_sort(result.order.begin(), result.order.end(),
                   [&](uint32_t a, uint32_t b) { return alive.first[a] < alive.first[b]; });
  std::array<std::vector<uint32_t>, 5> free;            // slots, most recently freed last
  std::multiset<std::pair<uint32_t, uint32_t>> active;  // (last, register)
  uint32_t words = 0;
  for (uint32_t r : result.order) {
    while (!active.empty() && active.begin()->first < alive.first[r]) {
      const uint32_t done = active.begin()->second;
      const int kind = width_class(function.registers[done].type);
      free[kind].push_back(result.slot[done]);
      words -= slot_words[kind];
      active.erase(active.begin());
    }
    const int kind = width_class(function.registers[r].type);
    if (free[kind].empty()) {
      result.slot[r] = result.count[kind]++;
    } else {
      result.slot[r] = free[kind].back();
      free[kind].pop_back();
    }
    words += slot_words[kind];
    result.words_live = std::max(result.words_live, words);
    active.insert({alive.last[r], r});
  }
  return result;
}

// Storage, widest first: every slot is aligned to its own size up to 64 bytes.
void place(const Function& function, const Slots& slots, uint32_t begin, Allocated& result) {
  std::array<uint32_t, 5>& base = result.slots.begin;
  result.slots.count = slots.count;
  uint32_t end = (begin + 63) / 64 * 64;
  for (int kind = 4; kind >= 0; --kind) {
    base[kind] = end;
    end += slots.count[kind] * slot_bytes[kind];
  }
  result.end = (end + 63) / 64 * 64;
  for (uint32_t r : slots.order) {
    const int kind = width_class(function.registers[r].type);
    result.offset[r] = base[kind] + slots.slot[r] * slot_bytes[kind];
  }
}

}  // namespace

Allocated allocate_registers(const Function& function, const std::vector<Access>& accesses, uint32_t begin) {
  const size_t registers = function.registers.size();
  Allocated result;
  result.offset.assign(registers, 0);
  result.read.assign(registers, false);
  for (const Access& access : accesses) {
    for (uint32_t r : access.reads) result.read[r] = true;
  }
  const Intervals alive = intervals_of(flow_of(function, accesses), accesses, result.uninitialised);
  const Slots slots = scan(function, alive);
  result.words_live = slots.words_live;
  place(function, slots, begin, result);
  return result;
}

}  // namespace simulator
