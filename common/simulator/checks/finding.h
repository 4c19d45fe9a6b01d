// What is wrong with a kernel, in words that let its author fix it.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace simulator {

enum class FindingKind : uint8_t {
  illegal_address,  // out of bounds, freed, no such memory, write to read-only memory
  misaligned,
  shared_out_of_bounds,
  local_out_of_bounds,
  param_out_of_bounds,
  illegal_instruction,
  trap,
  assertion,
  stack_overflow,
  deadlock,
  // What a GPU lets pass:
  uninitialised,      // a read of memory never written
  unfinished_copy,    // an access to shared memory that a copy is still to write
  unfinished_async,   // an access to what an operation of the async proxy is still to read or write
  missing_fence,      // between two accesses through different proxies, or to a register that an operation in
                      // flight uses, too
  race,               // two accesses to shared or tensor memory, at least one a write, that nothing orders
  absent_cta,         // an access to shared memory of a CTA that may not have started or may have exited
  tensor_allocation,  // tensor memory that is allocated or freed against the rules, or not freed
  divergent_barrier,  // a barrier that not all threads reach together
  invalid_shuffle,    // a warp-wide instruction that names or reads a lane that is not there
  not_supported,      // the simulator cannot do this
  limit,              // SIMULATOR_LIMIT: the launch has executed more than it may
};
const char* name_of(FindingKind kind);
bool faults_on_hardware(FindingKind kind);

// Where in a kernel: filled in by the executor.
struct Site {
  std::string kernel;  // demangled
  uint32_t cta[3] = {}, thread[3] = {};
  std::string source;  // "gemm.cu:42", with " (inlined at …)" for each call around it; empty: not known
  std::string instruction;  // PTX text
  uint32_t ptx_line = 0;
};

struct Finding {
  FindingKind kind;
  std::string what;                  // one sentence: what is wrong, with address, size, allocation, limits
  std::vector<std::string> details;  // further lines, such as the other access of a race, who waits for what
  Site site;
};

// One block of text, each line begins with "simulator: ".
std::string to_text(const Finding& finding);

// Thrown by handlers to end a launch; caught where the launch began.
struct Fault : std::runtime_error {
  explicit Fault(Finding finding_) : std::runtime_error(finding_.what), finding(std::move(finding_)) {}
  Finding finding;
};

// Findings of one launch.
class Findings {
 public:
  // Thread-safe. Of those of one kind at one instruction, that of the first CTA is kept: the same for any
  // number of CPU threads.
  void add(Finding finding);
  using Reported = std::set<std::pair<FindingKind, uint32_t>>;  // and the line of the PTX
  // A further line on what has been found of this kind in this CTA, where none begins like it (up to ':').
  void explain(FindingKind kind, const uint32_t (&cta)[3], const std::string& detail);
  // Prints all that are kept, by instruction, on stderr. `reported`: what earlier launches of the kernel have
  // reported, which is not repeated.
  void report(Reported& reported);
  uint64_t count() const;
  std::vector<Finding> all() const;

 private:
  mutable std::mutex mutex_;
  struct Kept {
    Finding finding;
    uint64_t times;
  };
  std::vector<Kept> kept_;
  uint64_t count_ = 0;
};

}  // namespace simulator
