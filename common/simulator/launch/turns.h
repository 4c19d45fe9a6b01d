// Turns: every warp that can go on gets one after the other.
#pragma once

#include <cstdint>

#include "common/simulator/machine/machine.h"

namespace simulator {

constexpr uint64_t random_quantum = 256;  // instructions of a turn, at most, with a seed

// Groups that wait for a time to pass, or for what only trying again can tell, try again.
void wake(Warp& warp);
void run(Warp& warp, uint64_t turn);  // so many instructions

// One turn for every warp of the cluster that can go on. False: none could.
bool advance(Cluster& cluster);

// Lanes that wait for others of their warp that do not come are let go on. False: there are none.
bool resolve(Cluster& cluster);

bool short_turns(const Grid& grid);  // in which nothing need happen

}  // namespace simulator
