// Can no warp go on?
#pragma once

#include <memory>
#include <vector>

#include "common/simulator/machine/machine.h"

namespace simulator {

// Will no warp of the cluster ever do anything but wait, as long as nothing happens elsewhere?
bool stuck(Cluster& cluster);

// Throws a Fault that says who waits for what.
[[noreturn]] void deadlock(const std::vector<std::unique_ptr<Cluster>>& clusters);

}  // namespace simulator
