#include "common/simulator/loading/loader.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "common/simulator/instructions/control/builtins.h"
#include "common/simulator/instructions/control/opcodes.h"
#include "common/simulator/instructions/opcodes.h"
#include "common/simulator/loading/frame_decoder.h"
#include "common/simulator/loading/observed.h"
#include "common/simulator/machine/machine.h"

namespace simulator {

uint64_t function_address(const ptx::Module& module, const ptx::Function& function) {
  uint64_t index = 0;
  while (&module.functions[index] != &function) ++index;
  return function_window + 16 * (index + 1);
}

uint64_t KernelLoader::address_of(const ptx::Variable& variable) {
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

const Program* KernelLoader::program_of(const ptx::Function& function) {
  if (const auto found = program_of_.find(&function); found != program_of_.end()) return found->second;
  if (!function.defined) throw Unsupported(why_missing(function.name));
  module_.parse_body(const_cast<ptx::Function&>(function));
  auto program = std::make_unique<Program>();
  program->module = &module_;
  program->function = &function;
  Program* pointer = program.get();
  kernel_->programs.push_back(std::move(program));
  program_of_[&function] = pointer;
  return pointer;
}

uint64_t KernelLoader::address_of(const ptx::Function& function) {
  return function_address(module_, function);
}

// Not below shared_reserved, where hardware has it: bounds and counts are then those of all shared memory.
uint32_t KernelLoader::group_scratch() {
  if (!group_scratch_) {
    group_scratch_ = (shared_end_ + 15) / 16 * 16;
    shared_end_ = group_scratch_ + group_scratch_bytes;
  }
  return group_scratch_;
}

void KernelLoader::lay_out_shared(const ptx::Function& function) {
  for (const ptx::Variable& variable : function.variables) {
    if (variable.space == ptx::Space::shared && variable.size) address_of(variable);
  }
}

namespace {

// Registers for a thread where this many threads share a multiprocessor: each quarter of it has 16384, and
// takes whole warps.
uint32_t registers_for(uint32_t threads) {
  const uint32_t warps = (threads + warp_size - 1) / warp_size;
  return 16384 / (warp_size * ((warps + 3) / 4)) / 8 * 8;
}

// What a kernel with setmaxnreg starts with, tried with ptxas 13.0: as many registers as the CTAs that
// .minnctapersm promises have room for in a quarter of a multiprocessor, or as .maxnreg says, but no more
// than it ever requests. With neither directive ptxas ignores setmaxnreg: 0.
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

std::string demangled(std::string_view name) {
  const std::string text(name);
  int status = 0;
  char* shown = abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status);
  const std::string plain = shown ? shown : text;
  std::free(shown);
  return plain;
}

}  // namespace

std::unique_ptr<Kernel> KernelLoader::load(ptx::Function& entry) {
  kernel_ = std::make_unique<Kernel>();
  shared_end_ = shared_reserved;
  kernel_->entry = program_of(entry);
  name_and_parameters(entry);
  summarise(decode_all());
  name_shared_variables();
  read_limits(entry);
  return std::move(kernel_);
}

void KernelLoader::name_and_parameters(const ptx::Function& entry) {
  KernelInfo& info = kernel_->info;
  info.name = entry.name;
  if (module_.target.starts_with("sm_"))
    info.architecture = std::atoi(std::string(module_.target.substr(3)).c_str());
  kernel_->shown = demangled(info.name);
  for (const ptx::Variable* param : entry.params) {
    info.params_bytes = (info.params_bytes + param->align - 1) / param->align * param->align;
    info.param_offset.push_back(info.params_bytes);
    info.param_bytes.push_back(static_cast<uint32_t>(param->size));
    variable_address_[param] = info.params_bytes;
    info.params_bytes += static_cast<uint32_t>(param->size);
  }
}

size_t KernelLoader::decode_all() {
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
  return certain;
}

void KernelLoader::name_shared_variables() {
  for (const auto& [variable, address] : variable_address_) {
    if (variable->space != ptx::Space::shared || variable->size == 0) continue;
    const std::string name = demangled(variable->name);  // "kernel(int)::full"
    const size_t scope = name.rfind("::");
    kernel_->shared_variables.push_back(
        {scope == std::string::npos ? name : name.substr(scope + 2), static_cast<uint32_t>(address),
         static_cast<uint32_t>(variable->size), static_cast<uint32_t>(ptx::bits(variable->type)) / 8});
  }
}

void KernelLoader::summarise(size_t certain) {
  KernelInfo& info = kernel_->info;
  uint32_t first = 0;
  for (const auto& program : kernel_->programs) {
    program->first = first;
    first += static_cast<uint32_t>(program->code.size());
    Program& top = *kernel_->programs[0];
    top.shared_granule = std::min(top.shared_granule, program->shared_granule);
    top.order_sensitive |= program->order_sensitive;
    for (const auto& [rule, value] : program->agreed) {
      if (top.agreed.emplace(rule, value).first->second != value)
        info.unsupported.push_back(std::string(program->function->name) + ": " + rule);
    }
    top.relaxed_ends |= program->relaxed_ends;
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
}

void KernelLoader::read_limits(const ptx::Function& entry) {
  KernelInfo& info = kernel_->info;
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
}

namespace {

void refuse_what_is_not_there(Program& program) {
  const ptx::Function& function = *program.function;
  for (const auto* formals : {&function.params, &function.results}) {
    for (const ptx::Variable* formal : *formals) {
      if (formal->space == ptx::Space::reg)
        program.unsupported.push_back(std::string(function.name) + " passes '" + std::string(formal->name) +
                                      "' in a register: this simulator has no such parameters");
    }
  }
  if (program.local_bytes > max_local_bytes) {
    program.unsupported.push_back(std::string(function.name) + " has " + std::to_string(program.local_bytes) +
                                  " bytes of local memory, more than a thread can have");
  }
}

// Registers that compare-and-swaps name.
void note_compared(Program& program) {
  for (const ptx::Instruction& at : program.function->instructions) {
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
}

void note_watch(Program& program) {
  for (const MakeWatch make : all_watches()) {
    std::shared_ptr<const Watch> made = make(*program.function);
    if (made && program.watch) {
      program.unsupported.push_back(std::string(program.function->name) +
                                    " uses registers asynchronously in two ways, of which a GPU has one");
    }
    if (made) program.watch = std::move(made);
  }
}

}  // namespace

void KernelLoader::decode(Program& program) {
  const ptx::Function& function = *program.function;
  const auto module = program.module;
  program = Program{};
  program.module = module;
  program.function = &function;
  lay_out_shared(function);

  FrameDecoder decoder(*this, program);
  place_variables(program);
  refuse_what_is_not_there(program);
  note_compared(program);
  note_watch(program);
  const std::vector<Access> accesses = decoder.collect();
  program.order_sensitive = false;  // the first pass does not know yet which results are unused
  const uint32_t params_begin = decoder.constants_end();
  for (auto& [variable, offset] : program.call_params) offset += params_begin;
  const Allocated allocated = allocate_registers(function, accesses, params_begin + program.call_param_bytes);
  decoder.emit(allocated);
  observe(program, accesses);
  if (decoder.constants_end() != params_begin) throw std::logic_error("the two passes of the decoder differ");
  program.frame_bytes = allocated.end;
  program.slots = allocated.slots;
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

// Local memory and call parameters have their place in the frame before any instruction needs it.
void KernelLoader::place_variables(Program& program) {
  const ptx::Function& function = *program.function;
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
  program.local_bytes = (program.local_bytes + 15) / 16 * 16;
}

}  // namespace simulator
