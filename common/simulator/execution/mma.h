// What mma and wmma share.
#pragma once

#include "common/simulator/execution/decoder.h"

namespace simulator {

// A and B of f16 have as many registers in every shape; those beyond a matrix's elements repeat it.
constexpr int wmma_registers_f16 = 8;

void decode_wmma_product(Decoder& decoder);  // wmma.mma

}  // namespace simulator
