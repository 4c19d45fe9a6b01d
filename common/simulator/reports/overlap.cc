#include "common/simulator/reports/overlap.h"

#include <cstdint>

#include "common/simulator/reports/format.h"

namespace simulator {
namespace {

double mean(const Occasions& of) {
  return of.counted ? static_cast<double>(of.sum) / static_cast<double>(of.counted) : 0;
}
std::string plural(uint64_t many, const char* what) {
  return std::to_string(many) + ' ' + what + (many == 1 ? "" : "s");
}

constexpr Overlap AccessCounts::*all[] = {&AccessCounts::async_wait,   &AccessCounts::bulk_wait,
                                          &AccessCounts::wgmma_wait,   &AccessCounts::mbarrier_wait,
                                          &AccessCounts::tcgen05_wait, &AccessCounts::mma,
                                          &AccessCounts::global_use,   &AccessCounts::matrix_use,
                                          &AccessCounts::shared_use,   &AccessCounts::barrier};

// Waits: of which kind, what is in flight after one.
struct Wait {
  Overlap AccessCounts::*of;
  Occasions Overlap::*which;
  const char *name, *instruction, *what;
};
constexpr Wait waits[] = {
    {&AccessCounts::async_wait, &Overlap::memory, "async_copy", "cp.async.wait_group", "groups of copies"},
    {&AccessCounts::mbarrier_wait, &Overlap::memory, "bulk_copy", "mbarrier waits for copies", "k-tiles"},
    {&AccessCounts::bulk_wait, &Overlap::memory, "bulk_store", "cp.async.bulk.wait_group",
     "groups of stores"},
    {&AccessCounts::wgmma_wait, &Overlap::math, "wgmma", "wgmma.wait_group", "groups of MMAs"},
    {&AccessCounts::mbarrier_wait, &Overlap::math, "tcgen05", "mbarrier waits for MMAs", "groups of MMAs"},
    {&AccessCounts::tcgen05_wait, &Overlap::memory, "tcgen05_transfer", "tcgen05.wait", "transfers"},
};

// Loads: the arithmetic before their values are used.
struct Use {
  Overlap AccessCounts::*of;
  const char *name, *what;
};
constexpr Use uses[] = {{&AccessCounts::global_use, "global_load", "global loads"},
                        {&AccessCounts::shared_use, "shared_load", "shared loads"},
                        {&AccessCounts::matrix_use, "ldmatrix", "ldmatrix"}};

}  // namespace

void add_overlap(AccessCounts& sum, const AccessCounts& other) {
  for (Overlap AccessCounts::*each : all) sum.*each += other.*each;
}

std::vector<std::pair<std::string, double>> overlap_numbers(const AccessCounts& counts) {
  std::vector<std::pair<std::string, double>> numbers;
  const auto add = [&](std::string name, double value) { numbers.emplace_back(std::move(name), value); };
  const auto in_flight = [&](const std::string& name, const Occasions& of) {
    if (!of.counted) return;
    add(name + "_in_flight_least", static_cast<double>(of.least));
    add(name + "_in_flight_mean", mean(of));
  };
  for (const Wait& wait : waits) {
    const Occasions& of = (counts.*wait.of).*wait.which;
    if (!of.times) continue;
    const std::string name = wait.name;
    add(name + "_waits", static_cast<double>(of.times));
    add(name + "_waits_for_nothing", static_cast<double>(of.none));
    if (wait.of != &AccessCounts::tcgen05_wait) in_flight(name, of);
  }
  if (const Occasions& groups = counts.mma.math; groups.times) {
    add("mma_groups", static_cast<double>(groups.times));
    add("mma_groups_alone", static_cast<double>(groups.none));
  }
  in_flight("mma_k_tiles", counts.mma.memory);
  for (const Use& use : uses) {
    const Occasions& of = (counts.*use.of).math;
    if (!of.times) continue;
    const std::string name = use.name;
    add(name + "_uses", static_cast<double>(of.times));
    add(name + "_uses_at_once", static_cast<double>(of.none));
    add(name + "_math_before_use", mean(of));
  }
  if (const Occasions& of = counts.barrier.math; of.times) {
    add("barriers", static_cast<double>(of.times));
    if (of.counted) add("barrier_math_before_read", mean(of));
  }
  return numbers;
}

std::vector<std::string> overlap_lines(const AccessCounts& counts) {
  std::vector<std::string> lines;
  const auto in_flight = [&](const Occasions& of, const char* what) {
    return format("%.2f %s in flight (at least %llu)", mean(of), what,
                  static_cast<unsigned long long>(of.least));
  };
  if (const Occasions& of = counts.mma.memory; of.counted)
    lines.push_back("while an MMA runs: " + in_flight(of, "k-tiles"));
  if (const Occasions& of = counts.mma.math; of.times)
    lines.push_back(plural(of.times, "group") + " of MMAs, " + std::to_string(of.none) +
                    " of them begun alone, with no other in flight");
  for (const Wait& wait : waits) {
    const Occasions& of = (counts.*wait.of).*wait.which;
    if (!of.times || wait.of == &AccessCounts::tcgen05_wait) continue;
    std::string line = std::to_string(of.times) + " × " + wait.instruction;
    if (of.none) line += ", " + std::to_string(of.none) + " of them for nothing";
    if (of.counted) line += "; where more follow it leaves " + in_flight(of, wait.what);
    lines.push_back(std::move(line));
  }
  for (const Use& use : uses) {
    const Occasions& of = (counts.*use.of).math;
    if (of.times)
      lines.push_back(
          std::string(use.what) + ": " +
          format("%.1f arithmetic instructions before the value is used", mean(of)) +
          (of.none ? ", none before " + std::to_string(of.none) + " of " + std::to_string(of.times) : ""));
  }
  if (const Occasions& of = counts.barrier.math; of.times)
    lines.push_back(plural(of.times, "barrier") + ", one for each warp that reaches it");
  return lines;
}

std::string overlap_cell(const AccessCounts& counts) {
  if (const Occasions& of = counts.mma.memory; of.counted) return format("%.1f tiles", mean(of));
  for (const Wait& wait : waits) {
    const Occasions& of = (counts.*wait.of).*wait.which;
    if (of.counted && wait.of != &AccessCounts::tcgen05_wait) return format("%.1f left", mean(of));
  }
  for (const Use& use : uses) {
    const Occasions& of = (counts.*use.of).math;
    if (of.counted) return format("%.0f math", mean(of));
  }
  return {};
}

}  // namespace simulator
