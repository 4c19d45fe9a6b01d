// Weights of 8 bits at the ends of their range: every code, what is not a number, and columns without a
// scale. What they do in between the harness verifies.
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/extension.h"
#include "common/harness/verify/precision.h"

namespace ladder {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr int n = 16, k = 256;

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

const Variant<Gemm>& named(const std::string& name) {
  for (const Variant<Gemm>& v : rung().gemm)
    if (v.name == name) return v;
  throw std::invalid_argument("no variant " + name);
}

// The first m rows of C = identity · B: of B what the kernel multiplies.
std::vector<float> weights(const std::string& name, int m, const std::vector<float>& b) {
  const Variant<Gemm>& variant = named(name);
  const Extension<Gemm>& extension = extension_of(variant);
  std::vector<float> identity(m * k);
  for (int i = 0; i < m; ++i) identity[i * k + i] = 1;
  std::vector<__nv_bfloat16> c(m * n);
  TypedOperands typed{on_device(identity), on_device(b), on_device(c), nullptr};
  const Gemm p{m, n, k, nullptr, nullptr, static_cast<__nv_bfloat16*>(typed.c), &typed};
  typed.workspace = on_device(std::vector<unsigned char>(extension.workspace_bytes(p)));
  succeed(extension.prepare(p, nullptr));
  succeed(variant.launch(p, nullptr));
  succeed(cudaMemcpy(c.data(), typed.c, c.size() * sizeof c[0], cudaMemcpyDeviceToHost));
  for (const void* q : {static_cast<const void*>(typed.a), static_cast<const void*>(typed.b),
                        static_cast<const void*>(typed.c), static_cast<const void*>(typed.workspace)})
    cudaFree(const_cast<void*>(q));
  std::vector<float> wide;
  for (const __nv_bfloat16 x : c) wide.push_back(__bfloat162float(x));
  return wide;
}

// Every code is in every column, the largest, too: so the scale is 1. By both tiles.
TEST(Mixed, EveryCodeIsConverted) {
  std::vector<float> s8(k * n), e4m3(k * n);
  for (int i = 0; i < k * n; ++i) {
    const int code = (i / n + 37 * (i % n)) % k;
    s8[i] = float(code == 0 ? 0 : code - 128);
    const float x = decoded_element(Precision::fp8, static_cast<unsigned char>(code));
    e4m3[i] = std::isnan(x) ? 0 : x;
  }
  for (const int m : {64, k}) {
    const std::vector<float> of_s8 = weights("bf16_s8", m, s8), of_e4m3 = weights("bf16_e4m3", m, e4m3);
    for (int i = 0; i < m * n; ++i) {
      ASSERT_EQ(of_s8[i], s8[i]) << m << ": " << i;
      ASSERT_EQ(of_e4m3[i], e4m3[i]) << m << ": " << i;
    }
  }
}

// As the harness defines it: of s8 a NaN is 0, an infinity makes the scale infinite, and e4m3 has a NaN.
TEST(Mixed, WhatIsNoNumber) {
  std::vector<float> b(k * n, 0.5f);
  b[20 * n + 3] = nan;
  b[21 * n + 4] = infinity;
  for (int i = 0; i < k; ++i) b[i * n + 5] = 0;
  const std::vector<float> s8 = weights("bf16_s8", k, b), e4m3 = weights("bf16_e4m3", k, b);
  for (int i = 0; i < k; ++i) {
    EXPECT_EQ(s8[i * n + 3], i == 20 ? 0 : 0.5f);
    EXPECT_TRUE(std::isnan(e4m3[i * n + 3])) << "0 · NaN, too";
    EXPECT_TRUE(std::isnan(s8[i * n + 4]));
    EXPECT_TRUE(std::isnan(e4m3[i * n + 4]));
    for (const std::vector<float>& c : {s8, e4m3}) {
      EXPECT_EQ(c[i * n + 5], 0);
      EXPECT_EQ(c[i * n + 6], 0.5f);
    }
  }
}

}  // namespace
}  // namespace ladder
