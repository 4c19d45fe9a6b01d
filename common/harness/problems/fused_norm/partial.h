// A fused norm of any size, of which some rows are computed: --ctas.
#pragma once

#include <cstdint>
#include <string>

#include "common/harness/problems/repeated.h"
#include "common/rung.h"

namespace ladder {

class PartialNorm {
 public:
  PartialNorm(const FusedNorm& shape, std::uint64_t seed);

  FusedNorm problem() const;
  // After one launch; `missing`: what should have been computed, or empty.
  Verdict verify(std::string& missing) const;

 private:
  double rounded_h(std::uint64_t index) const;
  double scale(std::uint64_t row) const;

  FusedNorm shape_;
  Repeated x_, residual_, gamma_;
  PartlyBacked h_, y_;
};

}  // namespace ladder
