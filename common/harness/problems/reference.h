// What the outputs must be, computed on the CPU from the inputs as the host sees them.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "common/harness/problems/problems.h"
#include "common/harness/verify/verify.h"

namespace ladder {

using HostMatrix = std::vector<__nv_bfloat16>;  // row-major

class GemmReference {
 public:
  // The product of matrices that are rounded to the precision already. `whole_numbers`: all elements are, and
  // every sum of |a·b| along k is below 2^exact_bits(), so that they are added up without error in any order.
  GemmReference(const Gemm& shape, Precision precision, std::vector<float> a, std::vector<float> b,
                bool whole_numbers);
  GemmReference(const Gemm& shape, const HostMatrix& a, const HostMatrix& b, bool whole_numbers);

  double exact(
      std::uint64_t index) const;   // element `index` of C, added up in more than fp64 where C++ has it
  std::vector<double> all() const;  // every element in fp64: 2·m·n·k operations

  // What element `index` may be when `value` stands for it and `accumulations` results of the precision's
  // accumulation are being compared: 1 against fp64, 2 against another such result.
  Expected expected(std::uint64_t index, double value, int accumulations) const;

 private:
  Gemm shape_;
  Precision precision_;
  std::vector<float> a_, b_;
  bool whole_numbers_;
  std::vector<double> row_norms_, col_norms_;  // |a_i|₂ and |b_j|₂
};

class NormReference {
 public:
  NormReference(const FusedNorm& shape, HostMatrix x, HostMatrix residual, HostMatrix gamma);

  Expected h(std::uint64_t index) const;  // one value alone is right
  Expected y(std::uint64_t index) const;  // in fp64 from the rounded h
  double scale(std::uint64_t row) const { return scales_[row]; }

 private:
  double rounded_h(std::uint64_t index) const;

  FusedNorm shape_;
  HostMatrix x_, residual_, gamma_;
  std::vector<double> scales_;  // 1 / sqrt(mean of h² + eps), one per row
};

class NormGemmReference {
 public:
  // `whole_numbers`: as for the gemm, of h and W'.
  NormGemmReference(const NormGemm& shape, const HostMatrix& x, const HostMatrix& residual,
                    const HostMatrix& gamma, const HostMatrix& w, bool whole_numbers);

  Expected h(std::uint64_t index) const { return norm_.h(index); }
  const GemmReference& product() const { return product_; }  // h · W'
  // C, when `product` stands for that element of the product, and it is compared as GemmReference's is.
  Expected c(std::uint64_t index, double product, int accumulations) const;

 private:
  NormGemm shape_;
  NormReference norm_;
  GemmReference product_;
};

class GroupedReference {
 public:
  // Of the groups that have rows, in order, each with its rows of A and with its B. `whole_numbers`: as for
  // the gemm.
  void add(const Gemm& shape, const HostMatrix& a, const HostMatrix& b, bool whole_numbers);

  // As GemmReference's, index counted over the C of all groups.
  double exact(std::uint64_t index) const;
  std::vector<double> all() const;
  Expected expected(std::uint64_t index, double value, int accumulations) const;

 private:
  std::pair<const GemmReference*, std::uint64_t> find(std::uint64_t index) const;  // and the index in it
  std::vector<GemmReference> groups_;
  std::vector<std::uint64_t> begins_;  // of each, in elements of C
  std::uint64_t end_ = 0;
};

// A linear: of its product, and of the one that gates it where there is one, see check_product().
class LinearReference {
 public:
  // `gate` is empty where the epilogue is not gated. `whole_numbers`: products, and with the bias added, have
  // no error in fp32 in any order.
  LinearReference(const Linear& shape, Epilogue epilogue, const HostMatrix& a, const HostMatrix& b,
                  const HostMatrix& gate, HostMatrix bias, bool whole_numbers);

  const GemmReference& product() const { return products_[0]; }
  const GemmReference& gate() const { return products_[1]; }
  // C, when `product` and `gate` stand for that element of the products; each is compared as GemmReference's
  // is.
  Expected c(std::uint64_t index, double product, int accumulations, double gate,
             int gate_accumulations) const;

 private:
  Expected activated(Expected x) const;

  int n_;
  Epilogue epilogue_;
  std::vector<GemmReference> products_;
  HostMatrix bias_;
};

class RowReference {
 public:
  RowReference(const RowOperator& shape, RowOperation operation, HostMatrix x, HostMatrix gamma,
               HostMatrix beta);

  RowOperation operation() const { return operation_; }
  Expected y(std::uint64_t index) const;  // in fp64

 private:
  struct Row {
    double centre, scale;  // y is a function of (x - centre) and scale: mean and 1/√(variance + eps), or
                           // maximum and 1/sum
    double centre_error;   // what the centre may be off in fp32: of the mean
    double scale_error;    // and the scale, relatively
  };
  Row layer_norm(std::uint64_t row) const;
  Row softmax(std::uint64_t row) const;

  RowOperator shape_;
  RowOperation operation_;
  HostMatrix x_, gamma_, beta_;
  std::vector<Row> rows_;
};

// W' of a NormGemm, and its h: rounded to bf16.
std::vector<float> folded_weights(const NormGemm& shape, const HostMatrix& gamma, const HostMatrix& w);
std::vector<float> sum_of(const HostMatrix& x, const HostMatrix& residual);

}  // namespace ladder
