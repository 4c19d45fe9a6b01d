// The norm and the gemm as a chain of layers has them: y in e4m3 with its scales, stored by one kernel, is
// the A of the next, and nobody repacks it. On the simulator; what the two compute alone, the harness
// verifies.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "08_warp_specialized/variants.h"
#include "common/harness/precision.h"
#include "common/harness/reference.h"
#include "common/simulator/settings.h"

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
// the A of the next, and nobody repacks it.
TEST(Fp8, NormThenGemm) {
  simulator::settings().device = "h200";
  simulator::settings().checks = simulator::Checks::fail;
  constexpr Precision precision = Precision::fp8_block;
  constexpr int m = 150, n = 136, k = 424;  // ragged in every way; the last block of a row is shorter

  const HostMatrix x = numbers(m, k, 1), residual = numbers(m, k, 2), gamma = numbers(1, k, 3);
  std::vector<float> zeros(m * k), b(k * n);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = number(i, 4);
  const OnDevice<float> a_on_device(zeros), b_on_device(b);
  const OnDevice<__nv_bfloat16> x_on_device(x), residual_on_device(residual), gamma_on_device(gamma),
      h(HostMatrix(m * k)), c(HostMatrix(m * n));
  Gemm gemm{.m = m, .n = n, .k = k, .a = nullptr, .b = nullptr, .c = c.data};
  gemm.a_fp32 = a_on_device.data;
  gemm.b_fp32 = b_on_device.data;
  const OnDevice<unsigned char> workspace(
      std::vector<unsigned char>(rung_08::workspace_bytes<precision>(gemm)));
  gemm.workspace = workspace.data;
  succeed(rung_08::quantise<precision>(gemm, nullptr));

  // A was quantised from zeros, and is overwritten with the norm's y.
  const rung_08::Workspace w(precision, gemm);
  FusedNorm norm = {.rows = m,
                    .cols = k,
                    .x = x_on_device.data,
                    .residual = residual_on_device.data,
                    .gamma = gamma_on_device.data,
                    .h = h.data,
                    .y = nullptr,
                    .eps = 1e-5f};
  norm.y_elements = w.a_elements;
  norm.y_scales = reinterpret_cast<unsigned char*>(w.a_scales);
  succeed(rung_08::fused_norm_fp8_block(norm, nullptr));
  succeed(rung_08::gemm_fp8_block(gemm, nullptr));
  succeed(cudaDeviceSynchronize());

  // y is the norm's.
  const auto elements = on_host(w.a_elements, w.a.element_bytes());
  const auto scales = on_host(w.a_scales, w.scales_a.count());
  const NormReference of_norm(norm_shape(m, k), x, residual, gamma);
  const Verdict stored =
      check_quantised("y", precision, m, k, std::as_bytes(std::span(elements)),
                      std::as_bytes(std::span(scales)), [&](std::uint64_t i) { return of_norm.y(i); });
  EXPECT_TRUE(stored.passed()) << stored.wrong << " wrong: " << stored.first_wrong;

  // And it is what the tensor cores multiplied. Their sums of a block keep 13 bits: the bound is that of the
  // worst case, so the error is judged as a whole, too. A wrong scale is wrong by a factor of two or more.
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
  EXPECT_LT(errors, 0.003 * 0.003 * squares);  // a bf16 has 8 bits: 0.0016, and what 13 bits of sums add
}

// The tensor core's sums have 14 bits: a one that is added to 2^14 is lost. Promoted, they are fp32's.
TEST(Fp8, OnesAddUpToSixteenThousandUnlessPromoted) {
  simulator::settings().device = "h200";
  constexpr int m = 8, n = 8, k = 32768;
  const OnDevice<float> a(std::vector<float>(m * k, 1)), b(std::vector<float>(k * n, 1));
  const OnDevice<__nv_bfloat16> c(HostMatrix(m * n));
  Gemm gemm{.m = m, .n = n, .k = k, .a = nullptr, .b = nullptr, .c = c.data};
  gemm.a_fp32 = a.data;
  gemm.b_fp32 = b.data;
  const OnDevice<unsigned char> workspace(
      std::vector<unsigned char>(rung_08::workspace_bytes<Precision::fp8>(gemm)));
  gemm.workspace = workspace.data;
  succeed(rung_08::quantise<Precision::fp8>(gemm, nullptr));
  for (const auto& [launch, sum] :
       {std::pair(&rung_08::gemm_fp8_128x256, 16384.0f), std::pair(&rung_08::gemm_fp8_promoted, 32768.0f)}) {
    succeed(launch(gemm, nullptr));
    succeed(cudaDeviceSynchronize());
    for (const __nv_bfloat16 element : on_host(c.data, m * n)) EXPECT_EQ(__bfloat162float(element), sum);
  }
}

}  // namespace
}  // namespace ladder
