// The estimate's choice, and the order in which split-K adds.
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "common/every_shape/blackwell/estimate.h"
#include "common/every_shape/blackwell/launches.h"

namespace ladder::every_shape {
namespace {

Gemm gemm_of(int m, int n, int k) {
  return {.m = m, .n = n, .k = k, .a = nullptr, .b = nullptr, .c = nullptr};
}

TEST(Estimate, FewRowsNeverTakeATallTile) {
  for (int m : {1, 8, 33, 64})
    for (int n : {8, 512, 4096, 16384})
      for (int k : {8, 512, 4096, 16384}) {
        const Estimate choice = shortest(gemm_of(m, n, k), B200::sms);
        EXPECT_LE(tiles[choice.tile].rows, m <= 32 ? 64 : 128) << m << "x" << n << "x" << k;
      }
}

TEST(Estimate, LargeProblemsTakeTheRungsTile) {
  for (int size : {2048, 3072, 4096, 8192, 16384})
    EXPECT_EQ(std::string_view(tiles[shortest(gemm_of(size, size, size), B200::sms).tile].name), "256x256");
}

// 1024³ by hand: 32 tiles of 256x128 are 64 CTAs, in one wave; a k-tile is 256 cycles of MMAs, and 16384 +
// 8192 bytes, which take 384; 16 of them. Both units are busy, so a k-tile takes a little longer.
TEST(Estimate, IsWhatThePageComputes) {
  const Estimate pair = estimate(gemm_of(1024, 1024, 1024), 1, B200::sms);
  EXPECT_EQ(pair.at.ctas, 64);
  EXPECT_EQ(pair.at.waves, 1);
  const auto both = [](double x, double y) { return std::sqrt(std::sqrt(x * x * x * x + y * y * y * y)); };
  EXPECT_NEAR(pair.cycles, 16 * both(256, 384) + 2500, 1e-6);
  // 64 tiles of 128x128, each by two CTAs.
  const Estimate split = estimate(gemm_of(1024, 1024, 1024), 2, B200::sms);
  EXPECT_EQ(split.parts, 2);
  EXPECT_NEAR(split.cycles, 8 * both(256, 512) + 2500 + 800, 1e-6);
}

TEST(Estimate, EveryPartHasAKTile) {
  for (int k : {8, 64, 72, 136, 200, 448})
    for (int tile = 0; tile < int(std::size(tiles)); ++tile)
      EXPECT_LE(estimate(gemm_of(32, 128, k), tile, B200::sms).parts, ceil_div(k, 64));
}

class OnDevice {
 public:
  explicit OnDevice(const std::vector<__nv_bfloat16>& host) {
    const std::size_t bytes = host.size() * sizeof host[0];
    EXPECT_EQ(cudaMalloc(&data_, bytes), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data_, host.data(), bytes, cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  __nv_bfloat16* get() const { return static_cast<__nv_bfloat16*>(data_); }

 private:
  void* data_ = nullptr;
};

// Four parts of k: 2^24, 1, -2^24 and 3. Added in fp32 in this order they make 3: the 1 is lost. (Unless the
// first two alone change places, any other order gives another number.)
void expect_order(int rows) {
  const int m = 130, n = 136, parts = 4, k = parts * 64;
  std::vector<__nv_bfloat16> a(m * k), b(k * n), c(m * n);
  for (int row = 0; row < m; ++row)
    for (int i = 0; i < k; ++i)
      a[row * k + i] = __float2bfloat16(i % 64 != 5 ? 0.f
                                        : i == 5    ? 4096.f
                                        : i == 133  ? -4096.f
                                        : i == 197  ? 3.f
                                                    : 1.f);
  for (int i = 0; i < k; ++i)
    for (int col = 0; col < n; ++col) b[i * n + col] = __float2bfloat16(i == 5 || i == 133 ? 4096.f : 1.f);
  const OnDevice on_a(a), on_b(b), on_c(c);
  Gemm p = gemm_of(m, n, k);
  p.a = on_a.get(), p.b = on_b.get(), p.c = on_c.get();
  ASSERT_EQ(launch_transposed(p, rows, parts, nullptr, false), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(c.data(), p.c, c.size() * sizeof c[0], cudaMemcpyDeviceToHost), cudaSuccess);
  for (const __nv_bfloat16 each : c) ASSERT_EQ(__bfloat162float(each), 3.f);
}

TEST(SplitK, AddsInTheOrderOfK) {
  expect_order(32);
  expect_order(64);
  expect_order(128);
}

}  // namespace
}  // namespace ladder::every_shape
