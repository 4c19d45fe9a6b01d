// Cluster launch control (PTX ISA 9.7.13.17, .18): a cluster that runs takes over the work of one that has
// not been launched yet.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace simulator {

struct Cluster;

// Takes a cluster that waits to be launched: %ctaid of its first CTA. Nothing: none waits, or, with a seed,
// at some random times, whatever waits: a GPU may have launched it just then.
std::optional<std::array<uint32_t, 3>> cancel_launch(Cluster& by);

}  // namespace simulator
