// The operands of a gemm in fp8, mxfp8 or nvfp4, and the kernels that round them.
#pragma once

#include "common/extension.h"

namespace ladder::rung_09 {

// The workspace of a gemm in such a precision: A [m, k] and B transposed [n, k], both with k along the rows;
// of nvfp4 the scale of each matrix, too, and what it is made of.
struct Workspace {
  QuantisedLayout a, b;
  unsigned char *a_elements, *a_scales, *b_elements, *b_scales;
  float *a_matrix_scale = nullptr, *b_matrix_scale = nullptr;
  unsigned* largest = nullptr;  // |a|, then |b|: floats from 0 on, which are ordered as their bits are
  std::size_t bytes;

  Workspace(Precision precision, const Gemm& p) : a(precision, p.m, p.k), b(precision, p.n, p.k), bytes(0) {
    auto* const start = p.typed ? static_cast<unsigned char*>(p.typed->workspace) : nullptr;
    auto take = [&](std::size_t size) {
      unsigned char* const part = start + bytes;
      bytes += (size + 255) / 256 * 256;
      return part;
    };
    a_elements = take(a.element_bytes());
    a_scales = take(a.scale_bytes());
    b_elements = take(b.element_bytes());
    b_scales = take(b.scale_bytes());
    if (precision != Precision::nvfp4) return;
    a_matrix_scale = reinterpret_cast<float*>(take(sizeof(float)));
    b_matrix_scale = reinterpret_cast<float*>(take(sizeof(float)));
    largest = reinterpret_cast<unsigned*>(take(2 * sizeof(unsigned)));
  }
};
template <Precision precision>
std::size_t workspace_bytes(const Gemm& p) {
  return Workspace(precision, p).bytes;
}

// Fills the workspace.
template <Precision precision>
cudaError_t quantise(const Gemm& p, cudaStream_t stream);

}  // namespace ladder::rung_09
