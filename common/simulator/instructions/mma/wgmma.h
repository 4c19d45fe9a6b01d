// wgmma.mma_async (machine/wgmma_queue.h).
#pragma once

namespace simulator {

class Warp;
struct Inst;

// What loader.cc has instructions do that use registers of some wgmma: looks, then runs the instruction.
void run_watched(Warp& warp, const Inst& inst);
void run_watched_move(Warp& warp, const Inst& inst);

}  // namespace simulator
