#include "common/simulator/execution/sparse.h"

#include <algorithm>

namespace simulator {

void place(const Factors<16>& packed, const Sparsity& sparsity, const uint32_t metadata[32],
           Factors<16>& to) {
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
      for (uint32_t i = 0; i < kept; ++i) {
        const uint32_t at = first + (bits == 32 ? code >> 3 : code >> 2 * i & 3), from = first / 2 + i;
        to.value[at][row] = packed.value[from][row];
        to.exponent[at][row] = packed.exponent[from][row];
      }
    }
  }
}

int invalid_metadata(const Sparsity& sparsity, const uint32_t metadata[32], bool ordered) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (lane % 4 / sparsity.lanes() != sparsity.selector) continue;
    for (uint32_t shift = 0; shift < 32; shift += 4) {
      const uint32_t code = metadata[lane] >> shift & 15, first = code & 3, second = code >> 2;
      const bool good = sparsity.bits == 32 ? code == 0b1110 || code == 0b0100
                                            : first != second && (!ordered || first < second);
      if (!good) return static_cast<int>(lane);
    }
  }
  return -1;
}

}  // namespace simulator
