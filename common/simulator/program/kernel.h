// A kernel with everything it calls, decoded; what a launch of it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/simulator/checks/finding.h"
#include "common/simulator/program/program.h"

namespace simulator {

struct KernelInfo {
  std::string name;                    // as in the PTX (mangled)
  std::vector<uint32_t> param_offset;  // bytes, in the parameter buffer
  std::vector<uint32_t> param_bytes;
  uint32_t params_bytes = 0;  // of the whole buffer
  size_t shared_bytes = 0;    // static shared memory
  size_t local_bytes = 0;     // per thread
  size_t constant_bytes = 0;
  uint32_t registers = 0;                      // per thread, estimated: what occupancy is worked out from
  uint32_t registers_at_entry = 0;             // where they are given and taken at run time; 0: they are not
  bool prints = false, allocates = false;      // calls printf, malloc
  int architecture = 0;                        // that the PTX was made for: 80, 90 …
  uint32_t max_threads = 1024;                 // per block: __launch_bounds__
  std::array<uint32_t, 3> required_threads{};  // .reqntid, 0: none
  std::array<uint32_t, 3> required_cluster{};  // __cluster_dims__, 0: none
  uint32_t max_cluster = 0;                    // .maxclusterrank, 0: none
  bool blocks_are_clusters = false;            // __block_size__ with a cluster: a launch counts clusters
  std::vector<std::string> unsupported;        // not empty: not to be launched
};

// A static variable in shared memory.
struct SharedVariable {
  std::string name;  // demangled, without the function around it
  uint32_t address = 0, bytes = 0;
  uint32_t element = 1;  // bytes of one; of a struct 1
};

struct Kernel {
  KernelInfo info;
  std::string shown;                    // demangled name
  mutable Findings::Reported reported;  // by the launches so far
  const Program* entry = nullptr;
  std::vector<std::unique_ptr<Program>> programs;  // entry first
  std::vector<const Program*>
      by_function;  // what (address − function_window) / 16 calls; null: not in this kernel
  std::vector<SharedVariable> shared_variables;
  uint32_t instructions = 0;       // of all programs
  uint32_t static_shared_end = 0;  // offset, the reserved bytes included
  uint32_t group_scratch = 0;      // address in shared memory, see Loader::group_scratch(); 0: none
};

// The toolkit's headers use this much of it.
constexpr uint32_t group_scratch_bytes = 288;

inline const KernelInfo& info(const Kernel& kernel) {
  return kernel.info;
}

struct Launch {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  bool explicit_cluster = false;  // %is_explicit_cluster
  size_t dynamic_shared = 0;
  bool cooperative = false;  // all CTAs are resident at once
};

}  // namespace simulator
