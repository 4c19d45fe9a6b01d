// A gemm of any size, of which some elements are computed: --ctas.
#pragma once

#include <cstdint>
#include <string>

#include "common/harness/problems/repeated.h"
#include "common/rung.h"

namespace ladder {

// Of whole numbers, so that one result alone is right.
class PartialGemm {
 public:
  PartialGemm(const Gemm& shape, std::uint64_t seed);

  Gemm problem() const;
  // After one launch; `missing`: what should have been computed, or empty.
  Verdict verify(std::string& missing) const;

 private:
  double exact(std::uint64_t index) const;

  Gemm shape_;
  Repeated a_, b_;
  PartlyBacked c_;
};

}  // namespace ladder
