// Turns: every warp that can go on gets one after the other.
#pragma once

#include <cstdint>

#include "common/simulator/machine/machine.h"

namespace simulator {

constexpr uint64_t random_quantum = 256;  // instructions of a turn, at most, with a seed

// Groups that wait for a time to pass, or whose instruction has to be retried to know, try again.
void wake(Warp& warp);
void run(Warp& warp, uint64_t turn);  // for this many instructions

// One turn for every warp of the cluster that can go on. False: none could.
bool advance(Cluster& cluster);

// Lets lanes go on that wait for others of their warp which do not come. False: there are none.
bool resolve(Cluster& cluster);

bool short_turns(const Grid& grid);  // turns in which nothing need happen

}  // namespace simulator
