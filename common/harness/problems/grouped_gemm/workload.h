// grouped_gemm with memory behind it: inputs, outputs, and what the outputs must be.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/extension.h"
#include "common/harness/backend/device_buffer.h"
#include "common/harness/problems/grouped_gemm/reference.h"
#include "common/harness/problems/inputs.h"
#include "common/harness/verify/verify.h"

namespace ladder {

class GroupedWorkload {
 public:
  GroupedWorkload(const GroupedGemm& shape, int sets, const InputOptions& options);

  GroupedGemm problem(int set) const;
  const std::string& input() const { return input_; }

  // First whole numbers, in groups that differ from the timed ones; then the timed inputs.
  static constexpr int passes = 2;
  void prepare(int pass);
  void choose(const Variant<GroupedGemm>&) {}
  void poison() const;
  std::vector<const GuardedBuffer*> outputs() const;
  Verdict verify(std::string& outside) const;

 private:
  struct Set {
    GuardedBuffer a, b, c, offsets;
  };

  GroupedGemm shape_;
  std::uint64_t seed_;
  Reference reference_kind_;
  bool even_;
  std::string input_;
  std::vector<Set> sets_;
  GroupedReference reference_;
  std::vector<double> reference_c_;
};

}  // namespace ladder
