// What is kept of an mbarrier object beside its eight bytes of shared memory.
#pragma once

#include <cstdint>
#include <vector>

namespace simulator {

struct MbarrierClocks {
  std::vector<uint32_t> arriving;   // released by the arrivals of the present phase
  std::vector<uint32_t> completed;  // by those of the phase before it
  uint64_t phase = 0;               // how many are complete
  // mbarrier.init: by whom, where, at which reading of the warp's clock; the tick of its CTA's clock by which
  // fence.mbarrier_init has published it, 0: none.
  uint32_t init_warp = 0, init_lane = 0, init_pc = 0, init_clock = 0, init_tick = 0;
  uint32_t life = 0;  // of these readings
};

}  // namespace simulator
