// What was counted, as a program or a reader gets it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/simulator/counters/counts.h"
#include "common/simulator/reports/access_counts.h"

namespace simulator {

// Counting starts with the first reset_counters() or with SIMULATOR_COUNTERS.
struct LineCounts : AccessCounts {
  std::string file;  // as the compiler named it; empty: unknown
  uint32_t line = 0;
};
struct KernelCounts : AccessCounts {
  std::string name;  // demangled
  uint64_t launches = 0, ctas = 0, warps = 0;
  uint64_t ctas_left_out = 0;  // that did not run: Settings::ctas
  uint64_t findings = 0;
  uint64_t tensor_instructions = 0,
           tensor_macs = 0;             // mma of a warp, or a thread; multiply-adds that they do
  std::map<std::string, uint64_t> mix;  // opcode with type, such as "fma.f32" → warp-instructions
  std::vector<LineCounts> lines;  // by the line in the kernel's own file: what is inlined counts for the call
  std::vector<std::string> notes;  // what ptxas may do differently, such as merging adjacent accesses
};

void reset_counters();
std::vector<KernelCounts> read_counters();  // since the last reset, by order of first launch
std::string counters_json(const std::vector<KernelCounts>& kernels);
std::string counters_table(const std::vector<KernelCounts>& kernels);
// The source file with counts beside each line that has any. Empty: the file cannot be read.
std::string annotated_listing(const std::vector<KernelCounts>& kernels, const std::string& file);

}  // namespace simulator
