#include "common/harness/problems/problems.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace ladder {

std::vector<Gemm> ProblemInfo<Gemm>::verify_shapes() {
  return {// Any shape: rungs 00 to 03, and any_n_k of 04 to 08, which copies 2, 4 or 8 bytes at a time.
          gemm_shape(1, 1, 1), gemm_shape(7, 13, 5), gemm_shape(33, 65, 129), gemm_shape(127, 255, 511),
          gemm_shape(129, 127, 1), gemm_shape(1, 520, 77), gemm_shape(389, 1, 33), gemm_shape(1, 4096, 333),
          gemm_shape(2049, 1, 77), gemm_shape(131, 260, 70), gemm_shape(67, 262, 132),
          // n and k multiples of 8, which 16-byte accesses need, any m: one vector, a vector or a row past a
          // tile, whole tiles, k shorter than any ring of stages, and k that goes round it many times.
          gemm_shape(1, 8, 8), gemm_shape(7, 16, 8), gemm_shape(130, 8, 40), gemm_shape(129, 136, 24),
          gemm_shape(128, 256, 64), gemm_shape(128, 128, 160), gemm_shape(200, 264, 40),
          gemm_shape(264, 136, 72), gemm_shape(65, 8, 1024), gemm_shape(257, 520, 56),
          gemm_shape(129, 136, 352), gemm_shape(300, 264, 48),  // and k in blocks of 32 and 16
          gemm_shape(333, 520, 264), gemm_shape(1024, 1000, 1016), gemm_shape(4096, 4096, 4096)};
}

std::vector<Gemm> ProblemInfo<Gemm>::sweep_shapes() {
  return {gemm_shape(256, 256, 256),    gemm_shape(512, 512, 512),    gemm_shape(1024, 1024, 1024),
          gemm_shape(2048, 2048, 2048), gemm_shape(4096, 4096, 4096), gemm_shape(8192, 8192, 8192)};
}

std::vector<Gemm> ProblemInfo<Gemm>::sweep_over_k(int m, int n) {
  std::vector<Gemm> shapes;
  for (int k = 64; k <= 16384; k *= 2) shapes.push_back(gemm_shape(m, n, k));
  return shapes;
}

std::vector<FusedNorm> ProblemInfo<FusedNorm>::verify_shapes() {
  return {norm_shape(1, 1),       norm_shape(3, 7),      norm_shape(111, 541),   norm_shape(37, 256),
          norm_shape(19, 512),    norm_shape(5, 1000),   norm_shape(13, 2040),   norm_shape(9, 4096),
          norm_shape(7, 8192),    norm_shape(1, 65537),  norm_shape(5, 16384),   norm_shape(3, 32760),
          norm_shape(3, 65536),   norm_shape(8, 65537),  norm_shape(2, 131072),  norm_shape(2600, 520),
          norm_shape(3, 24576),   norm_shape(1, 300000), norm_shape(8192, 4096), norm_shape(16384, 8192),
          norm_shape(2048, 65536)};
}

std::vector<FusedNorm> ProblemInfo<FusedNorm>::sweep_shapes() {
  return {norm_shape(65536, 512),  norm_shape(65536, 1024), norm_shape(32768, 2048),
          norm_shape(8192, 4096),  norm_shape(32768, 5120), norm_shape(16384, 8192),
          norm_shape(4096, 16384), norm_shape(4096, 32768), norm_shape(2048, 65536)};
}

std::vector<NormGemm> ProblemInfo<NormGemm>::verify_shapes() {
  return {
      norm_gemm_shape(1, 8, 8),          norm_gemm_shape(7, 16, 24),     norm_gemm_shape(130, 40, 8),
      norm_gemm_shape(65, 1032, 16),     norm_gemm_shape(129, 520, 8),   norm_gemm_shape(385, 72, 136),
      norm_gemm_shape(257, 520, 264),    norm_gemm_shape(3, 2056, 72),   norm_gemm_shape(300, 344, 520),
      norm_gemm_shape(1000, 1016, 1032), norm_gemm_shape(129, 8200, 24), norm_gemm_shape(8192, 4096, 4096)};
}

// Layers of transformers, from few rows to many, and a wide and a narrow product.
std::vector<NormGemm> ProblemInfo<NormGemm>::sweep_shapes() {
  return {norm_gemm_shape(128, 4096, 4096),   norm_gemm_shape(512, 4096, 4096),
          norm_gemm_shape(2048, 4096, 4096),  norm_gemm_shape(8192, 4096, 1024),
          norm_gemm_shape(8192, 4096, 2048),  norm_gemm_shape(8192, 4096, 4096),
          norm_gemm_shape(8192, 4096, 14336), norm_gemm_shape(4096, 8192, 8192),
          norm_gemm_shape(128, 8192, 8192)};
}

// One group and many, more groups than a warp has lanes, more than there are rows; tiles that end where a
// group does and within it; n and k of every kind, as for the gemm.
std::vector<GroupedGemm> ProblemInfo<GroupedGemm>::verify_shapes() {
  return {grouped_shape(1, 1, 8, 8),       grouped_shape(3, 2, 72, 24),        grouped_shape(1, 153, 264, 40),
          grouped_shape(4, 130, 136, 72),  grouped_shape(40, 70, 64, 8),       grouped_shape(5, 640, 136, 56),
          grouped_shape(8, 300, 520, 264), grouped_shape(70, 500, 8, 16),      grouped_shape(100, 33, 40, 40),
          grouped_shape(3, 200, 72, 1000), grouped_shape(128, 4096, 768, 2048)};
}

// Layers of mixtures of experts, public ones: Mixtral 8x7B, Qwen3-30B-A3B and DeepSeek-V3, each for the
// tokens of a prompt and of a batch that is being answered. m is tokens times the experts of each.
std::vector<GroupedGemm> ProblemInfo<GroupedGemm>::sweep_shapes() {
  return {grouped_shape(8, 4096, 14336, 4096), grouped_shape(8, 256, 14336, 4096),
          grouped_shape(128, 16384, 768, 2048), grouped_shape(128, 1024, 768, 2048),
          grouped_shape(256, 2048, 2048, 7168)};
}

// A vector, a column of vectors past a tile of 128 and of 64 columns of C, whole tiles, k shorter than the
// ring of stages and longer.
std::vector<Linear> ProblemInfo<Linear>::verify_shapes() {
  return {linear_shape(1, 8, 8),          linear_shape(7, 16, 24),       linear_shape(130, 40, 8),
          linear_shape(65, 72, 1032),     linear_shape(129, 136, 352),   linear_shape(128, 128, 160),
          linear_shape(257, 520, 56),     linear_shape(300, 264, 48),    linear_shape(5, 1032, 136),
          linear_shape(1000, 1032, 1016), linear_shape(4096, 4096, 4096)};
}

// Up-projections of transformers' MLPs: of models of 8 and of 70 billion parameters, for a prompt and for a
// batch that is being answered, and one as wide as deep.
std::vector<Linear> ProblemInfo<Linear>::sweep_shapes() {
  return {linear_shape(128, 14336, 4096), linear_shape(2048, 14336, 4096), linear_shape(8192, 14336, 4096),
          linear_shape(4096, 4096, 4096), linear_shape(8192, 28672, 8192)};
}

// Few columns and one; a vector past a warp's, and past a CTA's; rows that start at every offset from a
// 16-byte boundary; rows as wide as registers, and wider.
std::vector<RowOperator> ProblemInfo<RowOperator>::verify_shapes() {
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
std::vector<RowOperator> ProblemInfo<RowOperator>::sweep_shapes() {
  return {row_operator_shape(65536, 512),  row_operator_shape(65536, 1024), row_operator_shape(32768, 2048),
          row_operator_shape(8192, 4096),  row_operator_shape(32768, 5120), row_operator_shape(16384, 8192),
          row_operator_shape(4096, 16384), row_operator_shape(4096, 32768), row_operator_shape(2048, 65536),
          row_operator_shape(1024, 131072)};
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

Gemm gemm_of(const NormGemm& p) {
  return gemm_shape(p.rows, p.n, p.cols);
}

Gemm gemm_of(const Linear& p) {
  return {p.m, p.n, p.k, p.a, p.b, p.c};
}

FusedNorm norm_of(const NormGemm& p) {
  return {p.rows, p.cols, p.x, p.residual, p.gamma, p.h, nullptr, p.eps};
}

bool quick_on_cpu(const Gemm& p) {
  return double(p.m) * p.n * p.k < 0x1p25;
}
bool quick_on_cpu(const FusedNorm& p) {
  return double(p.rows) * p.cols < 0x1.6p20;
}

bool quick_on_cpu(const NormGemm& p) {
  return quick_on_cpu(gemm_of(p)) && quick_on_cpu(norm_of(p));
}

bool quick_on_cpu(const GroupedGemm& p) {
  return double(p.m) * p.n * p.k < 0x1p25 && double(p.groups) * p.n * p.k < 0x1p25;
}

bool quick_on_cpu(const Linear& p) {
  return quick_on_cpu(gemm_of(p));
}

bool quick_on_cpu(const RowOperator& p) {
  return quick_on_cpu(norm_shape(p.rows, p.cols));
}

bool quick_on_simulator(const Gemm& p) {
  constexpr int tile = 128;
  const double tiles = std::ceil(p.m / double(tile)) * std::ceil(p.n / double(tile));
  return tiles * tile * tile * p.k < 0x1p25;
}
bool quick_on_simulator(const FusedNorm& p) {
  return double(p.rows) * p.cols < 0x1.6p20;
}

bool quick_on_simulator(const NormGemm& p) {
  return quick_on_simulator(gemm_of(p)) && quick_on_simulator(norm_of(p));
}

bool quick_on_simulator(const GroupedGemm& p) {
  return quick_on_simulator(gemm_shape(p.m + 16 * std::min(p.groups, p.m), p.n, p.k)) && quick_on_cpu(p);
}

bool quick_on_simulator(const Linear& p) {
  return quick_on_simulator(gemm_of(p));
}

bool quick_on_simulator(const RowOperator& p) {
  return quick_on_simulator(norm_shape(p.rows, p.cols));
}

std::string shape_text(const Gemm& p) {
  return std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k);
}

std::string shape_text(const FusedNorm& p) {
  return std::to_string(p.rows) + "x" + std::to_string(p.cols);
}

std::string shape_text(const NormGemm& p) {
  return shape_text(norm_of(p)) + "x" + std::to_string(p.n);
}

std::string shape_text(const GroupedGemm& p) {
  return std::to_string(p.groups) + "x" + shape_text(gemm_shape(p.m, p.n, p.k));
}

std::string shape_text(const Linear& p) {
  return shape_text(gemm_of(p));
}

std::string shape_text(const RowOperator& p) {
  return shape_text(norm_shape(p.rows, p.cols));
}

static std::uint64_t product(int x, int y) {
  return std::uint64_t(x) * std::uint64_t(y);
}

static std::uint64_t bytes(std::uint64_t elements, Number number) {
  return elements * (bits_of(number) / 4) / 2;  // half-bytes first: the largest shape's still fit
}

static std::uint64_t blocks(int size, int block) {
  return std::uint64_t((size - 1) / block + 1);
}

// A, or y of the norm: of every row a scale for each block.
static std::uint64_t matrix_bytes(Precision precision, int rows, int cols) {
  const Format format = format_of(precision);
  // Two elements of four, and two bits for each of them that say which.
  if (precision == Precision::bf16_sparse) return product(rows, cols) * 9 / 8;
  const std::uint64_t scales = format.block ? rows * blocks(cols, format.block) : 0;
  return bytes(product(rows, cols), format.a) + scales * (precision == Precision::fp8_block ? 4 : 1);
}

static std::uint64_t bytes_of_b(const Gemm& p, Precision precision) {
  if (precision == Precision::bf16_sparse) return matrix_bytes(Precision::bf16, p.n, p.k);
  if (has_scaled_columns(precision)) return product(p.n, p.k) + 4 * std::uint64_t(p.n);
  if (precision == Precision::fp8_block) return product(p.n, p.k) + 4 * blocks(p.n, 128) * blocks(p.k, 128);
  return matrix_bytes(precision, p.n, p.k);
}

std::uint64_t footprint_bytes(const Gemm& p, Precision precision) {
  return matrix_bytes(precision, p.m, p.k) + bytes_of_b(p, precision) +
         bytes(product(p.m, p.n), format_of(precision).c);
}

std::uint64_t footprint_bytes(const FusedNorm& p, Precision precision) {
  return 3 * 2 * product(p.rows, p.cols) + matrix_bytes(precision, p.rows, p.cols) +
         2 * std::uint64_t(p.cols);
}

std::uint64_t footprint_bytes(const NormGemm& p, Precision) {
  return footprint_bytes(gemm_of(p)) + 2 * 2 * product(p.rows, p.cols) + 2 * std::uint64_t(p.cols);
}

std::uint64_t footprint_bytes(const GroupedGemm& p, Precision) {
  const std::uint64_t activations = product(p.m, p.k) + product(p.m, p.n);
  return 2 * (activations + p.groups * product(p.k, p.n)) + 4 * (std::uint64_t(p.groups) + 1);
}

std::uint64_t footprint_bytes(const Linear& p, Precision) {
  return footprint_bytes(gemm_of(p)) + 2 * product(p.k, p.n) + 2 * std::uint64_t(p.n);
}

std::uint64_t footprint_bytes(const RowOperator& p, Precision) {
  return compulsory_bytes(p, RowOperation::layer_norm);
}

std::uint64_t compulsory_bytes(const RowOperator& p, RowOperation operation) {
  const std::uint64_t vectors = operation == RowOperation::layer_norm ? 2 : 0;
  return 2 * (2 * product(p.rows, p.cols) + vectors * std::uint64_t(p.cols));
}

double score(const Gemm& p, Precision, double microseconds) {
  return 2.0 * p.m * p.n * p.k / microseconds * 1e-6;
}

double score(const FusedNorm& p, Precision precision, double microseconds) {
  return double(footprint_bytes(p, precision)) / microseconds * 1e-3;
}

double score(const NormGemm& p, Precision precision, double microseconds) {
  return score(gemm_of(p), precision, microseconds);
}

double score(const GroupedGemm& p, Precision precision, double microseconds) {
  return score(gemm_shape(p.m, p.n, p.k), precision, microseconds);
}

double score(const Linear& p, Precision precision, double microseconds) {
  return score(gemm_of(p), precision, microseconds);
}

double score(const RowOperator& p, RowOperation operation, double microseconds) {
  return double(compulsory_bytes(p, operation)) / microseconds * 1e-3;
}

}  // namespace ladder
