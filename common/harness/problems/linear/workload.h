// linear with memory behind it: inputs, outputs, and what the outputs must be.
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
#include "common/harness/problems/linear/reference.h"
#include "common/harness/verify/verify.h"

namespace ladder {

class LinearWorkload {
 public:
  LinearWorkload(const Linear& shape, int sets, const InputOptions& options);

  Linear problem(int set) const;
  const std::string& input() const { return input_; }

  // First whole numbers, times a power of two that brings the products to where the activations bend: they
  // are exact, and what is left is the error of the epilogue. Then the timed inputs.
  static constexpr int passes = 2;
  void prepare(int pass);
  void choose(const Variant<Linear>& variant);  // computes what its epilogue must give
  void poison() const;
  std::vector<const GuardedBuffer*> outputs() const;
  Verdict verify(std::string& outside) const;

 private:
  struct Set {
    GuardedBuffer a, b, gate, bias, c;
  };
  void draw(const Set& set, std::uint64_t seed) const;
  std::vector<double> values_of(const GemmReference& product, const GuardedBuffer& b) const;

  Linear shape_;
  std::uint64_t seed_;
  Reference reference_kind_;
  std::string input_;
  std::vector<Set> sets_;
  bool whole_numbers_ = false;
  std::optional<LinearReference> reference_;
  std::vector<double> product_, gate_;  // every element, of this pass; empty until they are needed
};

}  // namespace ladder
