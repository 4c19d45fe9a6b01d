// A kernel with everything it calls, decoded.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/simulator/checks/finding.h"
#include "common/simulator/launch/launch.h"
#include "common/simulator/program/program.h"

namespace simulator {

struct Kernel {
  KernelInfo info;
  std::string shown;            // demangled name
  mutable Findings::Told told;  // by the launches so far
  const Program* entry = nullptr;
  std::vector<std::unique_ptr<Program>> programs;  // entry first
  std::vector<const Program*>
      by_function;                 // what (address − function_window) / 16 calls; null: not in this kernel
  uint32_t instructions = 0;       // of all programs
  uint32_t static_shared_end = 0;  // offset, the reserved bytes included
  uint32_t group_scratch = 0;      // address in shared memory, see Loader::group_scratch(); 0: none
};

// The toolkit's headers use this much of it.
constexpr uint32_t group_scratch_bytes = 288;

// The value of a pointer to a function: the same in all kernels of the module.
uint64_t function_address(const ptx::Module& module, const ptx::Function& function);

// Decodes one kernel.
class Loader {
 public:
  // address: of module-scope .global and .const variables.
  Loader(ptx::Module& module, const std::map<const ptx::Variable*, uint64_t>& address)
      : module_(module), address_(address) {}

  std::unique_ptr<Kernel> load(ptx::Function& entry);

  // For decode functions.
  uint64_t address_of(const ptx::Variable& variable);  // in the variable's own space
  const Program* program_of(
      const ptx::Function& function);  // a called function: decoded later, the pointer is good now
  uint64_t address_of(const ptx::Function& function);
  void has_indirect_call() { indirect_ = true; }
  // Shared memory that the system keeps for groups of several warps (%reserved_smem_offset_1): its address. A
  // kernel that does not ask for it has none.
  uint32_t group_scratch();

 private:
  void decode(Program& program);
  void lay_out_shared(const ptx::Function& function);

  ptx::Module& module_;
  const std::map<const ptx::Variable*, uint64_t>& address_;
  std::unique_ptr<Kernel> kernel_;
  std::map<const ptx::Function*, Program*> program_of_;
  std::map<const ptx::Variable*, uint64_t>
      variable_address_;  // shared, local, kernel parameters: in their own space
  std::vector<const ptx::Variable*> dynamic_shared_;
  uint32_t shared_end_ = 0;
  uint32_t group_scratch_ = 0;  // 0: not asked for
  bool indirect_ = false;
};

// Bytes between the lanes of a call parameter in a frame.
constexpr uint32_t param_stride(uint32_t bytes) {
  return (bytes + 15) / 16 * 16;
}

// Registers of one function, from what its instructions read and write (registers.cc).
struct Access {
  std::vector<uint32_t> reads, writes;  // register numbers
  bool early_clobber = false;
  bool partial_write = false;  // guarded: lanes that the guard leaves out keep their value
};
struct Allocated {
  std::vector<uint32_t> offset;         // per register; from `begin` on
  uint32_t end = 0;                     // bytes
  uint32_t words_live = 0;              // most 32-bit registers alive at once
  std::vector<uint32_t> uninitialised;  // registers that may be read before they are written
  std::vector<bool> read;               // per register: does anybody read it?
};
Allocated allocate_registers(const ptx::Function& function, const std::vector<Access>& accesses,
                             uint32_t begin);

}  // namespace simulator
