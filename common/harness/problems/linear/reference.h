// What linear must give, computed on the CPU from the inputs as the host sees them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/extension.h"
#include "common/harness/problems/gemm/reference.h"
#include "common/harness/problems/linear/shape.h"
#include "common/harness/verify/verify.h"

namespace ladder {

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

}  // namespace ladder
