#include "common/simulator/reports/description.h"

#include <cxxabi.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>

#include "common/simulator/units/wgmma_queue.h"

namespace simulator {
namespace {

using ptx::Operand;

std::string demangled(std::string_view name) {
  const std::string text(name);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), std::free);
  return plain ? plain.get() : text;
}

template <size_t n>
bool among(std::string_view word, const std::string_view (&words)[n]) {
  return std::find(words, words + n, word) != words + n;
}

bool works_on_matrices(std::string_view opcode) {
  static constexpr std::string_view opcodes[] = {"mma", "wmma", "wgmma", "ldmatrix", "stmatrix", "movmatrix"};
  return among(opcode, opcodes);
}

// "m16n8k16" → 16 · 8 · 16; 0: not a shape.
uint64_t product_of_shape(std::string_view modifier) {
  uint64_t product = 1;
  for (const char dimension : {'m', 'n', 'k'}) {
    if (modifier.empty() || modifier.front() != dimension) return 0;
    modifier.remove_prefix(1);
    uint64_t size = 0;
    const auto [end, error] = std::from_chars(modifier.data(), modifier.data() + modifier.size(), size);
    if (error != std::errc()) return 0;
    modifier.remove_prefix(static_cast<size_t>(end - modifier.data()));
    product *= size;
  }
  return modifier.empty() ? product : 0;
}

bool has(const ptx::Instruction& instruction, std::string_view modifier) {
  const auto& all = instruction.modifiers;
  return std::find(all.begin(), all.end(), modifier) != all.end();
}

Overlap AccessCounts::*overlap_of(const ptx::Instruction& at, const MemoryUse& memory) {
  const bool mma = has(at, "mma") || has(at, "mma_async");
  if (at.opcode == "mma" || (mma && (at.opcode == "wmma" || at.opcode == "wgmma"))) return &AccessCounts::mma;
  if (at.opcode == "wgmma") return &AccessCounts::wgmma_wait;
  if (at.opcode == "tcgen05")
    return at.modifiers.front().starts_with("wait") ? &AccessCounts::tcgen05_wait : &AccessCounts::mma;
  if (at.opcode == "cp") return has(at, "bulk") ? &AccessCounts::bulk_wait : &AccessCounts::async_wait;
  if (at.opcode == "mbarrier") return &AccessCounts::mbarrier_wait;
  if (at.opcode == "bar" || at.opcode == "barrier") return &AccessCounts::barrier;
  if (at.opcode == "ldmatrix") return &AccessCounts::matrix_use;
  if (memory.kind != MemoryUse::Kind::load) return nullptr;
  return memory.space == ptx::Space::shared ? &AccessCounts::shared_use : &AccessCounts::global_use;
}

// The line that an instruction counts for: the innermost one in the kernel's own file, so that what is
// inlined from a header counts for the call; the outermost one where none is in that file.
class Places {
 public:
  explicit Places(KernelDescription& kernel) : kernel_(kernel) { index({}); }

  void own_file(const Program& program) {
    if (program.module == nullptr) return;
    const std::vector<ptx::Location>& locations = program.module->locations;
    for (const ptx::Instruction& instruction : program.function->instructions) {
      uint32_t at = instruction.location;
      while (at != 0 && locations[at].inlined_at != 0) at = locations[at].inlined_at;
      if (at == 0) continue;
      own_ = locations[at].file;
      return;
    }
  }

  uint32_t of(const Program& program, uint32_t at) {
    if (program.module == nullptr || at == 0) return 0;
    const std::vector<ptx::Location>& locations = program.module->locations;
    while (locations[at].file != own_ && locations[at].inlined_at != 0) at = locations[at].inlined_at;
    const auto file = program.module->files.find(locations[at].file);
    if (file == program.module->files.end()) return 0;
    return index({file->second, locations[at].line});
  }

 private:
  uint32_t index(const KernelDescription::Place& place) {
    const auto [found, added] =
        index_.emplace(std::pair(place.file, place.line), static_cast<uint32_t>(kernel_.places.size()));
    if (added) kernel_.places.push_back(place);
    return found->second;
  }

  KernelDescription& kernel_;
  uint32_t own_ = 0;
  std::map<std::pair<std::string, uint32_t>, uint32_t> index_;
};

// Looks for adjacent accesses within the basic blocks of one function.
class AdjacentAccesses {
 public:
  AdjacentAccesses(const Program& program, KernelDescription& kernel) : program_(program), kernel_(kernel) {}

  void find() {
    const ptx::Function& function = *program_.function;
    for (uint32_t pc = 0; pc < function.instructions.size(); ++pc) {
      if (std::binary_search(function.label_targets.begin(), function.label_targets.end(), pc)) close_all();
      visit(pc, function.instructions[pc]);
    }
    close_all();
  }

 private:
  // Of one kind, from one base, with nothing between that keeps them apart.
  struct Run {
    bool load, shared;
    uint32_t bytes;  // of each
    int32_t guard;
    bool guard_negated;
    const Operand* base;
    std::map<int64_t, uint32_t> offset;  // → pc
  };

  static bool same_base(const Operand& x, const Operand& y) {
    return x.kind == y.kind && x.index == y.index && x.variable == y.variable &&
           (x.kind != Operand::Kind::immediate || x.value == y.value);
  }

  static bool writes(const Operand& operand, uint32_t reg) {
    if (operand.kind == Operand::Kind::reg) return operand.index == reg;
    if (operand.kind != Operand::Kind::vector && operand.kind != Operand::Kind::pair) return false;
    return std::any_of(operand.elements.begin(), operand.elements.end(),
                       [&](const Operand& element) { return writes(element, reg); });
  }

  void visit(uint32_t pc, const ptx::Instruction& instruction) {
    const MemoryUse& use = program_.memory[pc];
    static constexpr std::string_view barriers[] = {"bra", "brx",     "call",   "ret",  "exit",
                                                    "bar", "barrier", "membar", "fence"};
    if (among(instruction.opcode, barriers) || use.kind == MemoryUse::Kind::atomic || use.generic)
      return close_all();
    if (use.kind == MemoryUse::Kind::store) {  // what was loaded before cannot be loaded later
      close([&](const Run& run) { return run.load && run.shared == (use.space == ptx::Space::shared); });
    } else if (use.kind == MemoryUse::Kind::load) {
      close([&](const Run& run) { return !run.load && run.shared == (use.space == ptx::Space::shared); });
    }
    add(pc, instruction, use);
    if (instruction.operands.empty()) return;
    const Operand& written = instruction.operands[0];
    close([&](const Run& run) {
      return (run.base->kind == Operand::Kind::reg && writes(written, run.base->index)) ||
             (run.guard >= 0 && writes(written, static_cast<uint32_t>(run.guard)));
    });
  }

  void add(uint32_t pc, const ptx::Instruction& instruction, const MemoryUse& use) {
    static constexpr std::string_view fixed[] = {"volatile", "relaxed", "acquire", "release", "mmio"};
    const bool load = use.kind == MemoryUse::Kind::load;
    const size_t at = load ? 1 : 0;
    if (use.kind == MemoryUse::Kind::none || instruction.operands.size() <= at || use.bytes >= 16) return;
    if (instruction.opcode != "ld" && instruction.opcode != "st") return;
    if (use.space != ptx::Space::shared && use.space != ptx::Space::global) return;
    for (const std::string_view modifier : instruction.modifiers) {
      if (among(modifier, fixed)) return;
    }
    const Operand& address = instruction.operands[at];
    if (address.kind != Operand::Kind::address || address.elements.empty()) return;
    const bool shared = use.space == ptx::Space::shared;
    const Operand& base = address.elements[0];
    for (Run& run : runs_) {
      if (run.load == load && run.shared == shared && run.bytes == use.bytes &&
          run.guard == instruction.guard && run.guard_negated == instruction.guard_negated &&
          same_base(*run.base, base)) {
        run.offset.emplace(address.value, pc);
        return;
      }
    }
    runs_.push_back({load, shared, use.bytes, instruction.guard, instruction.guard_negated, &base, {}});
    runs_.back().offset.emplace(address.value, pc);
  }

  template <class Which>
  void close(Which which) {
    for (size_t i = 0; i < runs_.size();) {
      if (!which(runs_[i])) {
        ++i;
        continue;
      }
      report(runs_[i]);
      runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  void close_all() {
    close([](const Run&) { return true; });
  }

  // The widest blocks first: 16, 8 or 4 bytes at a multiple of their size from the base.
  void report(Run& run) {
    for (uint32_t block = 16; block >= 4 && block > run.bytes; block /= 2) {
      for (auto first = run.offset.begin(); first != run.offset.end();) {
        auto last = first;
        uint32_t covered = run.bytes;
        while (covered < block && std::next(last) != run.offset.end() &&
               std::next(last)->first == last->first + run.bytes) {
          ++last;
          covered += run.bytes;
        }
        if (first->first % block != 0 || covered < block) {
          ++first;
          continue;
        }
        const uint32_t index = program_.first + first->second;
        const DescribedInstruction& described = kernel_.instructions[index];
        kernel_.adjacent.push_back(
            {described.place, described.mix, block / run.bytes, block, run.load, run.shared, index});
        first = run.offset.erase(first, std::next(last));
      }
    }
  }

  const Program& program_;
  KernelDescription& kernel_;
  std::vector<Run> runs_;
};

}  // namespace

uint64_t multiply_adds(const ptx::Instruction& instruction) {
  const bool multiplies =
      instruction.opcode == "mma" || (instruction.opcode == "wmma" && !instruction.modifiers.empty() &&
                                      instruction.modifiers.front() == "mma");
  for (const std::string_view modifier : instruction.modifiers) {
    if (const uint64_t product = product_of_shape(modifier); product != 0) {
      return multiplies ? product : instruction.opcode == "wgmma" ? product / warpgroup_warps : 0;
    }
  }
  return 0;
}

std::string mix_name(const ptx::Instruction& instruction, const MemoryUse& memory) {
  static constexpr std::string_view kept[] = {
      "global", "shared", "shared::cta", "shared::cluster", "local", "const", "param", "v2", "v4", "v8",
      "lo",     "hi",     "wide"};
  static constexpr std::string_view kept_of_barriers[] = {"sync", "arrive", "red", "wait", "cluster", "warp"};
  static constexpr std::string_view kept_of_copies[] = {"async",    "commit_group", "wait_group",
                                                        "wait_all", "mbarrier",     "arrive"};
  static constexpr std::string_view kept_of_matrices[] = {
      "x1", "x2", "x4", "trans", "mma", "mma_async", "fence", "commit_group", "wait_group"};
  static constexpr std::string_view kept_of_atomics[] = {"add", "min", "max", "inc", "dec",
                                                         "and", "or",  "xor", "cas", "exch"};
  std::string name(instruction.opcode);
  if (memory.kind != MemoryUse::Kind::none && memory.generic) name += ".generic";
  const bool barrier = instruction.opcode == "bar" || instruction.opcode == "barrier";
  const bool atomic = instruction.opcode == "atom" || instruction.opcode == "red";
  const bool copy = instruction.opcode == "cp";
  const bool matrix = works_on_matrices(instruction.opcode), tensor = instruction.opcode == "tcgen05";
  for (const std::string_view& modifier : instruction.modifiers) {
    ptx::Type type;
    if (ptx::parse_type(modifier, type) || among(modifier, kept) ||
        (barrier && among(modifier, kept_of_barriers)) || (atomic && among(modifier, kept_of_atomics)) ||
        (copy && among(modifier, kept_of_copies)) ||
        (matrix && (among(modifier, kept_of_matrices) || product_of_shape(modifier) != 0)) ||
        (tensor && (&modifier == &instruction.modifiers.front() || modifier.starts_with("kind::")))) {
      name += '.';
      name += modifier;
    }
  }
  return name;
}

KernelDescription describe(const Program& kernel, const std::vector<const Program*>& functions) {
  KernelDescription description;
  description.name = demangled(kernel.function->name);
  Places places(description);
  places.own_file(kernel);
  size_t size = 0;
  for (const Program* program : functions) size = std::max(size, program->first + program->code.size());
  description.instructions.resize(size);
  for (const Program* program : functions) {
    const std::vector<ptx::Instruction>& code = program->function->instructions;
    for (uint32_t pc = 0; pc < program->code.size(); ++pc) {
      DescribedInstruction& described = description.instructions[program->first + pc];
      if (pc >= code.size()) {
        described.mix = "ret";  // the one at the end that is not written
        continue;
      }
      described.memory = program->memory[pc];
      described.mix = mix_name(code[pc], described.memory);
      described.wgmma = code[pc].opcode == "wgmma";
      described.tcgen05 = code[pc].opcode == "tcgen05" &&
                          (code[pc].modifiers.front() == "mma" || code[pc].modifiers.front() == "cp");
      described.matrices = code[pc].opcode == "ldmatrix" || code[pc].opcode == "stmatrix";
      described.overlap = overlap_of(code[pc], described.memory);
      described.macs = multiply_adds(code[pc]);
      described.place = places.of(*program, code[pc].location);
    }
    AdjacentAccesses(*program, description).find();
  }
  return description;
}

std::vector<std::string> notes(const KernelDescription& kernel, const std::vector<Counts>& counts) {
  // Equal ones of a line, as an unrolled loop has them, are reported once.
  std::vector<std::pair<const Adjacent*, uint32_t>> reported;
  for (const Adjacent& adjacent : kernel.adjacent) {
    if (counts[adjacent.instruction].executed == 0) continue;
    const auto same = std::find_if(reported.begin(), reported.end(), [&](const auto& earlier) {
      return std::tie(earlier.first->place, earlier.first->mix, earlier.first->bytes) ==
             std::tie(adjacent.place, adjacent.mix, adjacent.bytes);
    });
    if (same == reported.end()) {
      reported.emplace_back(&adjacent, 1);
    } else {
      ++same->second;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [adjacent, times] : reported) {
    const KernelDescription::Place& place = kernel.places[adjacent->place];
    std::string line = std::to_string(adjacent->count) + " × " + adjacent->mix;
    if (!place.file.empty()) {
      line += " at " + place.file.substr(place.file.rfind('/') + 1) + ":" + std::to_string(place.line);
    }
    if (times > 1) line += " (" + std::to_string(times) + " such groups)";
    line += " are adjacent: ptxas may issue one " + std::to_string(adjacent->bytes) + "-byte " +
            (adjacent->load ? "load" : "store") +
            (adjacent->shared ? ", with other bank conflicts" : ", with fewer requests");
    lines.push_back(line);
  }
  return lines;
}

}  // namespace simulator
