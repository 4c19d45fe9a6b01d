// One kernel serves every cluster: which CTA loads which part of a stage, which CTAs it waits for, and where
// its tile lies are worked out at the launch. In each cluster it must store what it stores alone.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/every_shape/estimate/estimate.h"
#include "common/extension.h"
#include "common/harness/tests/device_operands.h"

namespace ladder::every_shape {
namespace {

const Candidate& kernel(std::string_view name) {
  for (const Candidate& c : all_candidates())
    if (c.name == name) return c;
  throw std::out_of_range(std::string(name));
}

Bits product(const Candidate& candidate, const Launch& how, int m, int n, int k) {
  const OnDevice a(numbers(std::size_t(m) * k, 1)), b(numbers(std::size_t(k) * n, 2)),
      c(Bits(std::size_t(m) * n, 0xFFFF)), workspace(std::size_t{64} << 20);
  TypedOperands typed{};
  typed.workspace = workspace.get();
  const Gemm p{.m = m, .n = n, .k = k, .a = a.get(), .b = b.get(), .c = c.get(), .typed = &typed};
  EXPECT_LE(workspace_of_parts(p), std::size_t{64} << 20);
  EXPECT_EQ(prepare_parts(p, nullptr), cudaSuccess);
  EXPECT_EQ(candidate.launch(p, how, nullptr, false), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  if (candidate.kind == Kind::in_memory) {
    // The flags are zero again. Otherwise the next launch would not wait, and with the same operands its
    // result would be right all the same.
    constexpr std::size_t flags = 256 * 16 * sizeof(unsigned) / sizeof(std::uint16_t);
    EXPECT_EQ(workspace.read(flags), Bits(flags, 0)) << candidate.name;
  }
  return c.read(std::size_t(m) * n);
}

class InClusters : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kernels, InClusters,
                         testing::Values("transposed_64x16_x2", "transposed_64x48",
                                         "transposed_64x112_ping_pong", "transposed_128x88_ping_pong",
                                         "transposed_192x80_ping_pong", "transposed_192x144",
                                         "transposed_192x224", "transposed_256x80", "transposed_64x64_mem",
                                         "transposed_192x96_mem", "transposed_256x64_mem", "narrow_192x64",
                                         "narrow_224x128"),
                         [](const auto& of) { return std::string(of.param); });

// A last tile, row and column of each cluster that C has a part of, or nothing.
TEST_P(InClusters, SameAsAlone) {
  const Candidate& candidate = kernel(GetParam());
  const int parts = candidate.kind == Kind::in_memory ? 3 : 1, k = parts > 1 ? 840 : 136;
  const int m = 4 * candidate.rows + 24;
  for (const int n :
       {3 * candidate.cols + 8, (3 * candidate.cols + 63) / 64 * 64}) {  // TMA stores C, or threads do
    const Bits alone = product(candidate, {.cluster = {}, .parts = parts}, m, n, k);
    for (const Cluster& cluster : candidate.clusters)
      EXPECT_EQ(product(candidate, {cluster, parts}, m, n, k), alone)
          << cluster.n << "x" << cluster.m << ", n " << n;
  }
}

// More tiles than CTAs: the ring buffer, its phases and the turns go on from tile to tile.
TEST_P(InClusters, SeveralTilesForACta) {
  const Candidate& candidate = kernel(GetParam());
  if (candidate.kind == Kind::in_memory) return;  // a CTA has one
  const int m = 3 * candidate.rows + 8, n = 40 * candidate.cols + 8, k = 72;
  const Bits alone = product(candidate, {}, m, n, k);
  for (const Cluster& cluster : candidate.clusters)
    EXPECT_EQ(product(candidate, {cluster}, m, n, k), alone) << cluster.n << "x" << cluster.m;
}

}  // namespace
}  // namespace ladder::every_shape
