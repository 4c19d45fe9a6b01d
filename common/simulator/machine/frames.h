// Activations of functions.
#pragma once

#include "common/simulator/machine/machine.h"

namespace simulator {

// An activation of `program` for the lanes in warp.exec, its constants and local memory ready.
Frame* new_frame(Warp& warp, const Program& program, Frame* caller);

// Local memory from address `from` to `to`, multiples of 16, is new (never written) for the lanes in
// warp.exec; others may be deep in other calls and keep theirs.
void begin_local(Warp& warp, uint32_t from, uint32_t to);

}  // namespace simulator
