// What row_operator must give, computed on the CPU from the inputs as the host sees them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/extension.h"
#include "common/harness/problems/host_matrix.h"
#include "common/harness/verify/verify.h"

namespace ladder {

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

}  // namespace ladder
