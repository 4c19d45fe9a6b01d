// Shared by the parts of the scheduler: warps (scheduler.cc), barriers (sync.cc), CTAs and grids (grid.cc).
#pragma once

#include "common/simulator/machine/machine.h"

namespace simulator {

// An activation of `program` for the lanes in warp.exec, its constants and local memory ready.
Frame* new_frame(Warp& warp, const Program& program, Frame* caller);

// Local memory from address `from` to `to`, multiples of 16, begins its life, never written, for the lanes in
// warp.exec; others may be deep in other calls and keep theirs. (stack.cc)
void begin_local(Warp& warp, uint32_t from, uint32_t to);

// The lanes (some of warp.exec, all of it, or none) wait at the present instruction for further ones.
void wait_for_others(Warp& warp, uint32_t lanes);

// A warp's last lane has exited: barriers may be complete without it.
void warp_finished(Warp& warp);

// No warp of the CTA can go on. Lanes of one warp that wait at different places of the same barrier are let
// through (and told); false: there is nothing to be done.
bool resolve_divergent_barriers(Cta& cta);

// Who waits for what, a line each.
std::vector<std::string> who_waits(Cta& cta);

}  // namespace simulator
