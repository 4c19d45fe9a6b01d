// FP8 where the harness does not look: the norm and the gemm as a chain of layers, a k too long for the
// tensor core's accumulators, and what scales are for.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "08_warp_specialized/fp8/workspace.h"
#include "common/harness/problems/fused_norm/reference.h"
#include "common/harness/problems/fused_norm/shape.h"
#include "common/harness/problems/gemm/reference.h"
#include "common/harness/problems/gemm/shape.h"
#include "common/harness/verify/precision.h"

namespace ladder {
namespace {

void succeed(cudaError_t error) {
  ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
}

template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& host) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), host.size() * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~OnDevice() { cudaFree(data); }
  OnDevice(const OnDevice&) = delete;
  T* data = nullptr;
};

template <class T>
std::vector<T> on_host(const T* device, std::size_t count) {
  std::vector<T> host(count);
  EXPECT_EQ(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
  return host;
}

// The launch of one of the rung's variants.
template <class Problem>
auto launch_of(const Variants<Problem>& variants, std::string_view name) {
  for (const Variant<Problem>& variant : variants)
    if (variant.name == name) return variant.launch;
  throw std::invalid_argument(std::string(name));
}

// Numbers of both signs and of several sizes; from block to block, so that a neighbour's scale is a wrong
// one.
float number(std::size_t i, int seed) {
  return float(int((i * 2654435761u + seed) >> 7 & 0xFF) - 128) / float(16 << i / 128 % 4);
}
HostMatrix numbers(int rows, int cols, int seed) {
  HostMatrix matrix(std::size_t(rows) * cols);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = __float2bfloat16_rn(number(i, seed));
  return matrix;
}

// The norm and the gemm as a chain of layers has them: y in e4m3 with its scales, stored by one kernel, is
// the A of the next, and no kernel repacks it.
TEST(Fp8, NormThenGemm) {
  constexpr Precision precision = Precision::fp8_block;
  constexpr int m = 150, n = 136, k = 424;  // ragged in every way; the last block of a row is shorter

  const HostMatrix x = numbers(m, k, 1), residual = numbers(m, k, 2), gamma = numbers(1, k, 3);
  std::vector<float> zeros(m * k), b(k * n);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = number(i, 4);
  const OnDevice<float> a_on_device(zeros), b_on_device(b);
  const OnDevice<__nv_bfloat16> x_on_device(x), residual_on_device(residual), gamma_on_device(gamma),
      h(HostMatrix(m * k)), c(HostMatrix(m * n));
  Gemm gemm{.m = m, .n = n, .k = k, .a = nullptr, .b = nullptr, .c = c.data};
  const OnDevice<unsigned char> workspace(
      std::vector<unsigned char>(rung_08::workspace_bytes<precision>(gemm)));
  const TypedOperands typed{
      .a = a_on_device.data, .b = b_on_device.data, .c = c.data, .workspace = workspace.data};
  gemm.typed = &typed;
  succeed(rung_08::quantise<precision>(gemm, nullptr));

  // A was quantised from zeros, and is overwritten with the norm's y.
  const rung_08::Workspace w(precision, gemm, workspace.data);
  FusedNorm norm = {.rows = m,
                    .cols = k,
                    .x = x_on_device.data,
                    .residual = residual_on_device.data,
                    .gamma = gamma_on_device.data,
                    .h = h.data,
                    .y = nullptr,
                    .eps = 1e-5f};
  const QuantisedRows quantised{.elements = w.a_elements,
                                .scales = reinterpret_cast<unsigned char*>(w.a_scales)};
  norm.quantised = &quantised;
  succeed(launch_of(rung().fused_norm, "fp8_block")(norm, nullptr));
  succeed(launch_of(rung().gemm, "fp8_block")(gemm, nullptr));
  succeed(cudaDeviceSynchronize());

  // y is the norm's.
  const auto elements = on_host(w.a_elements, w.a.element_bytes());
  const auto scales = on_host(w.a_scales, w.scales_a.count());
  const NormReference of_norm(norm_shape(m, k), x, residual, gamma);
  const Verdict stored =
      check_quantised("y", precision, m, k, std::as_bytes(std::span(elements)),
                      std::as_bytes(std::span(scales)), [&](std::uint64_t i) { return of_norm.y(i); });
  EXPECT_TRUE(stored.passed()) << stored.wrong << " wrong: " << stored.first_wrong;

  // And it is what the tensor cores multiplied. Their accumulators keep 13 bits of a block: the bound is that
  // of the worst case, so the error is judged as a whole, too. A wrong scale is wrong by a factor of two or
  // more.
  std::vector<float> y(m * k), rounded_b = b;
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < k; ++col)
      y[row * k + col] = decoded_element(precision, elements[row * w.a.pitch() + col]) *
                         scales[w.scales_a.at(row, col / BlockScales::block)];
  round_matrix(precision, Factor::b, rounded_b, k, n);
  const GemmReference reference(gemm_shape(m, n, k), precision, y, rounded_b, false);
  const auto got = on_host(c.data, m * n);
  Verdict verdict;
  double errors = 0, squares = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double exact = reference.exact(i);
    check_element("C", got[i], i, n, reference.expected(i, exact, 1), verdict);
    errors += (__bfloat162float(got[i]) - exact) * (__bfloat162float(got[i]) - exact);
    squares += exact * exact;
  }
  EXPECT_TRUE(verdict.passed()) << verdict.wrong << " wrong: " << verdict.first_wrong;
  EXPECT_LT(errors,
            0.003 * 0.003 * squares);  // a bf16 has 8 bits: 0.0016, and what accumulators of 13 bits add
}

// C[m,n] of A[m,k] and B[k,n], rounded and multiplied by kernels of the rung.
template <Precision precision>
std::vector<float> product(std::string_view variant, int m, int n, int k, const std::vector<float>& a,
                           const std::vector<float>& b) {
  const OnDevice<float> a_on_device(a), b_on_device(b);
  const OnDevice<__nv_bfloat16> c(HostMatrix(m * n));
  Gemm gemm{.m = m, .n = n, .k = k, .a = nullptr, .b = nullptr, .c = c.data};
  const OnDevice<unsigned char> workspace(
      std::vector<unsigned char>(rung_08::workspace_bytes<precision>(gemm)));
  const TypedOperands typed{
      .a = a_on_device.data, .b = b_on_device.data, .c = c.data, .workspace = workspace.data};
  gemm.typed = &typed;
  succeed(rung_08::quantise<precision>(gemm, nullptr));
  succeed(launch_of(rung().gemm, variant)(gemm, nullptr));
  succeed(cudaDeviceSynchronize());
  std::vector<float> wide;
  for (const __nv_bfloat16 element : on_host(c.data, m * n)) wide.push_back(__bfloat162float(element));
  return wide;
}

// The tensor core's accumulators have 14 bits: a one that is added to 2^14 is lost. Promoted, they are
// fp32's.
TEST(Fp8, OnesAddUpToSixteenThousandUnlessPromoted) {
  constexpr int m = 8, n = 8, k = 32768;
  const std::vector<float> a(m * k, 1), b(k * n, 1);
  for (const auto& [variant, sum] : {std::pair("fp8_128x256", 16384.0f), std::pair("fp8_promoted", 32768.0f)})
    EXPECT_EQ(product<Precision::fp8>(variant, m, n, k, a, b), std::vector<float>(m * n, sum));
}

// A scale for each matrix, by both kernels that know it.
class Fp8Tensor : public testing::TestWithParam<const char*> {
 protected:
  static constexpr int m = 72, n = 136, k = 260;
  static std::vector<float> scaled_numbers(std::size_t count, int seed, float by) {
    std::vector<float> x(count);
    for (std::size_t i = 0; i < count; ++i) x[i] = by * number(i, seed);
    return x;
  }
  const std::vector<float> a = scaled_numbers(m * k, 1, 1), b = scaled_numbers(k * n, 2, 1);

  static std::vector<float> of_tensors(const std::vector<float>& of_a, const std::vector<float>& of_b) {
    return product<Precision::fp8_tensor>(GetParam(), m, n, k, of_a, of_b);
  }
};
INSTANTIATE_TEST_SUITE_P(By, Fp8Tensor, testing::Values("fp8_tensor", "fp8_tensor_promoted"));

// What e4m3 cannot hold, and what a scale makes of it.
TEST_P(Fp8Tensor, HoldsWhatE4m3Cannot) {
  const std::vector<float> tiny(m * k, 0x1p-12f), huge(m * k, 1000), ones(k * n, 1);
  auto bare = [&](const std::vector<float>& of_a) {
    return product<Precision::fp8>("fp8", m, n, k, of_a, ones);
  };
  auto everywhere = [](float x) {
    return std::vector<float>(m * n, __bfloat162float(__float2bfloat16_rn(x)));
  };
  EXPECT_EQ(bare(tiny), everywhere(0));
  EXPECT_EQ(of_tensors(tiny, ones), everywhere(k * 0x1p-12f));
  EXPECT_EQ(bare(huge), everywhere(k * 448));
  EXPECT_EQ(of_tensors(huge, ones), everywhere(k * 1000));
}

// A power of two in a matrix is one in its scale and nowhere else. Even where the product of both scales is
// more than fp32 holds: 0 stays 0.
TEST_P(Fp8Tensor, PowersOfTwoChangeNothingElse) {
  const std::vector<float> right = of_tensors(a, b);
  for (const int power : {-100, -14, 12, 100})
    EXPECT_EQ(of_tensors(scaled_numbers(m * k, 1, std::ldexp(1.0f, power)),
                         scaled_numbers(k * n, 2, std::ldexp(1.0f, -power))),
              right)
        << power;

  std::vector<float> vast = scaled_numbers(m * k, 1, 0x1p100f);
  std::fill_n(vast.begin() + 5 * k, k, 0.0f);
  const std::vector<float> c = of_tensors(vast, scaled_numbers(k * n, 2, 0x1p100f));
  for (int i = 0; i < m * n; ++i) EXPECT_EQ(c[i], i / n == 5 || right[i] == 0 ? 0 : right[i] * INFINITY) << i;
}

TEST_P(Fp8Tensor, ZerosHaveAScale) {
  const std::vector<float> zeros(m * n);
  EXPECT_EQ(of_tensors(std::vector<float>(m * k), b), zeros);
  EXPECT_EQ(of_tensors(a, std::vector<float>(k * n, 0x1p-149f)), zeros);  // no 448th in fp32
}

// Among numbers, and among zeros, which alone would have no scale.
TEST_P(Fp8Tensor, NanStaysWhereItIs) {
  for (const std::vector<float>& numbers_of_a : {a, std::vector<float>(m * k)}) {
    std::vector<float> with = numbers_of_a, without = numbers_of_a;
    with[7 * k + 200] = std::numeric_limits<float>::quiet_NaN();
    without[7 * k + 200] = 0;
    const std::vector<float> c = of_tensors(with, b), right = of_tensors(without, b);
    for (int i = 0; i < m * n; ++i) {
      if (i / n == 7) {
        EXPECT_TRUE(std::isnan(c[i])) << i;
      } else {
        EXPECT_EQ(c[i], right[i]) << i;
      }
    }
  }
}

TEST_P(Fp8Tensor, InfinityMakesEverythingNan) {
  std::vector<float> with = b;
  with[200 * n + 100] = -std::numeric_limits<float>::infinity();
  for (const float element : of_tensors(a, with)) EXPECT_TRUE(std::isnan(element));
}

}  // namespace
}  // namespace ladder
