#include "common/harness/problems/gemm/shape.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "common/harness/base/sizes.h"
#include "common/harness/problems/footprint.h"
#include "common/harness/problems/random_sizes.h"

namespace ladder {

std::vector<Gemm> gemm_verify_shapes() {
  return {// Any shape: rungs 00 to 03, and any_n_k of 04 to 07, and every_shape, which copy 2, 4 or 8 bytes
          // at a time.
          gemm_shape(1, 1, 1), gemm_shape(7, 13, 5), gemm_shape(33, 65, 129), gemm_shape(127, 255, 511),
          gemm_shape(129, 127, 1), gemm_shape(1, 520, 77), gemm_shape(389, 1, 33), gemm_shape(1, 4096, 333),
          gemm_shape(2049, 1, 77), gemm_shape(131, 260, 70), gemm_shape(67, 262, 132),
          // n and k multiples of 8, which 16-byte accesses need, any m: one vector, a vector or a row past a
          // tile, whole tiles, k shorter than any ring buffer, and k that goes round it many times.
          gemm_shape(1, 8, 8), gemm_shape(7, 16, 8), gemm_shape(130, 8, 40), gemm_shape(129, 136, 24),
          gemm_shape(128, 256, 64), gemm_shape(128, 128, 160), gemm_shape(200, 264, 40),
          gemm_shape(264, 136, 72), gemm_shape(65, 8, 1024), gemm_shape(257, 520, 56),
          gemm_shape(129, 136, 352), gemm_shape(300, 264, 48),  // and k in blocks of 32 and 16
          gemm_shape(333, 520, 264), gemm_shape(1024, 1000, 1016), gemm_shape(4096, 4096, 4096)};
}

std::vector<Gemm> gemm_sweep_shapes() {
  return {gemm_shape(256, 256, 256),    gemm_shape(512, 512, 512),    gemm_shape(1024, 1024, 1024),
          gemm_shape(2048, 2048, 2048), gemm_shape(4096, 4096, 4096), gemm_shape(8192, 8192, 8192)};
}

std::vector<Gemm> shapes_over_k(int m, int n) {
  std::vector<Gemm> shapes;
  for (int k = 64; k <= 16384; k *= 2) shapes.push_back(gemm_shape(m, n, k));
  return shapes;
}

Gemm in_multiples(const Gemm& p, int of) {
  const int most = max_dimension / of * of;
  Gemm grown = p;
  grown.n = std::min(next_multiple(p.n, of), most);
  grown.k = std::min(next_multiple(p.k, of), most);
  return grown;
}

bool quick_on_cpu(const Gemm& p) {
  return double(p.m) * p.n * p.k < 0x1p25;
}

bool quick_on_simulator(const Gemm& p) {
  constexpr int tile = 128;
  const double tiles = std::ceil(p.m / double(tile)) * std::ceil(p.n / double(tile));
  return tiles * tile * tile * p.k < 0x1p25;
}

Gemm random_shape(std::mt19937_64& random, DeviceKind device, const Gemm&) {
  const int most = device == DeviceKind::gpu ? 3000 : 200;
  return gemm_shape(random_size(random, most), random_size(random, most), random_size(random, most));
}

Gemm in_vectors(Gemm p, Precision precision) {
  p.n = next_multiple(p.n, 8);
  const Format format = format_of(precision);
  const bool sparse = precision == Precision::bf16_sparse;  // half of a row is stored
  const int bits = std::min(bits_of(format.a), bits_of(format.b));
  p.k = next_multiple(p.k, std::max({8, (sparse ? 256 : 128) / bits, format.block}));
  return p;
}

static std::uint64_t bytes_of_b(const Gemm& p, Precision precision) {
  if (precision == Precision::bf16_sparse) return matrix_bytes(Precision::bf16, p.n, p.k);
  if (has_scaled_columns(precision)) return area(p.n, p.k) + 4 * std::uint64_t(p.n);
  if (precision == Precision::fp8_block) return area(p.n, p.k) + 4 * blocks(p.n, 128) * blocks(p.k, 128);
  return matrix_bytes(precision, p.n, p.k);
}

std::uint64_t footprint_bytes(const Gemm& p, Precision precision) {
  return matrix_bytes(precision, p.m, p.k) + bytes_of_b(p, precision) +
         bytes(area(p.m, p.n), format_of(precision).c);
}

// Device memory that a run takes: the buffer sets and, beside them, the reference C in fp32. In another
// precision a set has its inputs in fp32, in the variant's layout and in the library's, and the reference is
// in fp64.
double bytes_needed(const Gemm& p, int sets, bool, bool bf16_only) {
  const double inputs = double(p.m) * p.k + double(p.k) * p.n, outputs = double(p.m) * p.n;
  const double of_a_set = bf16_only ? 2 * inputs + 2 * outputs : 12 * inputs + 4 * outputs;
  const double reference = bf16_only ? 4 * outputs : 8 * (inputs + outputs);
  return of_a_set * sets + reference + memory_slack;
}

double workspace_needed(const Variant<Gemm>& variant, const Gemm& p) {
  const Extension<Gemm>& extension = extension_of(variant);
  // Of fp64 what lies in the two layouts, and C, is twice as long as counted above.
  if (extension.precision == Precision::fp64)
    return 8 * (double(p.m) * p.k + double(p.k) * p.n) + 4 * (double(p.m) * p.n);
  const bool counted = extension.precision != Precision::bf16 || !extension.workspace_bytes;
  return counted ? 0 : double(extension.workspace_bytes(p));
}

// Host memory that a check takes: the inputs in fp32 and as they are copied, the reference, in fp64 and as it
// is copied, and a chunk of the output.
double host_bytes_needed(const Gemm& p, bool bf16_only) {
  const double inputs = double(p.m) * p.k + double(p.k) * p.n, outputs = double(p.m) * p.n;
  return (bf16_only ? 6 : 12) * inputs + 12 * outputs + memory_slack;
}

double score(const Gemm& p, Precision, double microseconds) {
  return 2.0 * p.m * p.n * p.k / microseconds * 1e-6;
}

}  // namespace ladder
