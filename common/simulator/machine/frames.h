// Activations of functions.
#pragma once

#include "common/simulator/machine/machine.h"

namespace simulator {

// An activation of `program` for the lanes in warp.exec, its constants and local memory ready. way: how they
// come; its lanes and its local_base are set here.
Frame* new_frame(Warp& warp, const Program& program, Way way);

// Local memory from address `from` to `to`, multiples of 16, is new (never written) for the lanes in
// warp.exec; others may be deep in other calls and keep theirs.
void begin_local(Warp& warp, uint32_t from, uint32_t to);

// The lanes have returned from the activation.
void returned(Worker& worker, Frame& frame, uint32_t lanes);
// They have exited: they are in none of the activations any more from this one outwards.
void exited(Worker& worker, Frame* frame, uint32_t lanes);

// Lanes of a warp may enter a function one after the other, and meet inside, at an instruction that is for
// all of them. Then those of `from` go on in the activation of `into`, which is at the same one. False: they
// cannot, since an outer activation of theirs is that of `into`.
bool join(Warp& warp, Group& into, const Group& from);

}  // namespace simulator
