// What grouped_gemm must give, computed on the CPU from the inputs as the host sees them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/extension.h"
#include "common/harness/problems/gemm/reference.h"
#include "common/harness/verify/verify.h"

namespace ladder {

class GroupedReference {
 public:
  // Of the groups that have rows, in order, each with its rows of A and with its B. `whole_numbers`: as for
  // the gemm.
  void add(const Gemm& shape, const HostMatrix& a, const HostMatrix& b, bool whole_numbers);

  // As GemmReference's, index counted over the C of all groups.
  double exact(std::uint64_t index) const;
  std::vector<double> all() const;
  Expected expected(std::uint64_t index, double value, int accumulations) const;

 private:
  std::pair<const GemmReference*, std::uint64_t> find(std::uint64_t index) const;  // and the index in it
  std::vector<GemmReference> groups_;
  std::vector<std::uint64_t> begins_;  // of each, in elements of C
  std::uint64_t end_ = 0;
};

}  // namespace ladder
