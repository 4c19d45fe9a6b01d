// row_operator with memory behind it: inputs, outputs, and what the outputs must be.
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
#include "common/harness/problems/row_operator/reference.h"
#include "common/harness/verify/verify.h"

namespace ladder {

class RowOperatorWorkload {
 public:
  RowOperatorWorkload(const RowOperator& shape, int sets, const InputOptions& options);

  RowOperator problem(int set) const;
  const std::string& input() const { return input_; }

  // First rows so small that eps decides the scale; then rows far from 0, where exp(x) overflows and a
  // variance by the difference of two sums cancels; then the timed inputs. Each row has an offset of its own.
  static constexpr int passes = 3;
  void prepare(int pass);
  void choose(const Variant<RowOperator>& variant);  // computes what its operation must give
  void poison() const;
  std::vector<const GuardedBuffer*> outputs() const;
  Verdict verify(std::string& outside) const;

 private:
  struct Set {
    GuardedBuffer x, gamma, beta, y;
  };
  void draw(const Set& set, const Distribution& x, std::uint64_t seed) const;

  RowOperator shape_;
  std::uint64_t seed_;
  std::string input_;
  std::vector<Set> sets_;
  std::optional<RowReference> reference_;
};

}  // namespace ladder
