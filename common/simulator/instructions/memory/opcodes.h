// The tables of opcodes of this folder: loads, stores, atomics.
#pragma once

#include <span>

#include "common/simulator/decode/decoder.h"

namespace simulator {

std::span<const Opcode> memory_opcodes();  // memory.cc: ld ldu st prefetch cvta isspacep …
std::span<const Opcode> stack_opcodes();   // stack.cc: alloca stacksave stackrestore
std::span<const Opcode> atomic_opcodes();  // atomic.cc: atom red

}  // namespace simulator
