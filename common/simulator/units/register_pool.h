// setmaxnreg (PTX ISA 9.7.19.5): the warps of a CTA hand registers to each other.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/simulator/machine/unit_state.h"
#include "common/simulator/units/places.h"

namespace simulator {

// Of a CTA. Numbers of registers are per thread; what one warp releases another may request.
struct RegisterPool final : UnitState {
  static constexpr auto place = InCta::register_pool;
  uint32_t free = 0;
  std::vector<uint32_t> owned;  // by each warp; empty: no warp has executed one yet
  struct Step {                 // the nth setmaxnreg of a warpgroup
    uint32_t pc;
    std::array<uint32_t, 4> clock{};  // of its warps, there; 0: has not come to it
  };
  std::vector<std::vector<Step>> steps;  // by warpgroup
  std::vector<uint32_t> done;            // by warp
};

}  // namespace simulator
