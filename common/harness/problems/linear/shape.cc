#include "common/harness/problems/linear/shape.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "common/harness/base/sizes.h"
#include "common/harness/problems/footprint.h"
#include "common/harness/problems/random_sizes.h"

namespace ladder {

// A vector, a column of vectors past a tile of 128 and of 64 columns of C, whole tiles, k shorter than the
// ring buffer and longer.
std::vector<Linear> linear_verify_shapes() {
  return {linear_shape(1, 8, 8),          linear_shape(7, 16, 24),       linear_shape(130, 40, 8),
          linear_shape(65, 72, 1032),     linear_shape(129, 136, 352),   linear_shape(128, 128, 160),
          linear_shape(257, 520, 56),     linear_shape(300, 264, 48),    linear_shape(5, 1032, 136),
          linear_shape(1000, 1032, 1016), linear_shape(4096, 4096, 4096)};
}

// Up-projections of transformers' MLPs: of models of 8 and of 70 billion parameters, for a prompt and for a
// batch that is being answered, and one as wide as deep.
std::vector<Linear> linear_sweep_shapes() {
  return {linear_shape(128, 14336, 4096), linear_shape(2048, 14336, 4096), linear_shape(8192, 14336, 4096),
          linear_shape(4096, 4096, 4096), linear_shape(8192, 28672, 8192)};
}

Gemm gemm_of(const Linear& p) {
  return {p.m, p.n, p.k, p.a, p.b, p.c};
}

bool quick_on_cpu(const Linear& p) {
  return quick_on_cpu(gemm_of(p));
}

bool quick_on_simulator(const Linear& p) {
  return quick_on_simulator(gemm_of(p));
}

Linear random_shape(std::mt19937_64& random, DeviceKind device, const Linear&) {
  const Gemm p = random_shape(random, device, Gemm{});
  return linear_shape(p.m, p.n, p.k);
}

Linear in_vectors(Linear p, Precision) {
  p.k = next_multiple(p.k, 8);
  p.n = next_multiple(p.n, 8);
  return p;
}

std::uint64_t footprint_bytes(const Linear& p, Precision) {
  return footprint_bytes(gemm_of(p)) + 2 * area(p.k, p.n) + 2 * std::uint64_t(p.n);
}

double bytes_needed(const Linear& p, int sets, bool timed, bool) {
  // Beside the inputs and C: what the unfused chain stores, two products and the weights side by side; and
  // the reference, in fp32.
  const double chain = 4.0 * p.m * p.n + 4.0 * p.k * p.n;
  return (double(footprint_bytes(p)) + (timed ? chain : 0)) * sets + 4.0 * p.m * p.n + memory_slack;
}

double host_bytes_needed(const Linear& p, bool) {
  // A twice, B and Gate, in fp32 and as they are copied; two references in fp64, and one as it is copied.
  return 10.0 * p.m * p.k + 12.0 * p.k * p.n + 20.0 * p.m * p.n + memory_slack;
}

double score(const Linear& p, Precision precision, double microseconds) {
  return score(gemm_of(p), precision, microseconds);
}

}  // namespace ladder
