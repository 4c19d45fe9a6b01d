// wgmma.mma_async (units/wgmma_queue.h).
#pragma once

namespace simulator {

class Warp;
struct Inst;

void run_wgmma_multiply(Warp& warp, const Inst& inst);
void run_wgmma_fence(Warp& warp, const Inst& inst);
void run_wgmma_commit(Warp& warp, const Inst& inst);
void run_wgmma_wait(Warp& warp, const Inst& inst);

// In place of instructions that use registers of some wgmma: checks, then runs the instruction.
void run_watched(Warp& warp, const Inst& inst);
void run_watched_move(Warp& warp, const Inst& inst);

}  // namespace simulator
