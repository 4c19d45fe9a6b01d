// A problem with memory behind it: inputs, outputs, and what the outputs must be.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "common/harness/backend/device_buffer.h"
#include "common/harness/cli/options.h"
#include "common/harness/problems/problems.h"
#include "common/harness/problems/reference.h"
#include "common/harness/verify/verify.h"

namespace ladder {

// Several sets of buffers of one shape. Checks use the first set; timings rotate over all of them, so that a
// problem that would fit into the L2 cache is not timed out of it. The order: prepare(), choose(), launches.
class GemmWorkload {
 public:
  // `content`: the part of the shape that is drawn; past its n and k there are zeros. `outlier`: what the
  // last element of the timed A and of B is; 0: like the others.
  GemmWorkload(const Gemm& shape, const Gemm& content, int sets, std::uint64_t seed, Reference reference,
               Input input, int outlier);

  Gemm problem(int set) const;  // as the chosen variant is launched
  // The problems of all sets with the chosen variant's workspaces, which stay as they are while others of its
  // precision are chosen.
  struct Held {
    std::vector<Gemm> problems;
    std::vector<std::shared_ptr<const void>> behind;
  };
  Held held() const;
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
    std::optional<GuardedBuffer> y_elements, y_scales, matrix_scale;
    QuantisedRows quantised;  // the same
  };
  void draw(const Set& set, float deviation, std::uint64_t seed) const;
  float largest_y() const;

  FusedNorm shape_;
  std::uint64_t seed_;
  std::string input_;
  std::vector<Set> sets_;
  Precision precision_ = Precision::bf16;  // of the chosen variant
  float matrix_scale_ = 1;                 // of nvfp4, for the chosen variant
  std::optional<NormReference> reference_;
};

class NormGemmWorkload {
 public:
  NormGemmWorkload(const NormGemm& shape, int sets, std::uint64_t seed, Reference reference);

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

class GroupedWorkload {
 public:
  GroupedWorkload(const GroupedGemm& shape, int sets, std::uint64_t seed, Reference reference, bool even);

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

class LinearWorkload {
 public:
  LinearWorkload(const Linear& shape, int sets, std::uint64_t seed, Reference reference);

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

class RowOperatorWorkload {
 public:
  RowOperatorWorkload(const RowOperator& shape, int sets, std::uint64_t seed, Reference reference);

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
template <>
struct WorkloadFor<NormGemm> {
  using type = NormGemmWorkload;
};
template <>
struct WorkloadFor<GroupedGemm> {
  using type = GroupedWorkload;
};
template <>
struct WorkloadFor<Linear> {
  using type = LinearWorkload;
};
template <>
struct WorkloadFor<RowOperator> {
  using type = RowOperatorWorkload;
};
template <class Problem>
using Workload = typename WorkloadFor<Problem>::type;

// What a gemm's input may be, see GemmWorkload; `even`: the rows of a grouped_gemm, see group_offsets().
template <class Problem>
Workload<Problem> make_workload(const Problem& shape, const Problem& content, int sets, std::uint64_t seed,
                                Reference reference, Input input = Input::normal, int outlier = 0,
                                bool even = false) {
  if constexpr (std::is_same_v<Problem, Gemm>) {
    return Workload<Problem>(shape, content, sets, seed, reference, input, outlier);
  } else if constexpr (std::is_same_v<Problem, GroupedGemm>) {
    return Workload<Problem>(shape, sets, seed, reference, even);
  } else {
    return Workload<Problem>(shape, sets, seed, reference);
  }
}

}  // namespace ladder
