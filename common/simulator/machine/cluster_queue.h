// Clusters that wait to be launched. Cluster launch control (PTX ISA 9.7.13.17, .18): a cluster that runs
// takes over the work of one that has not been launched yet.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "common/simulator/machine/machine.h"

namespace simulator {

// The position in a box of this size, x first.
std::array<uint32_t, 3> position(uint64_t index, const std::array<uint32_t, 3>& size);

// %ctaid of the first CTA of the nth cluster to begin.
std::array<uint32_t, 3> first_cta(const Grid& grid, uint64_t nth);

// The next number of a generator with this state.
uint64_t next_random(uint64_t& state);

// Takes a cluster that waits to be launched: %ctaid of its first CTA. Nothing: none waits, or, with a seed,
// at some random times, whatever waits: a GPU may have launched it just then.
std::optional<std::array<uint32_t, 3>> cancel_launch(Cluster& by);

}  // namespace simulator
