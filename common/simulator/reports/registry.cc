#include "common/simulator/reports/registry.h"

#include <atomic>
#include <cstdio>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "common/simulator/reports/description.h"
#include "common/simulator/reports/report.h"
#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

struct Launched {
  const Program* program =
      nullptr;  // with `symbol` and the number of instructions: which kernel; never read through
  std::string symbol;
  KernelDescription description;
  std::vector<Counts> counts;
  std::vector<Overlap> overlap;
  uint64_t launches = 0, ctas = 0, ctas_left_out = 0, warps = 0, findings = 0;
};

// Which of a kernel's sums an access adds to. A generic access was to global memory where it touched sectors,
// to shared memory where it took wavefronts, else to local memory.
Counts* sums_of_access(AccessCounts& sums, const MemoryUse& use, const Counts& counts) {
  if (use.kind == MemoryUse::Kind::none) return nullptr;
  if (use.kind == MemoryUse::Kind::atomic) return &sums.atomic;
  if (use.kind == MemoryUse::Kind::copy) return &sums.async_copy;
  if (use.kind == MemoryUse::Kind::bulk) return &sums.bulk_copy;
  ptx::Space space = use.space;
  if (use.generic) {
    space = counts.sectors > 0      ? ptx::Space::global
            : counts.wavefronts > 0 ? ptx::Space::shared
                                    : ptx::Space::local;
  }
  const bool load = use.kind == MemoryUse::Kind::load;
  switch (space) {
    case ptx::Space::global:
      return load ? &sums.global_load : &sums.global_store;
    case ptx::Space::shared:
      return load ? &sums.shared_load : &sums.shared_store;
    case ptx::Space::local:
      return &sums.local;
    default:
      return nullptr;
  }
}

void add(AccessCounts& sums, const DescribedInstruction& instruction, const Counts& counts) {
  const MemoryUse& use = instruction.memory;
  sums.total += counts;
  if (instruction.matrices) (use.kind == MemoryUse::Kind::load ? sums.ldmatrix : sums.stmatrix) += counts;
  if (instruction.wgmma) sums.wgmma += counts;
  if (instruction.tcgen05) sums.tcgen05 += counts;
  Counts* access = sums_of_access(sums, use, counts);
  if (access == nullptr) return;
  const bool both = use.kind != MemoryUse::Kind::load && use.kind != MemoryUse::Kind::store;
  if (!use.generic || both || counts.sectors == 0 || counts.wavefronts == 0) {
    *access += counts;
    return;
  }
  // One generic instruction that went to both: its requests and bytes cannot be separated and count as
  // global.
  Counts global = counts, shared;
  std::swap(global.wavefronts, shared.wavefronts);
  std::swap(global.ideal_wavefronts, shared.ideal_wavefronts);
  *access += global;
  (use.kind == MemoryUse::Kind::load ? sums.shared_load : sums.shared_store) += shared;
}

class Registry {
 public:
  Registry() : output_(settings().counters), active_(!output_.empty()) {}
  Registry(const Registry&) = delete;

  ~Registry() {
    if (output_.empty()) return;
    const std::vector<KernelCounts> kernels = read();
    if (output_ == "-") {
      std::fputs(counters_table(kernels).c_str(), stderr);
      return;
    }
    std::ofstream file(output_);
    file << counters_json(kernels) << std::flush;
    if (!file) std::fprintf(stderr, "simulator: cannot write the counters to %s\n", output_.c_str());
  }

  bool active() const { return active_.load(std::memory_order_relaxed); }

  void reset() {
    const std::lock_guard lock(mutex_);
    kernels_.clear();
    active_ = true;
  }

  void record(const Program& kernel, const std::vector<const Program*>& functions, const Counts* counts,
              const Overlap* overlap, uint64_t ctas, uint64_t warps, uint64_t findings,
              uint64_t ctas_left_out) {
    const std::lock_guard lock(mutex_);
    Launched& launched = find(kernel, functions);
    for (size_t i = 0; i < launched.counts.size(); ++i) {
      launched.counts[i] += counts[i];
      launched.overlap[i] += overlap[i];
    }
    ++launched.launches;
    launched.ctas += ctas;
    launched.ctas_left_out += ctas_left_out;
    launched.warps += warps;
    launched.findings += findings;
  }

  std::vector<KernelCounts> read() {
    const std::lock_guard lock(mutex_);
    std::vector<KernelCounts> list;
    for (const Launched& launched : kernels_) list.push_back(sum(launched));
    return list;
  }

 private:
  Launched& find(const Program& kernel, const std::vector<const Program*>& functions) {
    size_t instructions = 0;
    for (const Program* program : functions) instructions += program->code.size();
    for (Launched& launched : kernels_) {
      if (launched.program == &kernel && launched.symbol == kernel.function->name &&
          launched.counts.size() == instructions) {
        return launched;
      }
    }
    Launched& launched = kernels_.emplace_back();
    launched.program = &kernel;
    launched.symbol = kernel.function->name;
    launched.description = describe(kernel, functions);
    launched.counts.resize(launched.description.instructions.size());
    launched.overlap.resize(launched.counts.size());
    return launched;
  }

  static KernelCounts sum(const Launched& launched) {
    const KernelDescription& description = launched.description;
    KernelCounts kernel;
    kernel.name = description.name;
    kernel.launches = launched.launches;
    kernel.ctas = launched.ctas;
    kernel.ctas_left_out = launched.ctas_left_out;
    kernel.warps = launched.warps;
    kernel.findings = launched.findings;
    std::map<std::pair<std::string, uint32_t>, LineCounts> lines;
    for (size_t i = 0; i < launched.counts.size(); ++i) {
      const Counts& counts = launched.counts[i];
      if (counts.executed == 0) continue;
      const DescribedInstruction& instruction = description.instructions[i];
      const KernelDescription::Place& place = description.places[instruction.place];
      LineCounts& line = lines[{place.file, place.line}];
      add(kernel, instruction, counts);
      add(line, instruction, counts);
      if (instruction.overlap) {
        kernel.*instruction.overlap += launched.overlap[i];
        line.*instruction.overlap += launched.overlap[i];
      }
      if (instruction.macs != 0 || counts.macs != 0) kernel.tensor_instructions += counts.executed;
      kernel.tensor_macs += instruction.macs * counts.executed + counts.macs;
      kernel.mix[instruction.mix] += counts.executed;
    }
    for (auto& [place, line] : lines) {
      line.file = place.first;
      line.line = place.second;
      kernel.lines.push_back(std::move(line));
    }
    kernel.notes = notes(description, launched.counts);
    return kernel;
  }

  std::mutex mutex_;
  const std::string output_;
  std::atomic<bool> active_;
  std::deque<Launched> kernels_;  // by first launch
};

// Its destructor, at the end of the program, writes the counters where SIMULATOR_COUNTERS says.
Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

bool counting() {
  return registry().active();
}

void record(const Program& kernel, const std::vector<const Program*>& functions, const Counts* counts,
            const Overlap* overlap, uint64_t ctas, uint64_t warps, uint64_t findings,
            uint64_t ctas_left_out) {
  registry().record(kernel, functions, counts, overlap, ctas, warps, findings, ctas_left_out);
}

void reset_counters() {
  registry().reset();
}

std::vector<KernelCounts> read_counters() {
  return registry().read();
}

}  // namespace simulator
