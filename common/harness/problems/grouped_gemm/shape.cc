#include "common/harness/problems/grouped_gemm/shape.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "common/harness/base/sizes.h"
#include "common/harness/problems/footprint.h"
#include "common/harness/problems/random_sizes.h"

namespace ladder {

// One group and many, more groups than a warp has lanes, more than there are rows; tiles that end where a
// group does and within it; n and k of every kind, as for the gemm.
std::vector<GroupedGemm> grouped_gemm_verify_shapes() {
  return {grouped_shape(1, 1, 8, 8),       grouped_shape(3, 2, 72, 24),        grouped_shape(1, 153, 264, 40),
          grouped_shape(4, 130, 136, 72),  grouped_shape(40, 70, 64, 8),       grouped_shape(5, 640, 136, 56),
          grouped_shape(8, 300, 520, 264), grouped_shape(70, 500, 8, 16),      grouped_shape(100, 33, 40, 40),
          grouped_shape(3, 200, 72, 1000), grouped_shape(128, 4096, 768, 2048)};
}

// Layers of mixtures of experts, public ones: Mixtral 8x7B, Qwen3-30B-A3B and DeepSeek-V3, each for the
// tokens of a prompt and of a batch that is being answered. m is tokens times the experts of each.
std::vector<GroupedGemm> grouped_gemm_sweep_shapes() {
  return {grouped_shape(8, 4096, 14336, 4096), grouped_shape(8, 256, 14336, 4096),
          grouped_shape(128, 16384, 768, 2048), grouped_shape(128, 1024, 768, 2048),
          grouped_shape(256, 2048, 2048, 7168)};
}

std::vector<int> group_offsets(const GroupedGemm& p, bool even, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> before(1, 0.0);  // the shares of the groups before each
  for (int g = 0; g < p.groups; ++g) {
    double normal = -6;  // twelve numbers from 0 to 1: the same on every machine, as std's are not
    for (int i = 0; i < 12; ++i) normal += double(random() >> 11) * 0x1p-53;
    before.push_back(before.back() + std::exp(normal));
  }
  std::vector<int> offsets;
  for (int g = 0; g <= p.groups; ++g)
    offsets.push_back(even ? int(std::int64_t(g) * p.m / p.groups) : int(before[g] / before.back() * p.m));
  return offsets;
}

std::vector<Gemm> gemms_of(const GroupedGemm& p, const std::vector<int>& offsets) {
  std::vector<Gemm> gemms;
  for (int g = 0; g < p.groups; ++g) {
    const std::size_t row = offsets[g], k = p.k, n = p.n;
    Gemm gemm = gemm_shape(offsets[g + 1] - offsets[g], p.n, p.k);
    if (gemm.m == 0) continue;
    if (p.a) gemm.a = p.a + row * k, gemm.b = p.b + g * k * n, gemm.c = p.c + row * n;
    gemms.push_back(gemm);
  }
  return gemms;
}

bool quick_on_cpu(const GroupedGemm& p) {
  return double(p.m) * p.n * p.k < 0x1p25 && double(p.groups) * p.n * p.k < 0x1p25;
}

bool quick_on_simulator(const GroupedGemm& p) {
  return quick_on_simulator(gemm_shape(p.m + 16 * std::min(p.groups, p.m), p.n, p.k)) && quick_on_cpu(p);
}

GroupedGemm random_shape(std::mt19937_64& random, DeviceKind device, const GroupedGemm&) {
  Gemm p = random_shape(random, device, Gemm{});
  const int groups = random_size(random, 80);
  if (groups > 4) p.n = 1 + p.n / 4, p.k = 1 + p.k / 4;  // each has a B
  return grouped_shape(groups, p.m, p.n, p.k);
}

GroupedGemm in_vectors(GroupedGemm p, Precision) {
  p.k = next_multiple(p.k, 8);
  p.n = next_multiple(p.n, 8);
  return p;
}

std::uint64_t footprint_bytes(const GroupedGemm& p, Precision) {
  const std::uint64_t activations = area(p.m, p.k) + area(p.m, p.n);
  return 2 * (activations + p.groups * area(p.k, p.n)) + 4 * (std::uint64_t(p.groups) + 1);
}

double bytes_needed(const GroupedGemm& p, int sets, bool, bool) {
  return double(footprint_bytes(p)) * sets + 4.0 * p.m * p.n + memory_slack;  // and the reference
}

double host_bytes_needed(const GroupedGemm& p, bool) {
  // A and B in fp32, a group's as they are copied; C's reference in fp64 and as it is copied.
  return 4.0 * p.m * p.k + 4.0 * p.groups * p.k * p.n + 6.0 * p.k * p.n + 12.0 * p.m * p.n + memory_slack;
}

double score(const GroupedGemm& p, Precision precision, double microseconds) {
  return score(gemm_shape(p.m, p.n, p.k), precision, microseconds);
}

}  // namespace ladder
