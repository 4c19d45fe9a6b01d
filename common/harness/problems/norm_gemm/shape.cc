#include "common/harness/problems/norm_gemm/shape.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "common/harness/base/sizes.h"
#include "common/harness/problems/footprint.h"
#include "common/harness/problems/random_sizes.h"

namespace ladder {

std::vector<NormGemm> norm_gemm_verify_shapes() {
  return {
      norm_gemm_shape(1, 8, 8),          norm_gemm_shape(7, 16, 24),     norm_gemm_shape(130, 40, 8),
      norm_gemm_shape(65, 1032, 16),     norm_gemm_shape(129, 520, 8),   norm_gemm_shape(385, 72, 136),
      norm_gemm_shape(257, 520, 264),    norm_gemm_shape(3, 2056, 72),   norm_gemm_shape(300, 344, 520),
      norm_gemm_shape(1000, 1016, 1032), norm_gemm_shape(129, 8200, 24), norm_gemm_shape(8192, 4096, 4096)};
}

// Layers of transformers, from few rows to many, and a wide and a narrow product.
std::vector<NormGemm> norm_gemm_sweep_shapes() {
  return {norm_gemm_shape(128, 4096, 4096),   norm_gemm_shape(512, 4096, 4096),
          norm_gemm_shape(2048, 4096, 4096),  norm_gemm_shape(8192, 4096, 1024),
          norm_gemm_shape(8192, 4096, 2048),  norm_gemm_shape(8192, 4096, 4096),
          norm_gemm_shape(8192, 4096, 14336), norm_gemm_shape(4096, 8192, 8192),
          norm_gemm_shape(128, 8192, 8192)};
}

Gemm gemm_of(const NormGemm& p) {
  return gemm_shape(p.rows, p.n, p.cols);
}

FusedNorm norm_of(const NormGemm& p) {
  return {p.rows, p.cols, p.x, p.residual, p.gamma, p.h, nullptr, p.eps};
}

bool quick_on_cpu(const NormGemm& p) {
  return quick_on_cpu(gemm_of(p)) && quick_on_cpu(norm_of(p));
}

bool quick_on_simulator(const NormGemm& p) {
  return quick_on_simulator(gemm_of(p)) && quick_on_simulator(norm_of(p));
}

NormGemm random_shape(std::mt19937_64& random, DeviceKind device, const NormGemm&) {
  const Gemm p = random_shape(random, device, Gemm{});
  return norm_gemm_shape(p.m, p.k, p.n);
}

NormGemm in_vectors(NormGemm p, Precision) {
  p.cols = next_multiple(p.cols, 8);
  p.n = next_multiple(p.n, 8);
  return p;
}

std::uint64_t footprint_bytes(const NormGemm& p, Precision) {
  return footprint_bytes(gemm_of(p)) + 2 * 2 * area(p.rows, p.cols) + 2 * std::uint64_t(p.cols);
}

double bytes_needed(const NormGemm& p, int sets, bool timed, bool) {
  // The variant's W', and the rivals' y; while the reference is computed, h, W' and C in fp64.
  const double weights = 2.0 * p.cols * p.n, matrix = 2.0 * p.rows * p.cols;
  return (double(footprint_bytes(p)) + weights + (timed ? matrix : 0)) * sets + 4 * (weights + matrix) +
         8.0 * p.rows * p.n + memory_slack;
}

double host_bytes_needed(const NormGemm& p, bool) {
  // x, residual, W, gamma; h and W' in fp32, twice; the reference in fp64.
  return double(footprint_bytes(p)) + 8.0 * p.cols * (double(p.rows) + p.n) + 8.0 * p.rows * p.n +
         memory_slack;
}

double score(const NormGemm& p, Precision precision, double microseconds) {
  return score(gemm_of(p), precision, microseconds);
}

}  // namespace ladder
