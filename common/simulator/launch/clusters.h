// Clusters begin, and are given up.
#pragma once

#include <cstdint>

#include "common/simulator/machine/machine.h"

namespace simulator {

void start(Cluster& cluster, Worker& worker, uint64_t index);
uint64_t unfinished(const Cluster& cluster);  // warps
// Gives back what a cluster that did not finish still holds.
void abandon(Cluster& cluster);

}  // namespace simulator
