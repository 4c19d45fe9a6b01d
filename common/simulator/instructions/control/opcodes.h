// The tables of opcodes of this folder: control flow, barriers, warps, clusters.
#pragma once

#include <span>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/machine/unit.h"

namespace simulator {

std::span<const Opcode> control_opcodes();         // control.cc: bra brx call ret exit trap …
std::span<const Opcode> fence_opcodes();           // fence.cc: fence membar
std::span<const Opcode> sync_opcodes();            // sync.cc: bar barrier
std::span<const Opcode> cluster_opcodes();         // cluster.cc: mapa getctarank
std::span<const Opcode> cluster_launch_opcodes();  // cluster_launch.cc: clusterlaunchcontrol
std::span<const Opcode> register_pool_opcodes();   // register_pool.cc: setmaxnreg
std::span<const Opcode> warp_opcodes();            // warp_ops.cc: shfl vote match redux activemask elect

Handler implicit_return();  // control.cc: what stands behind a function's last instruction

// What the scheduler knows of them (machine/unit.h).
Unit& barrier_unit();        // sync.cc
Unit& register_pool_unit();  // register_pool.cc
Unit& cluster_unit();        // cluster.cc

}  // namespace simulator
