// Matrices of wgmma and tcgen05.mma in shared memory, as descriptors say (PTX ISA 9.7.15.5.1.2, 9.7.16.4.1).
//
// They are made of chunks of 16 bytes, T elements. K-major: a chunk is T neighbours along k, of one row of A
// or one column of B. MN-major: T neighbours along m or n, of one k.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simulator {

struct MatrixDescriptor {
  uint32_t start = 0, leading = 0, stride = 0;  // bytes
  uint32_t base_offset = 0;                     // rows of 128 bytes
  uint32_t swizzle = 16;                        // bytes: 16 (none), 32, 64, 128
  bool wide_atoms = false;                      // tcgen05: what is swizzled are pieces of 32 bytes, not 16

  MatrixDescriptor() = default;
  explicit MatrixDescriptor(uint64_t bits);
};

// The swizzle follows the bits of addresses: a pattern of 8 rows repeats at multiples of its size.
// "Otherwise, the base offset must be a non-zero value" (PTX ISA, Table 41, and 9.7.15.5.1.2.2), but hardware
// takes 0 and kernels make do with that. What is wrong in this respect; empty: nothing.
std::string misplaced_pattern(const MatrixDescriptor& matrix);

// Addresses of the chunks of a matrix with this many chunks along each dimension. K-major (mn: rows or
// columns; k: chunks): chunk (mn, k) is number mn · k_count + k. MN-major (mn: chunks; k: single ones) the
// same.
std::vector<uint32_t> chunks_of(const MatrixDescriptor& matrix, bool mn_major, uint32_t mn_count,
                                uint32_t k_count);

}  // namespace simulator
