// The tables of opcodes of this folder: control flow, clusters, register counts.
#pragma once

#include <span>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/machine/unit.h"

namespace simulator {

std::span<const Opcode> control_opcodes();         // control.cc: bra brx call ret exit trap …
std::span<const Opcode> cluster_opcodes();         // cluster.cc: mapa getctarank
std::span<const Opcode> cluster_launch_opcodes();  // cluster_launch.cc: clusterlaunchcontrol
std::span<const Opcode> register_pool_opcodes();   // register_pool.cc: setmaxnreg

Handler implicit_return();  // control.cc: what stands behind a function's last instruction

// What the scheduler knows of them (machine/unit.h).
Unit& register_pool_unit();  // register_pool.cc
Unit& cluster_unit();        // cluster.cc

}  // namespace simulator
