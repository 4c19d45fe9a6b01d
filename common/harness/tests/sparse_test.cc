// For the rungs that take a sparse A of any k: what pruning, compression and the tensor core do with equal
// elements, NaN, infinity, and where k is not a multiple of four. The rest the harness verifies.
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/extension.h"
#include "common/harness/verify/precision.h"

namespace ladder {
namespace {

constexpr int m = 70, n = 16;  // ragged in m: two strips of metadata
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class T>
T* on_device(const std::vector<T>& host) {
  void* device = nullptr;
  EXPECT_EQ(cudaMalloc(&device, host.size() * sizeof(T)), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  return static_cast<T*>(device);
}

std::vector<Variant<Gemm>> sparse() {
  std::vector<Variant<Gemm>> found;
  for (const Variant<Gemm>& v : rung().gemm)
    if (extension_of(v).precision == Precision::bf16_sparse) found.push_back(v);
  return found;
}

std::vector<float> product(const Variant<Gemm>& variant, const std::vector<float>& a,
                           const std::vector<float>& b) {
  const Extension<Gemm>& extension = extension_of(variant);
  const int k = int(a.size()) / m;
  __nv_bfloat16* const c = on_device(std::vector<__nv_bfloat16>(m * n));
  TypedOperands typed{on_device(a), on_device(b), c, nullptr};
  const Gemm p{m, n, k, nullptr, nullptr, c, &typed};
  EXPECT_STREQ(variant.unsupported(p).c_str(), "");
  typed.workspace = on_device(std::vector<unsigned char>(extension.workspace_bytes(p), 0xFF));  // NaN
  EXPECT_EQ(extension.prepare(p, nullptr), cudaSuccess);
  EXPECT_EQ(variant.launch(p, nullptr), cudaSuccess);
  std::vector<__nv_bfloat16> host(m * n);
  EXPECT_EQ(cudaMemcpy(host.data(), c, host.size() * sizeof *c, cudaMemcpyDeviceToHost), cudaSuccess);
  for (const void* q : {static_cast<const void*>(typed.a), static_cast<const void*>(typed.b),
                        static_cast<const void*>(c), static_cast<const void*>(typed.workspace)})
    cudaFree(const_cast<void*>(q));
  return {host.begin(), host.end()};
}

// The two largest of four are kept, wherever they are in a row; of equal ones the first. k ends within a
// four, and within the 16 columns of a word's half. A column of B has powers of two for four elements of a
// row, so that C tells which of them were kept.
TEST(Sparse, TheTwoLargestOfFourStay) {
  for (const int k : {1, 2, 7, 64, 66, 203}) {
    std::vector<float> a(m * k);
    for (int i = 0; i < m * k; ++i) a[i] = float((i * 2654435761u >> 12) % 9) - 4;  // many are equal
    std::vector<float> pruned = a;
    round_matrix(Precision::bf16_sparse, Factor::a, pruned, m, k);
    for (int first = 0; first < k; first += 4 * n) {
      std::vector<float> b(k * n);
      for (int i = first; i < std::min(k, first + 4 * n); ++i) b[i * n + (i - first) / 4] = float(1 << i % 4);
      for (const Variant<Gemm>& variant : sparse()) {
        const std::vector<float> c = product(variant, a, b);
        for (int row = 0; row < m; ++row)
          for (int col = 0; col < n; ++col) {
            float right = 0;
            for (int i = 0; i < k; ++i) right += pruned[row * k + i] * b[i * n + col];
            ASSERT_EQ(c[row * n + col], right) << variant.name << ", k " << k << ": " << row << ", " << col;
          }
      }
    }
  }
}

// More NaN than two of four: no harm to the neighbours.
TEST(Sparse, NanStaysInItsRow) {
  constexpr int k = 64;
  std::vector<float> a(m * k), b(k * n, 1);
  for (int i = 0; i < 4; ++i) a[2 * k + 8 + i] = nan;
  a[2 * k + 12] = a[3 * k] = a[66 * k + 63] = 5;
  for (const Variant<Gemm>& variant : sparse()) {
    const std::vector<float> c = product(variant, a, b);
    for (int i = 0; i < m * n; ++i) {
      const int row = i / n;
      if (row == 2)
        EXPECT_TRUE(std::isnan(c[i])) << variant.name;
      else
        EXPECT_EQ(c[i], row == 3 || row == 66 ? 5 : 0) << variant.name << ", row " << row;
    }
  }
}

// What is not stored meets nothing: not even an infinity in its row of B, which would make 0 a NaN.
TEST(Sparse, InfinityMeetsNoPrunedElement) {
  constexpr int k = 64;
  std::vector<float> a(m * k), b(k * n, 1);
  for (int i = 0; i < m * k; ++i) a[i] = i % 4 < 2 ? 1 : 0.5f;
  for (int j = 0; j < n; ++j) b[6 * n + j] = std::numeric_limits<float>::infinity();
  for (const Variant<Gemm>& variant : sparse())
    for (const float x : product(variant, a, b)) EXPECT_EQ(x, k / 2) << variant.name;
}

}  // namespace
}  // namespace ladder
