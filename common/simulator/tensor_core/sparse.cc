#include "common/simulator/tensor_core/sparse.h"

#include <algorithm>

namespace simulator {

namespace {

bool is_valid(uint32_t code, const Sparsity& sparsity, bool ordered) {
  const uint32_t first = code & 3, second = code >> 2;
  if (sparsity.bits == 32) return code == 0b1110 || code == 0b0100;
  return first != second && (!ordered || first < second);
}

}  // namespace

int place(const Factors<16>& packed, const Sparsity& sparsity, const uint32_t metadata[32], bool ordered,
          Factors<16>& to) {
  int invalid = -1;
  const uint32_t bits = sparsity.bits, group = sparsity.group(), kept = group / 2;
  const uint32_t span = 4 * group * (bits == 8 ? 2 : 1);  // of k, in one lane
  for (uint32_t k = 0; k < sparsity.k; ++k) {
    std::fill_n(to.value[k], 16, 0.0f);
    std::fill_n(to.exponent[k], 16, of_absent);
  }
  for (uint32_t row = 0; row < 16; ++row) {
    const uint32_t upper = row / 8;
    for (uint32_t first = 0; first < sparsity.k; first += group) {
      const uint32_t part = first / span;
      const uint32_t lane = row % 8 * 4 + (bits == 8 ? upper + 2 * (sparsity.selector + part)
                                                     : sparsity.lanes() * sparsity.selector + part);
      const uint32_t shift = first % span / group * 4 + (bits == 8 ? 0 : 16 * upper);
      const uint32_t code = metadata[lane] >> shift & 15;
      const bool valid = is_valid(code, sparsity, ordered);
      for (uint32_t i = 0; i < kept; ++i) {
        const uint32_t at = first + (bits == 32 ? code >> 3 : code >> 2 * i & 3), from = first / 2 + i;
        to.value[at][row] = packed.value[from][row];
        to.exponent[at][row] = packed.exponent[from][row];
        if (!valid && packed.value[from][row] != 0) invalid = static_cast<int>(lane);
      }
    }
  }
  return invalid;
}

}  // namespace simulator
