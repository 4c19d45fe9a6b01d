// What norm_gemm must give, computed on the CPU from the inputs as the host sees them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/extension.h"
#include "common/harness/problems/fused_norm/reference.h"
#include "common/harness/problems/gemm/reference.h"
#include "common/harness/problems/norm_gemm/shape.h"
#include "common/harness/verify/verify.h"

namespace ladder {

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

// W' of a NormGemm, and its h: rounded to bf16.
std::vector<float> folded_weights(const NormGemm& shape, const HostMatrix& gamma, const HostMatrix& w);
std::vector<float> sum_of(const HostMatrix& x, const HostMatrix& residual);

}  // namespace ladder
