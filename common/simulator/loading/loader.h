// From a function of PTX to a kernel with everything it calls, decoded.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/program/kernel.h"
#include "common/simulator/program/program.h"

namespace simulator {

// The value of a pointer to a function: the same in all kernels of the module.
uint64_t function_address(const ptx::Module& module, const ptx::Function& function);

// Decodes one kernel.
class KernelLoader final : public Loader {
 public:
  // address: of module-scope .global and .const variables.
  KernelLoader(ptx::Module& module, const std::map<const ptx::Variable*, uint64_t>& address)
      : module_(module), address_(address) {}

  std::unique_ptr<Kernel> load(ptx::Function& entry);

  uint64_t address_of(const ptx::Variable& variable) override;
  const Program* program_of(const ptx::Function& function) override;
  uint64_t address_of(const ptx::Function& function) override;
  void has_indirect_call() override { indirect_ = true; }
  uint32_t group_scratch() override;

 private:
  void name_and_parameters(const ptx::Function& entry);
  size_t decode_all();  // the kernel and what it calls; how many of them are certain to be called
  void name_shared_variables();
  void summarise(size_t certain);
  void read_limits(const ptx::Function& entry);
  void decode(Program& program);
  void place_variables(Program& program);
  void lay_out_shared(const ptx::Function& function);

  ptx::Module& module_;
  const std::map<const ptx::Variable*, uint64_t>& address_;
  std::unique_ptr<Kernel> kernel_;
  std::map<const ptx::Function*, Program*> program_of_;
  std::map<const ptx::Variable*, uint64_t>
      variable_address_;  // shared, local, kernel parameters: in their own space
  std::vector<const ptx::Variable*> dynamic_shared_;
  uint32_t shared_end_ = 0;
  uint32_t group_scratch_ = 0;  // 0: not used
  bool indirect_ = false;
};

}  // namespace simulator
