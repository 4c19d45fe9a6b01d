#include "common/harness/problems/linear/reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ladder {

LinearReference::LinearReference(const Linear& shape, Epilogue epilogue, const HostMatrix& a,
                                 const HostMatrix& b, const HostMatrix& gate, HostMatrix bias,
                                 bool whole_numbers)
    : n_(shape.n), epilogue_(epilogue), bias_(std::move(bias)) {
  products_.emplace_back(gemm_of(shape), a, b, whole_numbers);
  if (is_gated(epilogue)) products_.emplace_back(gemm_of(shape), a, gate, whole_numbers);
}

// Both activations are x · s(t), s(t) = 1 / (1 + exp(-t)): silu has t = x, gelu in its tanh form t =
// 2·√(2/π)·(x + 0.044715 x³). The slack has two parts. That of x grows by the largest slope, which is 1.0999
// for silu and 1.1290 for gelu. And a kernel evaluates it in fp32: t has up to 5 roundings, exp(-t)
// multiplies their error by |t| and adds 2 ulp of its own (ex2.approx), then come a sum, a reciprocal and a
// product, at 2 ulp each. Far out on the left exp(-t) overflows and the kernel returns 0, and numbers below
// 2^-126 may be flushed: what that takes away is below 2^-118.
Expected LinearReference::activated(Expected x) const {
  const bool gelu = epilogue_ == Epilogue::gelu || epilogue_ == Epilogue::geglu;
  const double t = gelu ? 2 * 0.79788456080286535588 * x.exact * (1 + 0.044715 * x.exact * x.exact) : x.exact;
  const double value = x.exact / (1 + std::exp(-t));
  const double evaluated = (6 * std::abs(t) + 10) * 0x1p-23 * std::abs(value) + 0x1p-118;
  return {value, (gelu ? 1.13 : 1.1) * x.slack + evaluated};
}

Expected LinearReference::c(std::uint64_t index, double product, int accumulations, double gate,
                            int gate_accumulations) const {
  Expected x = products_[0].expected(index, product, accumulations);
  if (is_gated(epilogue_)) {
    const Expected g = activated(products_[1].expected(index, gate, gate_accumulations));
    const double value = g.exact * x.exact;
    return {value, g.slack * (std::abs(x.exact) + x.slack) + std::abs(g.exact) * x.slack +
                       std::abs(value) * 0x1p-23 + 0x1p-118};
  }
  x.exact += to_double(bias_[index % std::uint64_t(n_)]);
  if (x.slack > 0) x.slack += (std::abs(x.exact) + x.slack) * 0x1p-23;  // the sum is rounded, too
  return epilogue_ == Epilogue::bias ? x : activated(x);
}

}  // namespace ladder
