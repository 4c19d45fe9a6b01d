// Who runs next: the groups of a warp (Warp's own functions), and lanes that wait for each other.
#pragma once

#include "common/simulator/machine/machine.h"

namespace simulator {

// The lanes (some of warp.exec, all of it, or none) wait at the current instruction for further ones.
void wait_for_others(Warp& warp, uint32_t lanes);

}  // namespace simulator
