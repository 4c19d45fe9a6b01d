#include "common/harness/problems/fused_norm/shape.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "common/harness/base/sizes.h"
#include "common/harness/problems/footprint.h"
#include "common/harness/problems/random_sizes.h"

namespace ladder {

std::vector<FusedNorm> fused_norm_verify_shapes() {
  return {norm_shape(1, 1),       norm_shape(3, 7),      norm_shape(111, 541),   norm_shape(37, 256),
          norm_shape(19, 512),    norm_shape(5, 1000),   norm_shape(13, 2040),   norm_shape(9, 4096),
          norm_shape(7, 8192),    norm_shape(1, 65537),  norm_shape(5, 16384),   norm_shape(3, 32760),
          norm_shape(3, 65536),   norm_shape(8, 65537),  norm_shape(2, 131072),  norm_shape(2600, 520),
          norm_shape(3, 24576),   norm_shape(1, 300000), norm_shape(8192, 4096), norm_shape(16384, 8192),
          norm_shape(2048, 65536)};
}

std::vector<FusedNorm> fused_norm_sweep_shapes() {
  return {norm_shape(65536, 512),  norm_shape(65536, 1024), norm_shape(32768, 2048),
          norm_shape(8192, 4096),  norm_shape(32768, 5120), norm_shape(16384, 8192),
          norm_shape(4096, 16384), norm_shape(4096, 32768), norm_shape(2048, 65536)};
}

bool quick_on_cpu(const FusedNorm& p) {
  return double(p.rows) * p.cols < 0x1.6p20;
}

bool quick_on_simulator(const FusedNorm& p) {
  return double(p.rows) * p.cols < 0x1.6p20;
}

FusedNorm random_shape(std::mt19937_64& random, DeviceKind device, const FusedNorm&) {
  const RandomRows p(random, device);
  return norm_shape(p.rows, p.cols);
}

FusedNorm in_vectors(FusedNorm p, Precision precision) {
  p.cols = next_multiple(p.cols, std::max(8, QuantisedLayout(precision, 1, 32).block));
  return p;
}

std::uint64_t footprint_bytes(const FusedNorm& p, Precision precision) {
  return 3 * 2 * area(p.rows, p.cols) + matrix_bytes(precision, p.rows, p.cols) + 2 * std::uint64_t(p.cols);
}

// Device memory that a run takes: the buffer sets and, beside them, the rival, the copy. In another precision
// a set has y twice.
double bytes_needed(const FusedNorm& p, int sets, bool timed, bool bf16_only) {
  return double(footprint_bytes(p)) * sets * (timed ? 2 : 1) +
         (bf16_only ? 0 : 2.0 * p.rows * p.cols * sets) + memory_slack;
}

double host_bytes_needed(const FusedNorm& p, bool) {
  return double(footprint_bytes(p)) + 8.0 * p.rows + memory_slack;
}

double score(const FusedNorm& p, Precision precision, double microseconds) {
  return double(footprint_bytes(p, precision)) / microseconds * 1e-3;
}

}  // namespace ladder
