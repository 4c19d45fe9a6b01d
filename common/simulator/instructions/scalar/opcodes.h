// The tables of opcodes of this folder: arithmetic, logic, conversions, moves.
#pragma once

#include <span>

#include "common/simulator/decode/decoder.h"

namespace simulator {

std::span<const Opcode> arithmetic_opcodes();  // arithmetic.cc: add sub mul mad fma div rem min max abs neg …
std::span<const Opcode> bit_opcodes();    // bits.cc: and or xor not cnot shl shr shf lop3 bfe bfi bmsk szext
std::span<const Opcode> count_opcodes();  // count.cc: popc clz bfind brev fns prmt
std::span<const Opcode> compare_opcodes();      // compare.cc: set setp selp slct testp
std::span<const Opcode> convert_opcodes();      // convert.cc: cvt
std::span<const Opcode> approximate_opcodes();  // approximate.cc: ex2 lg2 sin cos tanh rsqrt, rcp and sqrt
std::span<const Opcode> move_opcodes();         // move.cc: mov, special registers

// The opcodes of arithmetic.cc on other types than integers.
void floating_arithmetic(Decoder& decoder);  // floating.cc: f32, f32x2, f64
void half_arithmetic(Decoder& decoder);      // half.cc: f16, f16x2, bf16, bf16x2

}  // namespace simulator
