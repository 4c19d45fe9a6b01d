// The tables of opcodes of this folder: matrices that warps hold.
#pragma once

#include <span>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/watch.h"
#include "common/simulator/machine/unit.h"

namespace simulator {

std::span<const Opcode> matrix_load_opcodes();  // matrix_load.cc: ldmatrix stmatrix movmatrix
std::span<const Opcode> mma_opcodes();          // mma.cc: mma
std::span<const Opcode> wmma_opcodes();         // wmma.cc: wmma
std::span<const Opcode> wgmma_opcodes();        // wgmma_decode.cc: wgmma

// What the scheduler knows of them (machine/unit.h).
Unit& wgmma_unit();  // wgmma.cc

std::unique_ptr<const Watch> watch_wgmma(const ptx::Function& function);  // wgmma_watch.cc

}  // namespace simulator
