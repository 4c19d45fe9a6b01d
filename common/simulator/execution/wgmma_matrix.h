// Matrices of wgmma in shared memory, as descriptors say (PTX ISA 9.7.15.5.1.2).
//
// They are made of chunks of 16 bytes, T elements. K-major: a chunk is T neighbours along k, of one row of A
// or one column of B. MN-major: T neighbours along m or n, of one k.
#pragma once

#include <cstdint>
#include <vector>

namespace simulator {

struct MatrixDescriptor {
  uint32_t start, leading, stride;  // bytes
  uint32_t base_offset;             // rows of 128 bytes
  uint32_t swizzle;                 // bytes: 16 (none), 32, 64, 128

  explicit MatrixDescriptor(uint64_t bits);
};

// Addresses of the chunks of a matrix with so many chunks along each dimension. K-major (mn: rows or columns;
// k: chunks): chunk (mn, k) is number mn · k_count + k. MN-major (mn: chunks; k: single ones) the same.
std::vector<uint32_t> chunks_of(const MatrixDescriptor& matrix, bool mn_major, uint32_t mn_count,
                                uint32_t k_count);

}  // namespace simulator
