// What a gemm with operands of 8 bits multiplies, and the kernels that round it. (quantise.cu)
#pragma once

#include "common/extension.h"

namespace ladder::rung_08 {

// In the workspace: A [m, k] and B transposed [n, k], rounded; of fp8_block their scales; of fp8_tensor one
// for each, and what they are made of.
struct Workspace {
  QuantisedLayout a, b;
  BlockScales scales_a, scales_b;
  unsigned char *a_elements, *b_elements;
  float *a_scales = nullptr, *b_scales = nullptr;
  unsigned* largest = nullptr;  // |a|, then |b|: floats from 0 on, which are ordered as their bits are
  std::size_t bytes = 0;

  // `memory` may be null where only `bytes` is wanted.
  Workspace(Precision precision, const Gemm& p, void* memory)
      : a(precision, p.m, p.k),
        b(precision, p.n, p.k),
        scales_a(BlockScales::of_a(p.m, p.k)),
        scales_b(BlockScales::of_b(p.n, p.k)) {
    auto take = [&](std::size_t size) {
      unsigned char* const part = static_cast<unsigned char*>(memory) + bytes;
      bytes += (size + 255) / 256 * 256;
      return part;
    };
    a_elements = take(a.element_bytes());
    b_elements = take(b.element_bytes());
    if (precision == Precision::fp8_block) {
      a_scales = reinterpret_cast<float*>(take(scales_a.count() * sizeof(float)));
      b_scales = reinterpret_cast<float*>(take(scales_b.count() * sizeof(float)));
    } else if (precision == Precision::fp8_tensor) {
      a_scales = reinterpret_cast<float*>(take(sizeof(float)));
      b_scales = reinterpret_cast<float*>(take(sizeof(float)));
      largest = reinterpret_cast<unsigned*>(take(2 * sizeof(unsigned)));
    }
  }
};
template <Precision precision>
std::size_t workspace_bytes(const Gemm& p) {
  return Workspace(precision, p, nullptr).bytes;
}
// Fills the workspace.
template <Precision precision>
cudaError_t quantise(const Gemm& p, cudaStream_t stream);

// Of a variant in this precision.
template <Precision precision>
inline constexpr Extension<Gemm> quantised{
    .precision = precision, .workspace_bytes = workspace_bytes<precision>, .prepare = quantise<precision>};

Text rows_of_words(const Gemm& p);

}  // namespace ladder::rung_08
