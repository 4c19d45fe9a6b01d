// Sparsity metadata of wgmma.mma_async. The simulator reads their register when the instruction is issued,
// hardware when the product is made: what is loaded into it meanwhile may be taken for them.
#pragma once

#include <vector>

#include "common/simulator/ptx/module.h"

namespace simulator {

struct Inst;
class Warp;

// The registers that hold metadata of some wgmma.mma_async.sp, by number; empty: there is none.
std::vector<bool> wgmma_metadata_registers(const ptx::Function& function);
// Is it a load into one of them? (A move waits by itself, as of any register that a wgmma uses.)
bool loads_metadata(const ptx::Instruction& instruction, const std::vector<bool>& metadata);
// What loader.cc has such loads do: looks, then runs the instruction.
void run_watched_metadata(Warp& warp, const Inst& inst);

}  // namespace simulator
