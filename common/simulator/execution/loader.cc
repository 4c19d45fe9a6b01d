#include "common/simulator/execution/loader.h"

#include <cxxabi.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>
#include <unordered_map>

#include "common/simulator/execution/decoder.h"
#include "common/simulator/execution/machine.h"
#include "common/simulator/execution/tcgen05.h"
#include "common/simulator/execution/wgmma_metadata.h"

namespace simulator {
namespace {

const std::unordered_map<std::string_view, Decode>& opcodes() {
  static const auto table = [] {
    std::unordered_map<std::string_view, Decode> all;
    for (const auto& family : {arithmetic_opcodes(),  bit_opcodes(),
                               compare_opcodes(),     convert_opcodes(),
                               approximate_opcodes(), move_opcodes(),
                               control_opcodes(),     sync_opcodes(),
                               cluster_opcodes(),     register_pool_opcodes(),
                               warp_opcodes(),        memory_opcodes(),
                               stack_opcodes(),       atomic_opcodes(),
                               async_copy_opcodes(),  mbarrier_opcodes(),
                               matrix_load_opcodes(), tensor_map_opcodes(),
                               mma_opcodes(),         wmma_opcodes(),
                               wgmma_opcodes(),       cluster_launch_opcodes(),
                               tcgen05_opcodes()}) {
      for (const Opcode& opcode : family) all.emplace(opcode.name, opcode.decode);
    }
    return all;
  }();
  return table;
}

uint32_t class_bytes(int bits) {  // per lane, of a register
  return bits <= 1 ? 0 : bits <= 16 ? 2 : static_cast<uint32_t>(bits) / 8;
}

// Rounds an f64 to the 16-bit formats (nearest even); immediates only, so speed is no matter.
uint16_t to_bfloat16(float value) {
  uint32_t word = std::bit_cast<uint32_t>(value);
  if (value != value) return 0x7fff;
  word += 0x7fff + (word >> 16 & 1);
  return static_cast<uint16_t>(word >> 16);
}

void run_guarded(Warp& warp, const Inst& inst) {
  const uint32_t exec = warp.exec;
  const uint32_t predicate = warp.pred(inst.guard);
  const uint32_t lanes = exec & (inst.guard_negated ? ~predicate : predicate);
  if (lanes == exec) return inst.inner(warp, inst);
  if (lanes == 0) return;
  const bool full = warp.full;
  warp.exec = lanes;
  warp.full = false;
  inst.inner(warp, inst);
  warp.exec = exec;
  warp.full = full;
}

bool is_tcgen05(const ptx::Instruction& instruction, std::string_view operation) {
  return instruction.opcode == "tcgen05" && !instruction.modifiers.empty() &&
         instruction.modifiers.front() == operation;
}

// The carry flags come first in a frame; so that offset 0 can mean "no guard".
constexpr uint32_t carry_offset = 0, first_constant = 64;
constexpr uint64_t sink_mark =
    0x5111c5111c5111c0;  // the "value" of what "_" writes to: no other has such a `high`

class FrameDecoder final : public Decoder {
 public:
  FrameDecoder(Loader& loader, Program& program)
      : speculation_(*program.function), metadata_(wgmma_metadata_registers(*program.function)) {
    loader_ = &loader;
    program_ = &program;
  }

  // First pass: what is read and written. Constants get their storage here.
  std::vector<Access> collect() {
    const ptx::Function& function = *program_->function;
    std::vector<Access> accesses(function.instructions.size());
    offsets_ = nullptr;
    for (size_t i = 0; i < accesses.size(); ++i) {
      access_ = &accesses[i];
      one(function.instructions[i]);
      if (ptx_->guard >= 0) {
        access_->reads.push_back(static_cast<uint32_t>(ptx_->guard));
        access_->partial_write = true;
      }
      access_->early_clobber = early_clobber_;
    }
    return accesses;
  }

  // Second pass: instructions.
  void emit(const Allocated& allocated) {
    offsets_ = &allocated;
    const ptx::Function& function = *program_->function;
    Access ignored;
    for (const ptx::Instruction& instruction : function.instructions) {
      ignored = {};
      access_ = &ignored;
      one(instruction);
      inst_.run = inst_.inner;
      if (instruction.guard >= 0) {
        inst_.guard = allocated.offset[static_cast<size_t>(instruction.guard)];
        inst_.guard_negated = instruction.guard_negated;
        if (!own_guard_) inst_.run = run_guarded;
      }
      watch(ignored);
      program_->code.push_back(inst_);
      program_->memory.push_back(memory_);
    }
    for (const auto& [kind, refusal] : refusals_) {
      if (refusal.count > 1) {
        program_->unsupported[refusal.index] +=
            " (and " + std::to_string(refusal.count - 1) + " more like it)";
      }
    }
  }

  uint32_t constants_end() const { return next_constant_; }
  uint32_t carry() override { return carry_offset; }
  std::optional<Speculation::Choice> speculated() override {
    return speculation_.of(static_cast<size_t>(ptx_ - program_->function->instructions.data()));
  }

  uint32_t constant(uint32_t bytes, uint64_t low, uint64_t high = 0, bool shared = false) {
    const auto [known, made] = constant_of_.try_emplace({bytes, low, high, shared}, next_constant_);
    if (!made) return known->second;
    const uint32_t offset = next_constant_;
    next_constant_ += std::max(64u, bytes * warp_size);
    program_->constants.push_back({offset, bytes, low, high, shared});
    return offset;
  }

 private:
  void one(const ptx::Instruction& instruction) {
    ptx_ = &instruction;
    inst_ = {};
    memory_ = {};
    understood_ = 0;
    early_clobber_ = own_guard_ = false;
    try {
      const auto found = opcodes().find(instruction.opcode);
      if (found == opcodes().end()) unsupported("this simulator has no such instruction");
      found->second(*this);
      for (size_t i = 0; i < instruction.modifiers.size(); ++i) {
        if (!(understood_ >> i & 1))
          unsupported("this simulator has no '." + std::string(instruction.modifiers[i]) + "' here");
      }
      if (!inst_.inner) unsupported("this simulator has no such form");
    } catch (const std::exception& problem) {  // Unsupported, or an operand that is not what it should be
      if (offsets_) {
        refuse(problem.what());
        inst_ = {};
        inst_.inner = [](Warp& warp, const Inst&) {
          fault(warp, FindingKind::not_supported, "this simulator has no such instruction");
        };
      }
    }
  }

  // Does the instruction use a register that some wgmma uses, or some tcgen05.ld writes, too? (No GPU has
  // both.)
  void watch(const Access& access) {
    const bool wgmma = !program_->wgmma_registers.empty();
    const std::vector<bool>& used = wgmma ? program_->wgmma_registers : program_->loaded_registers;
    if (used.empty()) return;
    Watched& watched = program_->watched.emplace_back();
    if (ptx_->opcode == "wgmma" || is_tcgen05(*ptx_, "ld") || is_tcgen05(*ptx_, "wait::ld")) return;
    for (const auto* registers : {&access.reads, &access.writes}) {
      for (const uint32_t r : *registers) {
        if (used[r]) watched.registers.push_back(offsets_->offset[r]);
      }
    }
    const bool metadata = wgmma && loads_metadata(*ptx_, metadata_);
    if (metadata) {
      watched.run = inst_.run;
      inst_.run = run_watched_metadata;
    }
    if (watched.registers.empty() || metadata) return;
    const auto is_vector = [](const ptx::Operand& each) { return each.kind == ptx::Operand::Kind::vector; };
    const bool move =
        ptx_->opcode == "mov" && std::none_of(ptx_->operands.begin(), ptx_->operands.end(), is_vector);
    watched.run = inst_.run;
    if (wgmma) {
      inst_.run = move ? run_watched_move : run_watched;
    } else {
      inst_.run = move ? run_watched_load_move : run_watched_load;
    }
  }

  // One line for all instructions that differ in their operands only: there may be thousands.
  void refuse(const std::string& why) {
    std::string kind = std::string(ptx_->opcode) + ' ' + why;
    for (const std::string_view modifier : ptx_->modifiers) kind.append(1, '.').append(modifier);
    Refusal& refusal = refusals_[kind];
    if (refusal.count++ == 0) {
      refusal.index = program_->unsupported.size();
      std::string text;  // on one line: calls are written over several
      for (const char c : ptx_->text) {
        const bool space = c == '\n' || c == '\t' || c == '\r' || c == ' ';
        if (!space) text += c;
        if (space && !text.empty() && text.back() != ' ') text += ' ';
      }
      program_->unsupported.push_back("PTX line " + std::to_string(ptx_->line) + ": " + text + ": " + why);
    }
  }

  uint32_t offset_of(const ptx::Operand& operand, ptx::Type as, bool write) override {
    using Kind = ptx::Operand::Kind;
    const int bits = ptx::bits(as);
    switch (operand.kind) {
      case Kind::reg: {
        auto& list = write ? access_->writes : access_->reads;
        list.push_back(operand.index);
        return offsets_ ? offsets_->offset[operand.index] : 0;
      }
      case Kind::sink:
        if (!write) unsupported("'_' as a source");
        return constant(class_bytes(bits), sink_mark, sink_mark);  // its own storage, never read
      case Kind::immediate:
        if (write) break;
        if (as == ptx::Type::pred) return constant(0, operand.value != 0 ? ~0ull : 0);
        if (as == ptx::Type::f32 || as == ptx::Type::f64) {
          return floating_constant(static_cast<double>(operand.value), as);
        }
        return integer_constant(static_cast<uint64_t>(operand.value), bits);
      case Kind::floating: {
        if (write) break;
        if (operand.floating_bits == 32 && as != ptx::Type::f64) {
          if (bits == 16) {
            return floating_constant(std::bit_cast<float>(static_cast<uint32_t>(operand.value)), as);
          }
          return integer_constant(static_cast<uint32_t>(operand.value), bits);
        }
        if (operand.floating_bits == 32) {
          return floating_constant(std::bit_cast<float>(static_cast<uint32_t>(operand.value)), as);
        }
        if (as == ptx::Type::b64 || as == ptx::Type::u64)
          return integer_constant(static_cast<uint64_t>(operand.value), bits);
        return floating_constant(std::bit_cast<double>(operand.value), as);
      }
      case Kind::variable:
        if (write) break;
        if (operand.variable->space == ptx::Space::shared) {
          if (bits != 32 && bits != 64) unsupported("a shared address of another width");
          const uint64_t address = loader_->address_of(*operand.variable);
          return constant(class_bytes(bits), address + static_cast<uint64_t>(operand.value), 0, true);
        }
        return integer_constant(loader_->address_of(*operand.variable) + static_cast<uint64_t>(operand.value),
                                bits);
      case Kind::function:
        if (write) break;
        return integer_constant(loader_->address_of(*operand.function), bits);
      case Kind::special:
        if (operand.text == "WARP_SZ" && !write) return integer_constant(warp_size, bits);
        break;
      default:
        break;
    }
    unsupported("this simulator has no operand '" + std::string(operand.text) + "' here");
  }

  uint32_t integer_constant(uint64_t value, int bits) {
    if (bits == 128) return constant(16, value, static_cast<int64_t>(value) < 0 ? ~0ull : 0);
    return constant(class_bytes(bits), bits >= 64 ? value : value & ((1ull << bits) - 1));
  }
  uint32_t floating_constant(double value, ptx::Type as) {
    switch (as) {
      case ptx::Type::f64:
        return constant(8, std::bit_cast<uint64_t>(value));
      case ptx::Type::f32:
        return constant(4, std::bit_cast<uint32_t>(static_cast<float>(value)));
      case ptx::Type::bf16:
        return constant(2, to_bfloat16(static_cast<float>(value)));
      case ptx::Type::f16:
        return constant(2, to_half(value));
      default:
        break;
    }
    unsupported("this simulator has no floating-point immediate here");
  }
  static uint16_t to_half(double value) {
    if (value != value) return 0x7fff;
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double size = std::fabs(value);
    if (size >= 65520) return sign | 0x7c00;
    int exponent = 0;
    std::frexp(size, &exponent);
    const int step = std::max(exponent - 11, -24);  // of the last bit
    const double units = std::nearbyint(std::ldexp(size, -step));
    if (step == -24)
      return static_cast<uint16_t>(sign + static_cast<uint16_t>(units));  // subnormal, or the first normal
    return static_cast<uint16_t>(sign + ((step + 25 - 1) << 10) + static_cast<int>(units));
  }

  bool is_unused(const ptx::Operand& operand) override {
    if (operand.kind == ptx::Operand::Kind::sink) return true;
    return offsets_ && operand.kind == ptx::Operand::Kind::reg && !offsets_->read[operand.index];
  }

  struct Refusal {
    size_t index = 0;  // in Program::unsupported
    uint32_t count = 0;
  };
  std::map<std::string, Refusal> refusals_;
  Speculation speculation_;
  std::vector<bool> metadata_;  // registers, by number: of some sparse wgmma
  const Allocated* offsets_ = nullptr;
  Access* access_ = nullptr;
  uint32_t next_constant_ = first_constant;
  std::map<std::tuple<uint32_t, uint64_t, uint64_t, bool>, uint32_t>
      constant_of_;  // bytes, low, high, shared → offset
};

}  // namespace

uint64_t function_address(const ptx::Module& module, const ptx::Function& function) {
  uint64_t index = 0;
  while (&module.functions[index] != &function) ++index;
  return function_window + 16 * (index + 1);
}

uint64_t Loader::address_of(const ptx::Variable& variable) {
  if (const auto found = address_.find(&variable); found != address_.end()) return found->second;
  if (const auto found = variable_address_.find(&variable); found != variable_address_.end())
    return found->second;
  if (variable.space == ptx::Space::shared) {  // of module scope: laid out where it is first used
    if (variable.size == 0) {
      dynamic_shared_.push_back(&variable);
      return 0;  // known when all static variables are; the second pass sees it
    }
    shared_end_ = (shared_end_ + variable.align - 1) / variable.align * variable.align;
    const uint64_t address = shared_end_;
    shared_end_ += static_cast<uint32_t>(variable.size);
    return variable_address_[&variable] = address;
  }
  throw Unsupported("this simulator has no address of '" + std::string(variable.name) + "' here");
}

const Program* Loader::program_of(const ptx::Function& function) {
  if (const auto found = program_of_.find(&function); found != program_of_.end()) return found->second;
  if (!function.defined)
    throw Unsupported("function '" + std::string(function.name) + "' is not in this source file");
  module_.parse_body(const_cast<ptx::Function&>(function));
  auto program = std::make_unique<Program>();
  program->module = &module_;
  program->function = &function;
  Program* pointer = program.get();
  kernel_->programs.push_back(std::move(program));
  program_of_[&function] = pointer;
  return pointer;
}

uint64_t Loader::address_of(const ptx::Function& function) {
  return function_address(module_, function);
}

// Not below shared_reserved, where hardware has it: bounds and counts are then those of all shared memory.
uint32_t Loader::group_scratch() {
  if (!group_scratch_) {
    group_scratch_ = (shared_end_ + 15) / 16 * 16;
    shared_end_ = group_scratch_ + group_scratch_bytes;
  }
  return group_scratch_;
}

void Loader::lay_out_shared(const ptx::Function& function) {
  for (const ptx::Variable& variable : function.variables) {
    if (variable.space == ptx::Space::shared && variable.size) address_of(variable);
  }
}

// Registers for a thread where so many threads share a multiprocessor: each quarter of it has 16384, and
// takes whole warps.
uint32_t registers_for(uint32_t threads) {
  const uint32_t warps = (threads + warp_size - 1) / warp_size;
  return 16384 / (warp_size * ((warps + 3) / 4)) / 8 * 8;
}

// What a kernel with setmaxnreg starts with, tried with ptxas 13.0: as many registers as the CTAs that
// .minnctapersm promises have room for in a quarter of a multiprocessor, or as .maxnreg says, but no more
// than it ever asks for. With neither directive ptxas ignores setmaxnreg: 0.
uint32_t registers_at_entry(const ptx::Function& entry, const Program& program) {
  if (program.most_registers == 0 || (entry.max_registers == 0 && entry.min_ctas == 0)) return 0;
  uint32_t most = program.most_registers;
  if (entry.max_registers != 0) most = std::min(most, (entry.max_registers + 7) / 8 * 8);
  if (entry.min_ctas != 0) {
    const auto& bound = entry.required_threads[0] != 0 ? entry.required_threads : entry.max_threads;
    const uint32_t threads =
        bound[0] != 0 ? bound[0] * std::max(1u, bound[1]) * std::max(1u, bound[2]) : 1024;
    most = std::min(most, registers_for((threads + warp_size - 1) / warp_size * warp_size * entry.min_ctas));
  }
  return most;
}

std::unique_ptr<Kernel> Loader::load(ptx::Function& entry) {
  kernel_ = std::make_unique<Kernel>();
  shared_end_ = shared_reserved;
  kernel_->entry = program_of(entry);
  KernelInfo& info = kernel_->info;
  info.name = entry.name;
  if (module_.target.starts_with("sm_"))
    info.architecture = std::atoi(std::string(module_.target.substr(3)).c_str());
  int status = 0;
  if (char* shown = abi::__cxa_demangle(info.name.c_str(), nullptr, nullptr, &status)) {
    kernel_->shown = shown;
    std::free(shown);
  } else {
    kernel_->shown = info.name;
  }
  for (const ptx::Variable* param : entry.params) {
    info.params_bytes = (info.params_bytes + param->align - 1) / param->align * param->align;
    info.param_offset.push_back(info.params_bytes);
    info.param_bytes.push_back(static_cast<uint32_t>(param->size));
    variable_address_[param] = info.params_bytes;
    info.params_bytes += static_cast<uint32_t>(param->size);
  }

  // Every program twice: the list grows while calls are found. Function addresses in variables count as
  // calls.
  for (size_t i = 0; i < kernel_->programs.size(); ++i) decode(*kernel_->programs[i]);
  const size_t certain = kernel_->programs.size();
  if (indirect_) {  // any function of the module may be meant
    for (const ptx::Function& function : module_.functions) {
      if (!function.entry && function.defined) program_of(function);
    }
    for (size_t i = 0; i < kernel_->programs.size(); ++i) {
      if (kernel_->programs[i]->code.empty()) decode(*kernel_->programs[i]);
    }
  }
  kernel_->static_shared_end = shared_end_;
  uint32_t dynamic_align = 1;  // all dynamic arrays begin at one address
  for (const ptx::Variable* variable : dynamic_shared_)
    dynamic_align = std::max({16u, dynamic_align, variable->align});
  kernel_->static_shared_end = (shared_end_ + dynamic_align - 1) / dynamic_align * dynamic_align;
  for (const ptx::Variable* variable : dynamic_shared_) {
    variable_address_[variable] = kernel_->static_shared_end;
  }
  if (!dynamic_shared_.empty()) {
    const size_t known = kernel_->programs.size();
    for (size_t i = 0; i < known; ++i) decode(*kernel_->programs[i]);
  }

  uint32_t first = 0;
  for (const auto& program : kernel_->programs) {
    program->first = first;
    first += static_cast<uint32_t>(program->code.size());
    Program& top = *kernel_->programs[0];
    top.shared_granule = std::min(top.shared_granule, program->shared_granule);
    top.order_sensitive |= program->order_sensitive;
    if (!top.cta_group) top.cta_group = program->cta_group;
    if (program->cta_group && program->cta_group != top.cta_group)
      info.unsupported.push_back(std::string(program->function->name) + ": " + one_cta_group);
    top.cancels_launches |= program->cancels_launches;
    top.reads_clock |= program->reads_clock;
    top.most_registers = std::max(top.most_registers, program->most_registers);
    info.prints |= program->prints;
    info.allocates |= program->allocates;
    // What only an indirect call may reach is refused when one does.
    if (&program - kernel_->programs.data() < static_cast<std::ptrdiff_t>(certain)) {
      info.unsupported.insert(info.unsupported.end(), program->unsupported.begin(),
                              program->unsupported.end());
    }
    info.local_bytes += program->local_bytes;
  }
  for (const ptx::Variable& variable : module_.variables) {
    if (variable.space == ptx::Space::constant) info.constant_bytes += variable.size;
  }
  kernel_->instructions = first;
  kernel_->by_function.resize(module_.functions.size() + 1);
  for (const auto& program : kernel_->programs) {
    kernel_->by_function[(function_address(module_, *program->function) - function_window) / 16] =
        program.get();
  }
  info.shared_bytes = shared_end_ - shared_reserved;
  if (group_scratch_) info.shared_bytes -= group_scratch_bytes;  // not the program's
  kernel_->group_scratch = group_scratch_;
  if (entry.max_threads[0]) {
    info.max_threads =
        entry.max_threads[0] * std::max(1u, entry.max_threads[1]) * std::max(1u, entry.max_threads[2]);
  }
  if (entry.required_threads[0]) {
    for (int i = 0; i < 3; ++i) info.required_threads[i] = std::max(1u, entry.required_threads[i]);
    info.max_threads = info.required_threads[0] * info.required_threads[1] * info.required_threads[2];
  }
  if (entry.required_cluster[0]) {
    for (int i = 0; i < 3; ++i) info.required_cluster[i] = std::max(1u, entry.required_cluster[i]);
  }
  info.max_cluster = entry.max_cluster_rank;
  info.blocks_are_clusters = entry.blocks_are_clusters;
  // What ptxas would use is not known: at least what is alive at once, no more than the launch bounds allow.
  const uint32_t most =
      std::min(255u, registers_for(std::max(1u, info.max_threads) * std::max(1u, entry.min_ctas)));
  info.registers = std::min(most, std::max(16u, (kernel_->programs[0]->words_live + 8 + 7) / 8 * 8));
  info.registers_at_entry = registers_at_entry(entry, *kernel_->programs[0]);
  if (info.registers_at_entry != 0) info.registers = std::min(255u, info.registers_at_entry);
  return std::move(kernel_);
}

void Loader::decode(Program& program) {
  const ptx::Function& function = *program.function;
  const auto module = program.module;
  program = Program{};
  program.module = module;
  program.function = &function;
  lay_out_shared(function);

  FrameDecoder decoder(*this, program);
  // Local memory and call parameters have their place in the frame before any instruction asks for it.
  for (const ptx::Variable& variable : function.variables) {
    if (variable.space == ptx::Space::local) {
      const uint32_t align = std::max(16u, variable.align);
      program.local_bytes = (program.local_bytes + align - 1) / align * align;
      variable_address_[&variable] = program.local_bytes;
      program.local_bytes += static_cast<uint32_t>(variable.size);
    } else if (variable.space == ptx::Space::param &&
               !(function.entry && std::find(function.params.begin(), function.params.end(), &variable) !=
                                       function.params.end())) {
      program.call_params[&variable] = program.call_param_bytes;
      program.call_param_bytes += param_stride(static_cast<uint32_t>(variable.size)) * warp_size;
    }
  }
  for (const auto* formals : {&function.params, &function.results}) {
    for (const ptx::Variable* formal : *formals) {
      if (formal->space == ptx::Space::reg)
        program.unsupported.push_back(std::string(function.name) + " passes '" + std::string(formal->name) +
                                      "' in a register: this simulator has no such parameters");
    }
  }
  program.local_bytes = (program.local_bytes + 15) / 16 * 16;
  if (program.local_bytes > max_local_bytes) {
    program.unsupported.push_back(std::string(function.name) + " has " + std::to_string(program.local_bytes) +
                                  " bytes of local memory, more than a thread can have");
  }

  for (const ptx::Instruction& at : function.instructions) {
    if (at.opcode != "atom" ||
        std::find(at.modifiers.begin(), at.modifiers.end(), "cas") == at.modifiers.end())
      continue;
    if (at.operands.size() < 2 || at.operands[1].elements.empty()) continue;
    const ptx::Operand& base = at.operands[1].elements[0];
    if (base.kind == ptx::Operand::Kind::reg) program.compared.insert({base.index, at.operands[1].value});
    if (at.operands.size() > 2 && at.operands[2].kind == ptx::Operand::Kind::reg) {
      program.compared_values.insert(at.operands[2].index);
    }
  }

  for (const ptx::Instruction& at : function.instructions) {
    if (at.opcode != "wgmma" || at.operands.size() < 2) continue;
    program.wgmma_registers.resize(function.registers.size());
    for (size_t i = 0; i < 2; ++i) {  // D, and A where it is in registers
      for (const ptx::Operand& each : at.operands[i].elements) {
        if (each.kind == ptx::Operand::Kind::reg) program.wgmma_registers[each.index] = true;
      }
    }
  }

  for (const ptx::Instruction& at : function.instructions) {
    if (!is_tcgen05(at, "ld")) continue;
    program.loaded_registers.resize(function.registers.size());
    for (const ptx::Operand& list : at.operands) {
      if (list.kind == ptx::Operand::Kind::reg) program.loaded_registers[list.index] = true;
      if (list.kind != ptx::Operand::Kind::vector) continue;
      for (const ptx::Operand& each : list.elements) {
        if (each.kind == ptx::Operand::Kind::reg) program.loaded_registers[each.index] = true;
      }
    }
  }

  const std::vector<Access> accesses = decoder.collect();
  program.order_sensitive = false;  // the first pass does not know yet which results are unused
  const uint32_t params_begin = decoder.constants_end();
  for (auto& [variable, offset] : program.call_params) offset += params_begin;
  const Allocated allocated = allocate_registers(function, accesses, params_begin + program.call_param_bytes);
  decoder.emit(allocated);
  if (decoder.constants_end() != params_begin) throw std::logic_error("the two passes of the decoder differ");
  program.frame_bytes = allocated.end;
  program.words_live = allocated.words_live;
  for (uint32_t r : allocated.uninitialised) {
    const int bits = ptx::bits(function.registers[r].type);
    program.zeroed.push_back({allocated.offset[r], bits == 1 ? 4 : class_bytes(bits) * warp_size});
  }
  for (const ptx::Variable* param : function.params) {
    if (!function.entry)
      program.params.push_back({program.call_params[param], static_cast<uint32_t>(param->size)});
  }
  for (const ptx::Variable* result : function.results) {
    program.results.push_back({program.call_params[result], static_cast<uint32_t>(result->size)});
  }
  Inst end;
  end.inner = end.run = implicit_return();
  program.code.push_back(end);
  if (!program.watched.empty()) program.watched.emplace_back();
  program.memory.emplace_back();
}

}  // namespace simulator
