#include "common/simulator/instructions/sync/mbarrier_life.h"

#include <string>
#include <utility>
#include <vector>

#include "common/simulator/access/names.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/naming/mbarrier_names.h"
#include "common/simulator/settings/settings.h"
#include "common/simulator/units/mbarriers.h"

namespace simulator {
namespace {

uint64_t wait_of(const Warp& warp, uint64_t object) {
  constexpr int warp_bits = 9;  // of a cluster
  return object << warp_bits | warp.in_cluster;
}

std::string initialisation(const Warp& warp, const char* begin, const Cta& cta,
                           const MbarrierClocks& mbarrier) {
  return begin + name_of_thread(warp, mbarrier.init_warp, mbarrier.init_lane) + " at " +
         place_of(cta, mbarrier.init_pc);
}

}  // namespace

uint64_t mbarrier_phase(const Cta& cta, uint32_t address) {
  const auto found = mbarriers_of(cta).find(address);
  return found == mbarriers_of(cta).end() ? 0 : found->second.phase;
}

uint64_t first_phase_of_new_mbarrier(Warp& warp) {
  return ++warp.worker->state<MbarrierNumbers>().newest << phase_bits;
}

uint64_t newest_mbarrier(const Warp& warp) {
  return warp.worker->state<MbarrierNumbers>().newest;
}

void check_new_mbarrier(Warp& warp, int lane, Cta& cta, uint32_t address, uint64_t before) {
  if (!warp.worker->checking) return;
  const auto found = mbarriers_of(cta).find(address);
  if (found == mbarriers_of(cta).end() || mbarrier_of_phase(found->second.phase) > before) return;
  finding(warp, FindingKind::illegal_instruction,
          "the mbarrier " + name_of_mbarrier(cta, address) +
              " is initialised once more, with no mbarrier.inval before this",
          lane, {initialisation(warp, "it was initialised by ", cta, found->second)});
}

void saw_phase(const Warp& warp, const Cta& cta, uint32_t address) {
  constexpr size_t many = 1 << 14;
  auto& next_phases = warp.worker->state<MbarrierNumbers>().next_phases;
  if (next_phases.size() > many) next_phases.clear();
  const uint64_t phase = mbarrier_phase(cta, address);
  next_phases[wait_of(warp, mbarrier_of_phase(phase))] = number_of_phase(phase);
}

std::string missed_phase(const Warp& warp, const Cta& cta, uint32_t address) {
  const uint64_t phase = mbarrier_phase(cta, address), now = number_of_phase(phase);
  const auto& next_phases = warp.worker->state<MbarrierNumbers>().next_phases;
  const auto seen = next_phases.find(wait_of(warp, mbarrier_of_phase(phase)));
  // Phases of one parity look the same. A warp that has not waited before waits for the first one of that
  // parity.
  uint64_t wanted = seen == next_phases.end() ? 0 : seen->second;
  wanted += (wanted ^ now) & 1;
  if (mbarrier_of_phase(phase) == 0 || wanted >= now) return {};
  return "  warp " + std::to_string(warp.index) + " waits for phase " + std::to_string(wanted) +
         ", which has passed: while it did not look, phase " + std::to_string(now - 1) +
         " was completed, too";
}

bool arrives_late(Cta& cta, uint32_t address, uint64_t phase, const MbarrierArrival& arrival) {
  const uint64_t now = mbarrier_of_phase(mbarrier_phase(cta, address));
  if (now == mbarrier_of_phase(phase)) return false;
  if (!cta.worker->checking) return true;
  const Cta& issuer = *arrival.warp.cta;
  const Program& program = *program_at(issuer, arrival.pc);
  Finding found{FindingKind::illegal_instruction,
                {},
                {},
                site_of(arrival.warp, program, arrival.pc - program.first, static_cast<int>(arrival.lane))};
  found.what = std::string(arrival.name) + " arrives at the mbarrier " + name_of_mbarrier(cta, address);
  found.what += now ? " after that was initialised once more" : " after mbarrier.inval";
  found.what += ": the object that it was issued for is gone";
  if (now)
    found.details.push_back(initialisation(arrival.warp, "the mbarrier there now was initialised by ", cta,
                                           mbarriers_of(cta)[address]));
  if (settings().checks == Checks::fail) throw Fault(std::move(found));
  cta.grid->findings.add(std::move(found));
  return true;
}

}  // namespace simulator
