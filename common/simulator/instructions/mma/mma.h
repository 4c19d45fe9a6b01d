// What mma and wmma share.
#pragma once

#include "common/simulator/decode/decoder.h"
#include "common/simulator/tensor_core/tensor_core.h"

namespace simulator {

// A and B of f16 have as many registers in every shape; those beyond a matrix's elements repeat it.
constexpr int wmma_registers_f16 = 8;

void decode_wmma_product(Decoder& decoder);    // wmma.mma
void decode_sparse_product(Decoder& decoder);  // mma_sparse.cc  mma.sp

// Of 8-bit factors: the sums of products begin at zero; C is added to them by an ordinary addition.
void multiply_add_fp8(const RowsByLane& a, const ColumnsByLane& b, int k, int terms, int fraction, bool half,
                      Accumulators& c);

}  // namespace simulator
