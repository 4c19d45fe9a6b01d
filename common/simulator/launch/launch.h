// Between the runtime and the executor: modules, kernels, launches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/simulator/checks/finding.h"
#include "common/simulator/memory/global_memory.h"

namespace simulator {

struct Kernel;  // see loader.h

struct KernelInfo {
  std::string name;                    // as in the PTX (mangled)
  std::vector<uint32_t> param_offset;  // bytes, in the parameter buffer
  std::vector<uint32_t> param_bytes;
  uint32_t params_bytes = 0;  // of the whole buffer
  size_t shared_bytes = 0;    // static shared memory
  size_t local_bytes = 0;     // per thread
  size_t constant_bytes = 0;
  uint32_t registers = 0;           // per thread, estimated: what occupancy is worked out from
  uint32_t registers_at_entry = 0;  // that setmaxnreg begins with; 0: there is none, or it has no effect
  bool prints = false, allocates = false;      // calls printf, malloc
  int architecture = 0;                        // that the PTX was made for: 80, 90 …
  uint32_t max_threads = 1024;                 // per block: __launch_bounds__
  std::array<uint32_t, 3> required_threads{};  // .reqntid, 0: none
  std::array<uint32_t, 3> required_cluster{};  // __cluster_dims__, 0: none
  uint32_t max_cluster = 0;                    // .maxclusterrank, 0: none
  bool blocks_are_clusters = false;            // __block_size__ with a cluster: a launch counts clusters
  std::vector<std::string> unsupported;        // not empty: not to be launched
};

// One PTX image. Throws ptx::SyntaxError.
class Module {
 public:
  explicit Module(std::string ptx);  // allocates and initialises its variables in global memory
  ~Module();

  // Null: no such kernel. Parses and decodes at the first call for each kernel; what cannot be run is told on
  // stderr then and listed in info. The pointer lives as long as the module.
  const Kernel* kernel(std::string_view name);
  // Null: no such variable.
  const Allocation* variable(std::string_view name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  friend struct Kernel;
};

const KernelInfo& info(const Kernel& kernel);

struct Launch {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  bool explicit_cluster = false;  // %is_explicit_cluster
  size_t dynamic_shared = 0;
  bool cooperative = false;  // all CTAs are resident at once
};

// Runs the kernel to its end. params: info().params_bytes bytes. Limits are checked by the caller. What ends
// the launch early comes back (already told on stderr), else nothing.
std::optional<Finding> run(const Kernel& kernel, const Launch& launch, const std::byte* params);

}  // namespace simulator
