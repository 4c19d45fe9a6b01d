// What fused_norm must give, computed on the CPU from the inputs as the host sees them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/extension.h"
#include "common/harness/problems/host_matrix.h"
#include "common/harness/verify/verify.h"

namespace ladder {

class NormReference {
 public:
  NormReference(const FusedNorm& shape, HostMatrix x, HostMatrix residual, HostMatrix gamma);

  Expected h(std::uint64_t index) const;  // one value alone is right
  Expected y(std::uint64_t index) const;  // in fp64 from the rounded h
  double scale(std::uint64_t row) const { return scales_[row]; }

 private:
  double rounded_h(std::uint64_t index) const;

  FusedNorm shape_;
  HostMatrix x_, residual_, gamma_;
  std::vector<double> scales_;  // 1 / sqrt(mean of h² + eps), one per row
};

}  // namespace ladder
