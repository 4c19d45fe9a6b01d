#include "common/harness/problems/row_operator/shape.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "common/harness/base/sizes.h"
#include "common/harness/problems/footprint.h"
#include "common/harness/problems/random_sizes.h"

namespace ladder {

// Few columns and one; a vector past a warp's, and past a CTA's; rows that start at every offset from a
// 16-byte boundary; rows as wide as registers, and wider.
std::vector<RowOperator> row_operator_verify_shapes() {
  return {row_operator_shape(1, 1),       row_operator_shape(3, 7),       row_operator_shape(33, 8),
          row_operator_shape(33, 40),     row_operator_shape(9, 129),     row_operator_shape(9, 264),
          row_operator_shape(33, 1000),   row_operator_shape(5, 2056),    row_operator_shape(3, 4096),
          row_operator_shape(3, 4104),    row_operator_shape(3, 8191),    row_operator_shape(2, 8200),
          row_operator_shape(2, 16392),   row_operator_shape(1, 20000),   row_operator_shape(1, 40001),
          row_operator_shape(1, 32776),   row_operator_shape(1, 70000),   row_operator_shape(2600, 24),
          row_operator_shape(8, 270000),  row_operator_shape(8192, 4096), row_operator_shape(16384, 8192),
          row_operator_shape(2048, 65536)};
}

// As of the fused norm, and rows of scores: for softmax they are as long as a context.
std::vector<RowOperator> row_operator_sweep_shapes() {
  return {row_operator_shape(65536, 512),  row_operator_shape(65536, 1024), row_operator_shape(32768, 2048),
          row_operator_shape(8192, 4096),  row_operator_shape(32768, 5120), row_operator_shape(16384, 8192),
          row_operator_shape(4096, 16384), row_operator_shape(4096, 32768), row_operator_shape(2048, 65536),
          row_operator_shape(1024, 131072)};
}

bool quick_on_cpu(const RowOperator& p) {
  return double(p.rows) * p.cols < 0x1.6p20;
}

bool quick_on_simulator(const RowOperator& p) {
  return double(p.rows) * p.cols < 0x1.6p20;
}

RowOperator random_shape(std::mt19937_64& random, DeviceKind device, const RowOperator&) {
  const RandomRows p(random, device);
  return row_operator_shape(p.rows, p.cols);
}

RowOperator in_vectors(RowOperator p, Precision) {
  p.cols = next_multiple(p.cols, 8);
  return p;
}

std::uint64_t footprint_bytes(const RowOperator& p, Precision) {
  return compulsory_bytes(p, RowOperation::layer_norm);
}

std::uint64_t compulsory_bytes(const RowOperator& p, RowOperation operation) {
  const std::uint64_t vectors = operation == RowOperation::layer_norm ? 2 : 0;
  return 2 * (2 * area(p.rows, p.cols) + vectors * std::uint64_t(p.cols));
}

double bytes_needed(const RowOperator& p, int sets, bool timed, bool) {
  return double(footprint_bytes(p)) * sets * (timed ? 2 : 1) + memory_slack;
}

double host_bytes_needed(const RowOperator& p, bool) {
  return double(footprint_bytes(p)) + 40.0 * p.rows + memory_slack;
}

double score(const RowOperator& p, RowOperation operation, double microseconds) {
  return double(compulsory_bytes(p, operation)) / microseconds * 1e-3;
}

}  // namespace ladder
