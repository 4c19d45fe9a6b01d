// A problem with memory behind it: inputs, outputs, and what the outputs must be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/harness/device_buffer.h"
#include "common/harness/options.h"
#include "common/harness/problems.h"
#include "common/harness/reference.h"
#include "common/harness/verify.h"

namespace ladder {

// Several sets of buffers of one shape. Checks use the first set; timings rotate over all of them, so that a
// problem that would fit into the L2 cache is not timed out of it. The order: prepare(), choose(), launches.
class GemmWorkload {
 public:
  GemmWorkload(const Gemm& shape, int sets, std::uint64_t seed, Reference reference);

  Gemm problem(int set) const;                         // as the chosen variant is launched
  const std::string& input() const { return input_; }  // how the timed inputs are drawn

  // A check goes through several inputs, the last of which are the timed ones. Here: whole numbers, for which
  // one result alone is right, then normal.
  static constexpr int passes = 2;
  void prepare(int pass);  // draws the inputs of set 0
  // After prepare(): what follows is for this variant. Prepares its operands in every set, and computes what
  // set 0 must give in its precision.
  void choose(const Variant<Gemm>& variant);
  void poison() const;                                // before a launch
  std::vector<const GuardedBuffer*> outputs() const;  // of set 0
  Verdict verify(std::string& outside) const;  // after it; `outside`: a write outside the outputs, or empty

 private:
  struct Set {
    GuardedBuffer a, b, c;
    std::optional<GuardedBuffer> workspace;
  };

  Gemm shape_;
  std::uint64_t seed_;
  Reference reference_kind_;
  std::string input_;
  std::vector<Set> sets_;
  bool whole_numbers_ = false;
  Precision precision_ = Precision::bf16;  // of the reference
  std::optional<GemmReference> reference_;
  std::vector<float> reference_c_;  // every element, by cuBLAS in fp32 or by the CPU
};

class NormWorkload {
 public:
  NormWorkload(const FusedNorm& shape, int sets, std::uint64_t seed, Reference reference);

  FusedNorm problem(int set) const;
  const std::string& input() const { return input_; }

  // First rows so small that eps decides the scale, then the timed inputs.
  static constexpr int passes = 2;
  void prepare(int pass);
  void choose(const Variant<FusedNorm>& variant);  // allocates y in its precision
  void poison() const;
  std::vector<const GuardedBuffer*> outputs() const;
  Verdict verify(std::string& outside) const;

 private:
  struct Set {
    GuardedBuffer x, residual, gamma, h, y;
    std::optional<GuardedBuffer> y_elements, y_scales;
  };
  void draw(const Set& set, float deviation, std::uint64_t seed) const;

  FusedNorm shape_;
  std::uint64_t seed_;
  std::string input_;
  std::vector<Set> sets_;
  Precision precision_ = Precision::bf16;  // of the chosen variant
  std::optional<NormReference> reference_;
};

template <class Problem>
struct WorkloadFor;
template <>
struct WorkloadFor<Gemm> {
  using type = GemmWorkload;
};
template <>
struct WorkloadFor<FusedNorm> {
  using type = NormWorkload;
};
template <class Problem>
using Workload = typename WorkloadFor<Problem>::type;

}  // namespace ladder
