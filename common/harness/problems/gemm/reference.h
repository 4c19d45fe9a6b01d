// What gemm must give, computed on the CPU from the inputs as the host sees them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/extension.h"
#include "common/harness/problems/host_matrix.h"
#include "common/harness/verify/verify.h"

namespace ladder {

class GemmReference {
 public:
  // The product of matrices that are rounded to the precision already. `whole_numbers`: all elements are, and
  // every sum of |a·b| along k is below 2^exact_bits(), so that they are added up without error in any order.
  GemmReference(const Gemm& shape, Precision precision, std::vector<float> a, std::vector<float> b,
                bool whole_numbers);
  GemmReference(const Gemm& shape, const HostMatrix& a, const HostMatrix& b, bool whole_numbers);

  double exact(
      std::uint64_t index) const;   // element `index` of C, added up in more than fp64 where C++ has it
  std::vector<double> all() const;  // every element in fp64: 2·m·n·k operations

  // What element `index` may be when `value` stands for it and `accumulations` results of the precision's
  // accumulation are being compared: 1 against fp64, 2 against another such result.
  Expected expected(std::uint64_t index, double value, int accumulations) const;

 private:
  Gemm shape_;
  Precision precision_;
  std::vector<float> a_, b_;
  bool whole_numbers_;
  std::vector<double> row_norms_, col_norms_;  // |a_i|₂ and |b_j|₂
};

}  // namespace ladder
