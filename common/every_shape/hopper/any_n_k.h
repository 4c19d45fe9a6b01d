// n or k that are no multiples of 8: rows are padded first.
#pragma once

#include <cstddef>

#include "common/rung.h"

namespace ladder::every_shape {

// TMA only takes matrices whose rows are multiples of 16 bytes.
inline bool wants_padding(const Gemm& p) {
  return p.n % 8 != 0 || p.k % 8 != 0;
}
inline Text rows_of_vectors(const Gemm& p) {
  return wants_padding(p) ? Text("n and k must be multiples of 8 (--variant every_shape takes others)")
                          : Text();
}

std::size_t workspace_of_padding(const Gemm& p);  // bytes
cudaError_t launch_padded(const Gemm& p, cudaStream_t stream);
Text kernel_of_padded(const Gemm& p);

}  // namespace ladder::every_shape
