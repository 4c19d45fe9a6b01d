// The norm and the gemm as a chain of layers has them: y, stored in a precision by one kernel, is the A of
// the next, and is not repacked in between. What the two compute alone, the harness verifies.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "09_tcgen05/block_scaled/workspace.h"
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
T* on_device(const std::vector<T>& host) {
  void* device = nullptr;
  EXPECT_EQ(cudaMalloc(&device, host.size() * sizeof(T)), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  return static_cast<T*>(device);
}

// Numbers of both signs and of several sizes.
HostMatrix numbers(int rows, int cols, int seed) {
  HostMatrix matrix(std::size_t(rows) * cols);
  for (std::size_t i = 0; i < matrix.size(); ++i)
    matrix[i] = __float2bfloat16_rn(float(int((i * 2654435761u + seed) >> 7 & 0xFF) - 128) / 64);
  return matrix;
}

std::vector<float> in_fp32(const HostMatrix& matrix) {
  std::vector<float> values;
  for (const __nv_bfloat16 x : matrix) values.push_back(__bfloat162float(x));
  return values;
}

template <class Problem>
const Variant<Problem>& named(const Variants<Problem>& variants, std::string_view name) {
  return *std::find_if(variants.begin(), variants.end(), [&](const auto& v) { return v.name == name; });
}

class Chain : public testing::TestWithParam<Precision> {};

TEST_P(Chain, NormThenGemm) {
  const Precision precision = GetParam();
  const bool nvfp4 = precision == Precision::nvfp4;
  constexpr int m = 150, n = 136, k = 416;  // ragged in every way but whole blocks

  const HostMatrix x = numbers(m, k, 1), residual = numbers(m, k, 2), gamma = numbers(1, k, 3),
                   b = numbers(k, n, 4);
  const Variant<Gemm>& product = named(rung().gemm, precision_name(precision));
  Gemm gemm{m, n, k, nullptr, nullptr, on_device(HostMatrix(m * n))};
  const std::size_t bytes = product.extension->workspace_bytes(gemm);
  const TypedOperands typed{on_device(in_fp32(x)), on_device(in_fp32(b)), gemm.c,
                            on_device(std::vector<unsigned char>(bytes))};
  gemm.typed = &typed;
  succeed(product.extension->prepare(gemm, nullptr));

  // A was quantised from x, and is overwritten with the norm's y.
  const rung_09::Workspace workspace(precision, gemm);
  const NormReference of_norm(norm_shape(m, k), x, residual, gamma);
  float scale_of_y = 1;
  if (nvfp4) {
    double largest = 0;
    for (int i = 0; i < m * k; ++i) largest = std::max(largest, std::abs(of_norm.y(i).exact));
    scale_of_y = matrix_scale_of(precision, float(largest));
    succeed(cudaMemcpy(workspace.a_matrix_scale, &scale_of_y, sizeof scale_of_y, cudaMemcpyHostToDevice));
  }
  const QuantisedRows y_rows{workspace.a_elements, workspace.a_scales, workspace.a_matrix_scale};
  const FusedNorm norm{.rows = m,
                       .cols = k,
                       .x = on_device(x),
                       .residual = on_device(residual),
                       .gamma = on_device(gamma),
                       .h = on_device(HostMatrix(m * k)),
                       .y = nullptr,
                       .eps = 1e-5f,
                       .quantised = &y_rows};
  succeed(named(rung().fused_norm, precision_name(precision)).launch(norm, nullptr));
  succeed(product.launch(gemm, nullptr));
  succeed(cudaDeviceSynchronize());

  // What the tensor cores must have multiplied is in the workspace, and verified with the norm.
  std::vector<unsigned char> elements(workspace.a.element_bytes()), scales(workspace.a.scale_bytes());
  succeed(cudaMemcpy(elements.data(), workspace.a_elements, elements.size(), cudaMemcpyDeviceToHost));
  succeed(cudaMemcpy(scales.data(), workspace.a_scales, scales.size(), cudaMemcpyDeviceToHost));
  std::vector<float> y(m * k), rounded_b = in_fp32(b);
  HostMatrix c(m * n);
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < k; ++col) {
      unsigned char byte = elements[row * workspace.a.pitch() + std::size_t(col) * workspace.a.bits / 8];
      if (nvfp4 && col % 2) byte >>= 4;
      y[row * k + col] =
          decoded_element(precision, byte) *
          (decoded_scale(precision, scales[workspace.a.scale_at(row, col / workspace.a.block)]) * scale_of_y);
    }
  }
  round_matrix(precision, Factor::b, rounded_b, k, n);
  const GemmReference reference(gemm_shape(m, n, k), precision, y, rounded_b, false);
  succeed(cudaMemcpy(c.data(), gemm.c, c.size() * sizeof c[0], cudaMemcpyDeviceToHost));
  Verdict verdict;
  for (std::size_t i = 0; i < c.size(); ++i)
    check_element("C", c[i], i, n, reference.expected(i, reference.exact(i), 1), verdict);
  EXPECT_TRUE(verdict.passed()) << verdict.wrong << " wrong: " << verdict.first_wrong;

  // And y is the norm's, not what A was before.
  const auto raw = [](const std::vector<unsigned char>& v) { return std::as_bytes(std::span(v)); };
  const Verdict stored = check_quantised(
      "y", precision, m, k, raw(elements), raw(scales), [&](std::uint64_t i) { return of_norm.y(i); },
      scale_of_y);
  EXPECT_TRUE(stored.passed()) << stored.wrong << " wrong: " << stored.first_wrong;

  for (const void* p : {static_cast<const void*>(typed.a), static_cast<const void*>(typed.b),
                        static_cast<const void*>(gemm.c), static_cast<const void*>(typed.workspace),
                        static_cast<const void*>(norm.x), static_cast<const void*>(norm.residual),
                        static_cast<const void*>(norm.gamma), static_cast<const void*>(norm.h)})
    cudaFree(const_cast<void*>(p));
}

INSTANTIATE_TEST_SUITE_P(Precisions, Chain, testing::Values(Precision::mxfp8, Precision::nvfp4),
                         [](const auto& chain) { return std::string(precision_name(chain.param)); });

}  // namespace
}  // namespace ladder
