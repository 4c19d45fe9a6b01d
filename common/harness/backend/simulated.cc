// The harness on the simulator, a GPU made of the CPU.
#include <cstdlib>
#include <set>
#include <stdexcept>

#include "common/harness/backend/device.h"
#include "common/harness/backend/partly_backed.h"
#include "common/harness/base/failure.h"
#include "common/rung.h"
#include "common/simulator/memory/global_memory.h"
#include "common/simulator/settings/settings.h"
#include "common/simulator/simulator.h"

namespace ladder {

DeviceKind device_kind() {
  return DeviceKind::simulator;
}

std::uint64_t guard_zone_bytes() {
  return 0;
}

void name_memory(const void* memory, const std::string& name) {
  simulator::name_memory(memory, name);
}

static const char* name_of(simulator::Checks checks) {
  switch (checks) {
    case simulator::Checks::off:
      return "off";
    case simulator::Checks::report:
      return "report";
    case simulator::Checks::fail:
      return "fail";
  }
  return "unknown";
}

Platform platform() {
  try {
    simulator::Settings& settings = simulator::settings();
    // Where no GPU is chosen and the default one is too old for the rung.
    const char* chosen = std::getenv("SIMULATOR_DEVICE");
    if ((!chosen || !*chosen) && rung().needs.major > 9) settings.device = "b200";
    return {.driver = {}, .cublas = {}, .checks = name_of(settings.checks), .schedule_seed = settings.seed};
  } catch (const std::invalid_argument& unknown) {
    throw Failure(Exit::bad_usage, unknown.what());
  }
}

static void add(AccessCounts& sum, const simulator::Counts& counts) {
  sum += {counts.requests, counts.sectors, counts.bytes, counts.wavefronts, counts.ideal_wavefronts};
}

Counters count(const std::function<void()>& launch, bool listing) {
  simulator::reset_counters();
  launch();
  const std::vector<simulator::KernelCounts> kernels = simulator::read_counters();

  Counters sum;
  simulator::AccessCounts overlap;
  std::set<std::string> files;
  for (const simulator::KernelCounts& kernel : kernels) {
    sum.ctas += kernel.ctas;
    sum.ctas_left_out += kernel.ctas_left_out;
    sum.warps += kernel.warps;
    sum.instructions += kernel.total.executed;
    sum.lanes += kernel.total.lanes;
    add(sum.global_load, kernel.global_load);
    add(sum.global_store, kernel.global_store);
    add(sum.shared_load, kernel.shared_load);
    add(sum.shared_store, kernel.shared_store);
    add(sum.local, kernel.local);
    add(sum.atomic, kernel.atomic);
    add(sum.async_copy, kernel.async_copy);
    add(sum.bulk_copy, kernel.bulk_copy);
    add(sum.wgmma, kernel.wgmma);
    add(sum.tcgen05, kernel.tcgen05);
    add(sum.ldmatrix, kernel.ldmatrix);
    add(sum.stmatrix, kernel.stmatrix);
    add_overlap(overlap, kernel);
    sum.tensor_instructions += kernel.tensor_instructions;
    sum.tensor_macs += kernel.tensor_macs;
    for (const auto& [instruction, executed] : kernel.mix) sum.mix[instruction] += executed;
    sum.notes.insert(sum.notes.end(), kernel.notes.begin(), kernel.notes.end());
    for (const simulator::LineCounts& line : kernel.lines)
      if (!line.file.empty()) files.insert(line.file);
  }
  sum.overlap = overlap_numbers(overlap);
  sum.overlap_lines = overlap_lines(overlap);
  if (!listing) return sum;
  for (const std::string& file : files) {
    const std::string text = simulator::annotated_listing(kernels, file);
    if (text.empty()) sum.listing += "cannot read ";
    sum.listing.append(file).append("\n").append(text);
  }
  if (files.empty()) sum.listing = "the kernel names no source file: it was compiled without -lineinfo\n";
  return sum;
}

void run_few_ctas(int ctas) {
  constexpr int more_than_tiles = 1 << 20;
  static_cast<void>(platform());  // refuses what the environment must not be
  simulator::settings().ctas = static_cast<std::uint64_t>(ctas);
  simulator::settings().tell_ctas = false;  // the table does
  simulator::settings().multiprocessors = more_than_tiles;
}

PartlyBacked::PartlyBacked(const char* name, std::uint64_t count, std::span<const __nv_bfloat16> pattern)
    : count_(count),
      allocation_(
          simulator::global_memory().allocate_partly(count * sizeof(__nv_bfloat16), std::as_bytes(pattern))) {
  if (!allocation_) throw Failure(Exit::cannot_run, std::string("the simulated GPU has no room for ") + name);
}

PartlyBacked::~PartlyBacked() {
  simulator::global_memory().free(allocation_->base);
}

__nv_bfloat16* PartlyBacked::data() const {
  return reinterpret_cast<__nv_bfloat16*>(allocation_->base);
}

void PartlyBacked::for_each_written(const See& see) const {
  const auto* elements = reinterpret_cast<const __nv_bfloat16*>(allocation_->backing);
  constexpr std::uint64_t bytes = sizeof(__nv_bfloat16);
  for (const auto& [begin, end] : simulator::GlobalMemory::written_parts(*allocation_)) {
    const std::uint64_t first = begin / bytes;
    see(first, {elements + first, (end + bytes - 1) / bytes - first});
  }
}

}  // namespace ladder
