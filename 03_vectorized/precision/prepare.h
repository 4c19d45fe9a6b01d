// dp4a's operands in the workspace, and what fills it.
#pragma once

#include "common/extension.h"

namespace ladder::rung_03 {

// A [m, k] and B transposed [n, k] in s8, four neighbours along k in a value. Rows are padded with zeros to
// whole vectors of 16 bytes.
struct Packed {
  int values;  // in a row
  int *a, *b;
  std::size_t bytes;

  explicit Packed(const Gemm& p) : values(ceil_div(p.k, 16) * 4) {
    const std::size_t bytes_a = (4 * std::size_t(p.m) * values + 255) / 256 * 256;
    auto* const start = p.typed ? static_cast<unsigned char*>(p.typed->workspace) : nullptr;
    a = reinterpret_cast<int*>(start);
    b = reinterpret_cast<int*>(start + bytes_a);
    bytes = bytes_a + 4 * std::size_t(p.n) * values;
  }
};
Text sums_in_s32(const Gemm& p);  // why the kernel cannot run a shape
std::size_t packed_bytes(const Gemm& p);
cudaError_t pack_operands(const Gemm& p, cudaStream_t stream);  // fills the workspace

}  // namespace ladder::rung_03
