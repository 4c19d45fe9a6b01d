// What the scale of each matrix is for: the error of a product beside that of the factors before they were
// rounded, where these are far from 1. That the kernels multiply what their precision defines, the harness
// verifies.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "common/extension.h"

namespace ladder {
namespace {

constexpr int m = 130, n = 72, k = 192;

template <class T>
T* on_device(const std::vector<T>& host) {
  void* device = nullptr;
  EXPECT_EQ(cudaMalloc(&device, host.size() * sizeof(T)), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  return static_cast<T*>(device);
}

// Numbers between -largest and largest.
std::vector<float> numbers(std::size_t count, float largest, unsigned seed) {
  std::vector<float> matrix(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto drawn = static_cast<std::uint32_t>(i * 2654435761u + seed) >> 7 & 0xFFFF;
    matrix[i] = largest * (float(drawn) / 0x8000 - 1);
  }
  return matrix;
}

// Of the variant's C: |C - AB| / |AB|.
double error(std::string_view variant, float largest_a, float largest_b) {
  const std::vector<float> a = numbers(m * k, largest_a, 1), b = numbers(k * n, largest_b, 2);
  const auto& all = rung().gemm;
  const Variant<Gemm>& product =
      *std::find_if(all.begin(), all.end(), [&](const auto& v) { return v.name == variant; });
  Gemm gemm{m, n, k, nullptr, nullptr, on_device(std::vector<__nv_bfloat16>(m * n))};
  const std::vector<unsigned char> workspace(product.extension->workspace_bytes(gemm), 0xFF);
  const TypedOperands typed{on_device(a), on_device(b), gemm.c, on_device(workspace)};
  gemm.typed = &typed;
  EXPECT_EQ(product.extension->prepare(gemm, nullptr), cudaSuccess);
  EXPECT_EQ(product.launch(gemm, nullptr), cudaSuccess);
  std::vector<__nv_bfloat16> c(m * n);
  EXPECT_EQ(cudaMemcpy(c.data(), gemm.c, c.size() * sizeof c[0], cudaMemcpyDeviceToHost), cudaSuccess);
  for (const void* p : {static_cast<const void*>(typed.a), static_cast<const void*>(typed.b),
                        static_cast<const void*>(gemm.c), static_cast<const void*>(typed.workspace)})
    cudaFree(const_cast<void*>(p));

  double squares = 0, of_difference = 0;
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      double exact = 0;
      for (int i = 0; i < k; ++i) exact += double(a[row * k + i]) * b[i * n + col];
      squares += exact * exact;
      of_difference += std::pow(__bfloat162float(c[row * n + col]) - exact, 2);
    }
  }
  return std::sqrt(of_difference / squares);
}

TEST(Nvfp4, ItsErrorDoesNotDependOnTheSizeOfTheNumbers) {
  const double usual = error("nvfp4", 5, 5);
  EXPECT_LT(usual, 0.2);
  for (const auto& [largest_a, largest_b] :
       {std::pair(1e-4f, 5.0f), {5.0f, 3e4f}, {1e-4f, 3e4f}, {3e4f, 3e4f}})
    EXPECT_NEAR(error("nvfp4", largest_a, largest_b), usual, 0.001) << largest_a << ", " << largest_b;
}

TEST(Nvfp4, WithoutTheScaleOfAMatrixSmallNumbersAreLostAndLargeOnesCutOff) {
  EXPECT_LT(error("nvfp4_blocks", 5, 5), 0.2);
  EXPECT_EQ(error("nvfp4_blocks", 1e-4f, 5), 1);  // C is 0
  EXPECT_GT(error("nvfp4_blocks", 5, 3e4f), 0.5);
}

TEST(Nvfp4, FactorsOfVeryDifferentSize) {
  EXPECT_NEAR(error("nvfp4", 1e-30f, 1e30f), error("nvfp4", 1, 1), 0.001);
}

}  // namespace
}  // namespace ladder
