// What rounding costs a product, by the size of its numbers: |C - AB| / |AB| beside the product in fp64 of
// the factors before they are rounded. C is exact of the rounded ones, as the reference has them that every
// kernel is checked by; so these are the errors of a precision, of which an accumulator in fp32 adds next to
// nothing.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "common/harness/problems/gemm/reference.h"
#include "common/harness/verify/precision.h"

namespace ladder {
namespace {

constexpr int m = 64, n = 64, k = 1024;
constexpr Precision precisions[] = {Precision::fp8, Precision::mxfp8, Precision::nvfp4_blocks,
                                    Precision::nvfp4};

// Normal numbers of which the largest is `largest`, by Box and Muller's method: the same everywhere, which
// the library's normal_distribution is not.
std::vector<float> normal(std::size_t count, double largest, unsigned seed) {
  std::mt19937 random(seed);
  auto uniform = [&] { return (random() + 0.5) / 0x1p32; };
  std::vector<double> drawn(count);
  double most = 0;
  for (double& x : drawn) {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    x = radius * std::cos(2 * std::numbers::pi * uniform());
    most = std::max(most, std::abs(x));
  }
  std::vector<float> numbers;
  for (const double x : drawn) numbers.push_back(float(x / most * largest));
  return numbers;
}

std::vector<double> product(Precision precision, std::vector<float> a, std::vector<float> b) {
  round_matrix(precision, Factor::a, a, m, k);
  round_matrix(precision, Factor::b, b, k, n);
  return GemmReference({.m = m, .n = n, .k = k, .a = nullptr, .b = nullptr, .c = nullptr}, precision,
                       std::move(a), std::move(b), false)
      .all();
}

double error(Precision precision, const std::vector<float>& a, const std::vector<float>& b) {
  const std::vector<double> exact = product(Precision::fp32, a, b), got = product(precision, a, b);
  double squares = 0, of_difference = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    squares += exact[i] * exact[i];
    of_difference += std::pow(got[i] - exact[i], 2);
  }
  return std::sqrt(of_difference / squares);
}

void print() {
  std::printf("relative error of C, %dx%dx%d, normal factors, the largest |B| 5\n\n%-12s", m, n, k,
              "largest |A|");
  for (const Precision precision : precisions) std::printf(" %13s", precision_name(precision));
  std::puts("");
  const std::vector<float> b = normal(std::size_t(k) * n, 5, 2);
  for (const double largest : {1e-6, 1e-4, 1e-2, 0.1, 5.0, 300.0, 3e4, 1e6}) {
    const std::vector<float> a = normal(std::size_t(m) * k, largest, 1);
    std::printf("%-12g", largest);
    for (const Precision precision : precisions) std::printf(" %13.2g", error(precision, a, b));
    std::puts("");
  }
}

}  // namespace
}  // namespace ladder

int main(int argc, char** argv) {
  if (argc == 1) {
    ladder::print();
    return 0;
  }
  const bool help = std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0;
  std::fputs(
      "usage: quantisation_error\nPrints what rounding to 8 and 4 bits costs a product, by the size of its "
      "numbers.\n",
      help ? stdout : stderr);
  return help ? 0 : 2;
}
