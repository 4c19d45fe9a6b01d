// Elements of 4 and 6 bits that lie without gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace simulator {

// 16 elements of 4 or 6 bits, one after the other (16 bytes are read), each into a byte of its own: e2m1 into
// bits 2 to 5, types of 6 bits into the lowest ones, as in the operands of mma.
inline void decompress(uint32_t bits, const std::byte* from, std::byte* to) {
  uint64_t packed[2];
  std::memcpy(packed, from, sizeof packed);
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t at = i * bits, word = at / 64, shift = at % 64;
    uint64_t element = packed[word] >> shift;
    if (shift + bits > 64) element |= packed[word + 1] << (64 - shift);
    element &= (1u << bits) - 1;
    to[i] = static_cast<std::byte>(bits == 4 ? element << 2 : element);
  }
}

}  // namespace simulator
