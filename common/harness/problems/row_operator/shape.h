// Shapes of row_operator: which are run, and what each must compute, move and hold.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "common/extension.h"
#include "common/harness/base/device_kind.h"

namespace ladder {

inline RowOperator row_operator_shape(int rows, int cols) {
  return {rows, cols, nullptr, nullptr, nullptr, nullptr, 1e-5f};
}

std::vector<RowOperator> row_operator_verify_shapes();  // awkward sizes, large ones last
std::vector<RowOperator> row_operator_sweep_shapes();

// Bytes that a row_operator must move: x and y, and gamma and beta where it has them.
std::uint64_t compulsory_bytes(const RowOperator& p, RowOperation operation);

bool quick_on_cpu(const RowOperator& p);
bool quick_on_simulator(const RowOperator& p);
RowOperator random_shape(std::mt19937_64& random, DeviceKind device, const RowOperator&);
RowOperator in_vectors(RowOperator p, Precision precision);

// Bytes of device memory that one set of inputs and outputs takes.
std::uint64_t footprint_bytes(const RowOperator& p, Precision precision = Precision::bf16);
double bytes_needed(const RowOperator& p, int sets, bool timed, bool bf16_only);
double host_bytes_needed(const RowOperator& p, bool bf16_only);

// GB/s over compulsory_bytes().
double score(const RowOperator& p, RowOperation operation, double microseconds);

}  // namespace ladder
