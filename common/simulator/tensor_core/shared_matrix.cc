#include "common/simulator/tensor_core/shared_matrix.h"

#include <cstdio>

namespace simulator {
namespace {

constexpr uint32_t core = 8;  // rows of a core matrix, of 16 bytes each

constexpr uint32_t bytes_of(uint64_t field) {
  return static_cast<uint32_t>(field & 0x3fff) << 4;
}

// The chunk's place within a row of 128 bytes changes with the row: Swizzle<1, 2 or 3, 4, 3> of addresses,
// counted from where the pattern begins.
uint32_t swizzled(const MatrixDescriptor& matrix, uint32_t address) {
  const uint32_t row = (address >> 7) - matrix.base_offset;
  if (matrix.wide_atoms) return address ^ (row & 3) << 5;  // Swizzle<2, 5, 2>
  return address ^ (row & (matrix.swizzle / 16 - 1)) << 4;
}

}  // namespace

MatrixDescriptor::MatrixDescriptor(uint64_t bits)
    : start(bytes_of(bits)),
      leading(bytes_of(bits >> 16)),
      stride(bytes_of(bits >> 32)),
      base_offset(static_cast<uint32_t>(bits >> 49 & 7)) {
  static constexpr uint32_t modes[] = {16, 128, 64, 32};
  swizzle = modes[bits >> 62];
}

std::string misplaced_pattern(const MatrixDescriptor& matrix) {
  if (matrix.swizzle == 16 || matrix.base_offset) return {};
  const uint32_t pattern = (matrix.wide_atoms ? 4 : core) * matrix.swizzle;
  // Within the first row it may begin anywhere: the next step along k does.
  if ((matrix.start & (pattern - 1)) < matrix.swizzle) return {};
  char text[240];
  std::snprintf(
      text, sizeof text,
      "it starts at 0x%x, in the middle of the pattern of its swizzle, which follows the bits of the "
      "address and begins at multiples of %u bytes: \"the base offset must be a non-zero value\", and "
      "it is 0",
      matrix.start, core * matrix.swizzle);
  return text;
}

std::vector<uint32_t> chunks_of(const MatrixDescriptor& matrix, bool mn_major, uint32_t mn_count,
                                uint32_t k_count) {
  const uint32_t wide = matrix.swizzle / 16;           // chunks along the major dimension of a swizzle atom
  const uint32_t deep = matrix.wide_atoms ? 4 : core;  // rows along k of one that is MN-major
  std::vector<uint32_t> chunks;
  chunks.reserve(mn_count * k_count);
  for (uint32_t mn = 0; mn < mn_count; ++mn) {
    for (uint32_t k = 0; k < k_count; ++k) {
      uint32_t at = matrix.start;
      if (!mn_major) {
        // 8 rows of `swizzle` bytes, then `stride` to the next 8. What lies beyond along k: without a
        // swizzle `leading` away, with one right behind.
        at += mn % core * matrix.swizzle + mn / core * matrix.stride + k * (wide == 1 ? matrix.leading : 16);
      } else if (wide == 1) {
        at += mn * matrix.stride + k % core * 16 + k / core * matrix.leading;
      } else {
        at += mn % wide * 16 + mn / wide * matrix.leading + k % deep * matrix.swizzle +
              k / deep * matrix.stride;
      }
      chunks.push_back(swizzled(matrix, at) & 0x3ffff);
    }
  }
  return chunks;
}

}  // namespace simulator
