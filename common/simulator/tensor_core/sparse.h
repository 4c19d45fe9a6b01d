// Matrices A of which half of the elements are not stored, and the metadata that say where the others belong
// (PTX ISA 9.7.14.6.1, 9.7.14.6.2, 9.7.15.6.2).
#pragma once

#include <cstdint>

#include "common/simulator/tensor_core/tensor_core.h"

namespace simulator {

// Four bits say which two of four neighbours in a row (tf32: which one of two) are stored. Those of row g,
// and of row g + 8, are in lanes 4g … 4g + 3: of 8-bit types one row's in even lanes and the other's in odd
// ones, else both in one lane. Where not all four lanes hold some, the selector says which do.
struct Sparsity {
  uint32_t bits = 0;  // of an element
  uint32_t k = 0;     // what is not stored counts, too
  uint32_t selector = 0;

  uint32_t group() const { return bits == 32 ? 2 : 4; }
  uint32_t lanes() const { return k / group() / 4; }  // of four, that hold metadata: 1, 2 or 4
};

// Returns the lane whose metadata are invalid; -1: there is none. ordered: of two indices the first is the
// smaller one. Of a group that is zeros the metadata do not matter: CUTLASS's compressor leaves them 0.
int place(const Factors<16>& packed, const Sparsity& sparsity, const uint32_t metadata[32], bool ordered,
          Factors<16>& to);

}  // namespace simulator
