// A PTX image, and the kernels in it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/simulator/memory/global_memory.h"
#include "common/simulator/program/kernel.h"

namespace simulator {

// One PTX image. Throws ptx::SyntaxError.
class Module {
 public:
  explicit Module(std::string ptx);  // allocates and initialises its variables in global memory
  ~Module();

  // Null: no such kernel. Parses and decodes at the first call for each kernel; what cannot be run is
  // reported on stderr then and listed in info. The pointer lives as long as the module.
  const Kernel* kernel(std::string_view name);
  std::vector<std::string> kernels() const;  // their names
  // Null: no such variable.
  const Allocation* variable(std::string_view name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  friend struct Kernel;
};

}  // namespace simulator
