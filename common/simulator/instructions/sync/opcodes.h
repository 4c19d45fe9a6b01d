// The tables of opcodes of this folder: what lanes, warps and CTAs wait for each other with.
#pragma once

#include <span>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/machine/unit.h"

namespace simulator {

std::span<const Opcode> barrier_opcodes();   // barrier.cc: bar barrier
std::span<const Opcode> fence_opcodes();     // fence.cc: fence membar
std::span<const Opcode> mbarrier_opcodes();  // mbarrier.cc: mbarrier
std::span<const Opcode> warp_opcodes();      // warp_ops.cc: shfl vote match redux activemask elect

// What the scheduler knows of them (machine/unit.h).
Unit& barrier_unit();   // barrier.cc
Unit& mbarrier_unit();  // mbarrier.cc

}  // namespace simulator
