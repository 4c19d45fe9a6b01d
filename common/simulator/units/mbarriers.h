// What is kept of mbarrier objects beside their eight bytes of shared memory.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "common/simulator/machine/machine.h"
#include "common/simulator/units/places.h"

namespace simulator {

// The eight bytes.
struct MbarrierState {
  uint64_t pending : 20;   // arrivals still missing in this phase
  uint64_t expected : 20;  // arrivals of the next phase
  int64_t bytes : 22;      // expected from asynchronous copies and not yet there
  uint64_t phase : 1;
  uint64_t one : 1;  // keeps the token of an arrival from being 0
};
static_assert(sizeof(MbarrierState) == 8);

// The phases of an object are numbered on from a number that no object had before it, in the upper half: what
// belongs to an earlier object has a lower number.
constexpr int phase_bits = 32;
constexpr uint64_t mbarrier_of_phase(uint64_t phase) {
  return phase >> phase_bits;
}
constexpr uint64_t number_of_phase(uint64_t phase) {
  return phase & ((uint64_t{1} << phase_bits) - 1);
}

struct MbarrierClocks {
  std::vector<uint32_t> arriving;   // released by the arrivals of the present phase
  std::vector<uint32_t> completed;  // by those of the phase before it
  uint64_t phase = 0;               // how many are complete
  // mbarrier.init: by whom, where, at which reading of the warp's clock; the tick of its CTA's clock by which
  // fence.mbarrier_init has published it, 0: none.
  uint32_t init_warp = 0, init_lane = 0, init_pc = 0, init_clock = 0, init_tick = 0;
  std::vector<uint32_t> init_calls;  // of functions that led there, the innermost first: as init_pc
  uint32_t life = 0;                 // of these readings
};

struct Mbarriers final : UnitState {
  static constexpr auto place = InCta::mbarriers;
  std::map<uint32_t, MbarrierClocks> objects;  // by shared address
};
inline std::map<uint32_t, MbarrierClocks>& mbarriers_of(Cta& cta) {
  return cta.state<Mbarriers>().objects;
}
inline const std::map<uint32_t, MbarrierClocks>& mbarriers_of(const Cta& cta) {
  return cta.state<Mbarriers>().objects;
}

struct MbarrierWait final : UnitState {
  static constexpr auto place = InWarp::mbarriers;
  uint32_t address = 0;  // of the one whose phase the warp last found incomplete; 0: none
};

// A cluster runs on one CPU thread, which numbers its objects.
struct MbarrierNumbers final : UnitState {
  static constexpr auto place = InWorker::mbarriers;
  uint64_t newest = 0;
  // By object and warp: the phase that follows the last one it has seen complete, for reports of deadlocks.
  std::unordered_map<uint64_t, uint64_t> next_phases;
};

}  // namespace simulator
