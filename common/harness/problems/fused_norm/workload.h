// fused_norm with memory behind it: inputs, outputs, and what the outputs must be.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/extension.h"
#include "common/harness/backend/device_buffer.h"
#include "common/harness/problems/fused_norm/reference.h"
#include "common/harness/problems/inputs.h"
#include "common/harness/verify/verify.h"

namespace ladder {

class NormWorkload {
 public:
  NormWorkload(const FusedNorm& shape, int sets, const InputOptions& options);

  FusedNorm problem(int set) const;
  const std::string& input() const { return input_; }

  // First rows so small that eps decides the scale, then the timed inputs.
  static constexpr int passes = 2;
  void prepare(int pass);
  void choose(const Variant<FusedNorm>& variant);  // allocates y in its precision, and its workspace
  void poison() const;
  std::vector<const GuardedBuffer*> outputs() const;
  Verdict verify(std::string& outside) const;

 private:
  struct Set {
    GuardedBuffer x, residual, gamma, h, y;
    std::optional<GuardedBuffer> y_elements, y_scales, matrix_scale, workspace;
    QuantisedRows quantised;  // the same
  };
  void draw(const Set& set, float deviation, std::uint64_t seed) const;
  void allocate_workspaces(const Variant<FusedNorm>& variant);
  float largest_y() const;

  FusedNorm shape_;
  std::uint64_t seed_;
  std::string input_;
  std::vector<Set> sets_;
  Precision precision_ = Precision::bf16;  // of the chosen variant
  float matrix_scale_ = 1;                 // of nvfp4, for the chosen variant
  std::optional<NormReference> reference_;
};

}  // namespace ladder
