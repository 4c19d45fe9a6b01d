// Can no warp go on?
#pragma once

#include <memory>
#include <vector>

#include "common/simulator/machine/machine.h"

namespace simulator {

// Will no warp of the cluster ever do anything but wait, as long as nothing happens elsewhere?
bool stuck(Cluster& cluster);

// Throws a Fault that says who waits for what. polling: as Waiting::too_long() found.
[[noreturn]] void deadlock(const std::vector<std::unique_ptr<Cluster>>& clusters, bool polling = false);

}  // namespace simulator
