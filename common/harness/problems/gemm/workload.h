// gemm with memory behind it: inputs, outputs, and what the outputs must be.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/extension.h"
#include "common/harness/backend/device_buffer.h"
#include "common/harness/problems/gemm/reference.h"
#include "common/harness/problems/inputs.h"
#include "common/harness/problems/problem.h"
#include "common/harness/verify/verify.h"

namespace ladder {

// Several sets of buffers of one shape. Checks use the first set; timings rotate over all of them, so that a
// problem that would fit into the L2 cache is not timed out of it. The order: prepare(), choose(), launches.
class GemmWorkload {
 public:
  // `content`: the part of the shape that is drawn; past its n and k there are zeros.
  GemmWorkload(const Gemm& shape, const Gemm& content, int sets, const InputOptions& options);

  Gemm problem(int set) const;                         // as the chosen variant is launched
  Held<Gemm> held() const;                             // the same of all sets
  const std::string& input() const { return input_; }  // how the timed inputs are drawn

  // A check goes through several inputs, the last of which are the timed ones. Here: whole numbers, for which
  // one result alone is right, then normal.
  static constexpr int passes = 2;
  void prepare(int pass) { pass_ = pass; }
  // After prepare(): what follows is for this variant. Draws the inputs of every set in the type that its
  // precision wants, prepares its operands, and computes what set 0 must give in its precision.
  void choose(const Variant<Gemm>& variant);
  void poison() const;                                // before a launch
  std::vector<const GuardedBuffer*> outputs() const;  // of set 0
  Verdict verify(std::string& outside) const;  // after it; `outside`: a write outside the outputs, or empty
  // After a launch, too: what rounding the inputs and adding them up has cost. |C - AB| / |AB|, of a sample
  // of rows and columns, beside the product in fp64 of the inputs before they were rounded; and, of the same,
  // beside that of the rounded ones: what adding up, and rounding C, has cost alone.
  struct RelativeErrors {
    double of_product, of_sums;
  };
  RelativeErrors relative_errors() const;

 private:
  struct Set {
    GuardedBuffer a, b, c;
    std::shared_ptr<GuardedBuffer> workspace;
    std::shared_ptr<TypedOperands> typed = {};  // of a variant in another precision, or with a workspace
  };
  // What is in the sets.
  struct Drawn {
    int pass;
    std::size_t input_bytes, output_bytes;  // of an element
    Distribution a, b;                      // of set 0
    bool operator==(const Drawn&) const = default;
  };
  bool whole_numbers() const { return drawn_->a.kind != Distribution::Kind::normal; }
  std::pair<Distribution, Distribution> distributions() const;
  void draw(const Drawn& wanted);
  void draw_inputs(const GuardedBuffer& a, const GuardedBuffer& b, const Drawn& wanted) const;
  void draw_inputs(const GuardedBuffer& a, const GuardedBuffer& b, const Distribution& of_a,
                   const Distribution& of_b, std::uint64_t seed) const;
  void compute_reference();
  template <class Act>
  auto with_type_of_c(const Act& act) const;
  template <class T>
  Verdict verify_as() const;
  template <class T>
  RelativeErrors relative_errors_as() const;

  Gemm shape_, content_;
  int sets_count_;
  std::uint64_t seed_;
  Distribution timed_;  // of A and of B
  int outlier_;
  Reference reference_kind_;
  std::string input_;
  std::vector<Set> sets_;
  int pass_ = 0;
  std::optional<Drawn> drawn_;
  Precision precision_ = Precision::bf16;  // of the chosen variant
  std::optional<Precision> reference_of_;
  std::optional<GemmReference> reference_;
  std::vector<double> reference_c_;                          // every element, by cuBLAS or by the CPU
  mutable std::unordered_map<std::uint64_t, double> exact_;  // some elements, in fp64
};

}  // namespace ladder
