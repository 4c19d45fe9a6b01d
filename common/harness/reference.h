// What the outputs must be, computed on the CPU from the inputs as the host sees them.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>
#include <vector>

#include "common/harness/problems.h"
#include "common/harness/verify.h"

namespace ladder {

using HostMatrix = std::vector<__nv_bfloat16>;  // row-major

class GemmReference {
 public:
  // `whole_numbers`: all elements are, and every sum of |a·b| along k is below 2^24, so that fp32 adds them
  // up without error in any order.
  GemmReference(const Gemm& shape, HostMatrix a, HostMatrix b, bool whole_numbers);

  double exact(std::uint64_t index) const;  // element `index` of C in fp64
  std::vector<float> all() const;           // every element, summed in fp64, as fp32: 2·m·n·k operations

  // What element `index` may be when `value` stands for it and `accumulations` results of fp32 accumulation
  // are being compared: 1 against fp64, 2 against another fp32 result.
  Expected expected(std::uint64_t index, double value, int accumulations) const;

 private:
  Gemm shape_;
  HostMatrix a_, b_;
  bool whole_numbers_;
  std::vector<double> row_norms_, col_norms_;  // |a_i|₂ and |b_j|₂
};

class NormReference {
 public:
  NormReference(const FusedNorm& shape, HostMatrix x, HostMatrix residual, HostMatrix gamma);

  Expected h(std::uint64_t index) const;  // one value alone is right
  Expected y(std::uint64_t index) const;  // in fp64 from the rounded h

 private:
  double rounded_h(std::uint64_t index) const;

  FusedNorm shape_;
  HostMatrix x_, residual_, gamma_;
  std::vector<double> scales_;  // 1 / sqrt(mean of h² + eps), one per row
};

}  // namespace ladder
