// norm_gemm with memory behind it: inputs, outputs, and what the outputs must be.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/extension.h"
#include "common/harness/backend/device_buffer.h"
#include "common/harness/problems/inputs.h"
#include "common/harness/problems/norm_gemm/reference.h"
#include "common/harness/verify/verify.h"

namespace ladder {

class NormGemmWorkload {
 public:
  NormGemmWorkload(const NormGemm& shape, int sets, const InputOptions& options);

  NormGemm problem(int set) const;
  const std::string& input() const { return input_; }

  // First whole numbers and an eps as large as the squares: sums along cols are exact, and what is left is
  // the error of the scale. Then the timed inputs.
  static constexpr int passes = 2;
  void prepare(int pass);
  void choose(const Variant<NormGemm>& variant);
  void poison() const;
  std::vector<const GuardedBuffer*> outputs() const;
  Verdict verify(std::string& outside) const;

 private:
  struct Set {
    GuardedBuffer x, residual, gamma, w, h, c;
    std::optional<GuardedBuffer> workspace;
  };
  void draw(const Set& set, std::uint64_t seed) const;

  NormGemm shape_;
  std::uint64_t seed_;
  Reference reference_kind_;
  std::string input_;
  std::vector<Set> sets_;
  std::optional<NormGemmReference> reference_;
  std::vector<double> reference_product_;  // h · W', every element
};

}  // namespace ladder
