// The tables of opcodes of this folder: the tensor core of the 5th generation.
#pragma once

#include <span>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/watch.h"
#include "common/simulator/machine/unit.h"

namespace simulator {

std::span<const Opcode> tcgen05_opcodes();  // tcgen05.cc: tcgen05

// What the scheduler knows of them (machine/unit.h).
Unit& tcgen05_pipeline_unit();    // pipeline.cc
Unit& tcgen05_transfer_unit();    // load.cc
Unit& tcgen05_allocation_unit();  // allocation.cc

std::unique_ptr<const Watch> watch_tcgen05_loads(const ptx::Function& function);  // load.cc

}  // namespace simulator
