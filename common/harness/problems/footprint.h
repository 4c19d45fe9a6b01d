// Bytes: of matrices in any precision, and what everything but the matrices takes.
#pragma once

#include "common/extension.h"
#include "common/harness/base/sizes.h"

namespace ladder {

// Memory that the context, cuBLAS's workspace and the guard zones need, beside what a problem counts.
constexpr double memory_slack = 256 << 20;

inline std::uint64_t bytes(std::uint64_t elements, Number number) {
  return elements * (bits_of(number) / 4) / 2;  // half-bytes first: the largest shape's still fit
}

inline std::uint64_t blocks(int size, int block) {
  return std::uint64_t((size - 1) / block + 1);
}

// A, or y of the norm: of every row a scale for each block.
inline std::uint64_t matrix_bytes(Precision precision, int rows, int cols) {
  const Format format = format_of(precision);
  // Two elements of four, and two bits for each of them that say which.
  if (precision == Precision::bf16_sparse) return area(rows, cols) * 9 / 8;
  const std::uint64_t scales = format.block ? rows * blocks(cols, format.block) : 0;
  return bytes(area(rows, cols), format.a) + scales * (precision == Precision::fp8_block ? 4 : 1);
}

}  // namespace ladder
