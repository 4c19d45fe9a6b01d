// One kernel serves every cluster: who loads which part of a stage, who waits for whom, and where a CTA's
// tile lies are worked out when it is launched. In each cluster it must store what it stores alone.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "08_warp_specialized/shapes/choice.h"
#include "common/extension.h"

namespace ladder::rung_08 {
namespace {

using Bits = std::vector<std::uint16_t>;  // of bf16

Bits numbers(std::size_t count, std::uint32_t seed) {  // from -2 to 2
  Bits bits(count);
  for (std::uint16_t& each : bits) {
    seed = seed * 1664525 + 1013904223;
    each = std::uint16_t((seed >> 31 << 15) | 0x3F00 | (seed >> 16 & 0xFF));
  }
  return bits;
}

class OnDevice {
 public:
  explicit OnDevice(std::size_t bytes) { EXPECT_EQ(cudaMalloc(&data_, bytes), cudaSuccess); }
  explicit OnDevice(const Bits& host) : OnDevice(host.size() * sizeof host[0]) {
    EXPECT_EQ(cudaMemcpy(data_, host.data(), host.size() * sizeof host[0], cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  __nv_bfloat16* get() const { return static_cast<__nv_bfloat16*>(data_); }

 private:
  void* data_ = nullptr;
};

const Choice& kernel(const std::string& name) {
  for (const Choice& c : all_choices())
    if (c.name == name) return c;
  throw std::out_of_range(name);
}

Bits product(const Choice& choice, const Launch& how, int m, int n, int k) {
  const OnDevice a(numbers(std::size_t(m) * k, 1)), b(numbers(std::size_t(k) * n, 2)),
      c(Bits(std::size_t(m) * n, 0xFFFF)), workspace(std::size_t{64} << 20);
  TypedOperands typed{};
  typed.workspace = workspace.get();
  const Gemm p{.m = m, .n = n, .k = k, .a = a.get(), .b = b.get(), .c = c.get(), .typed = &typed};
  EXPECT_LE(workspace_of_parts(p), std::size_t{64} << 20);
  EXPECT_EQ(prepare_parts(p, nullptr), cudaSuccess);
  EXPECT_EQ(choice.launch(p, how, nullptr, false), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  Bits result(std::size_t(m) * n);
  EXPECT_EQ(cudaMemcpy(result.data(), c.get(), result.size() * sizeof result[0], cudaMemcpyDeviceToHost),
            cudaSuccess);
  return result;
}

class InClusters : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kernels, InClusters,
                         testing::Values("swapped_64x16_x2", "swapped_64x48", "swapped_64x104_pp",
                                         "swapped_128x88_pp", "swapped_192x88_pp", "swapped_192x144",
                                         "swapped_64x64_mem", "narrow_96x64", "narrow_224x128"),
                         [](const auto& of) { return std::string(of.param); });

// A last tile, row and column of each cluster that C has a part of, or nothing.
TEST_P(InClusters, SameAsAlone) {
  const Choice& choice = kernel(GetParam());
  const int parts = choice.kind == Kind::in_memory ? 2 : 1, k = parts == 2 ? 520 : 136;
  const int m = 4 * choice.rows + 24;
  for (const int n :
       {3 * choice.cols + 8, (3 * choice.cols + 63) / 64 * 64}) {  // TMA stores C, or threads do
    const Bits alone = product(choice, {.cluster = {}, .parts = parts}, m, n, k);
    for (const Cluster& cluster : choice.clusters)
      EXPECT_EQ(product(choice, {cluster, parts}, m, n, k), alone)
          << cluster.n << "x" << cluster.m << ", n " << n;
  }
}

// More tiles than CTAs: the ring buffer, its phases and the turns go on from tile to tile.
TEST_P(InClusters, SeveralTilesForACta) {
  const Choice& choice = kernel(GetParam());
  if (choice.kind == Kind::in_memory) return;  // a CTA has one
  const int m = 3 * choice.rows + 8, n = 40 * choice.cols + 8, k = 72;
  const Bits alone = product(choice, {}, m, n, k);
  for (const Cluster& cluster : choice.clusters)
    EXPECT_EQ(product(choice, {cluster}, m, n, k), alone) << cluster.n << "x" << cluster.m;
}

}  // namespace
}  // namespace ladder::rung_08
