// select.cc: opcodes of compare_opcodes() that do not compare two operands.
#pragma once

#include "common/simulator/decode/decoder.h"

namespace simulator {

void decode_selp(Decoder& decoder);
void decode_slct(Decoder& decoder);
void decode_testp(Decoder& decoder);

}  // namespace simulator
