// The tile 128x256 stands twice in this rung: as the plain kernel of gemm.cu, and as one of the general
// kernel's designs, which fp8/ and norm_gemm/ build on. Both do the same.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "common/harness/backend/counters.h"
#include "common/harness/backend/device.h"
#include "common/harness/tests/device_operands.h"
#include "common/rung.h"

namespace ladder {
namespace rung_08 {
cudaError_t launch_general_128x256(const Gemm& p, cudaStream_t stream);  // ablations/general.cu
}

namespace {

using rung_08::Bits, rung_08::numbers, rung_08::OnDevice;

struct Done {
  Bits c;
  Counters counters;  // on the simulator
};

Done run(cudaError_t (*launch)(const Gemm&, cudaStream_t), int m, int n, int k) {
  const OnDevice a(numbers(std::size_t(m) * k, 1)), b(numbers(std::size_t(k) * n, 2)),
      c(Bits(std::size_t(m) * n, 0xFFFF));
  auto launched = [&] {
    EXPECT_EQ(launch({.m = m, .n = n, .k = k, .a = a.get(), .b = b.get(), .c = c.get()}, nullptr),
              cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  };
  Done done;
  if (device_kind() == DeviceKind::simulator) {
    done.counters = count(launched, false);
  } else {
    launched();
  }
  done.c = c.read(std::size_t(m) * n);
  return done;
}

cudaError_t launch_plain(const Gemm& p, cudaStream_t stream) {
  for (const Variant<Gemm>& variant : rung().gemm)
    if (std::string_view(variant.name) == "128x256") return variant.launch(p, stream);
  return cudaErrorInvalidValue;
}

void expect_same(const AccessCounts& plain, const AccessCounts& general, const char* what) {
  EXPECT_EQ(plain.requests, general.requests) << what;
  EXPECT_EQ(plain.sectors, general.sectors) << what;
  EXPECT_EQ(plain.bytes, general.bytes) << what;
  EXPECT_EQ(plain.wavefronts, general.wavefronts) << what;
  EXPECT_EQ(plain.ideal_wavefronts, general.ideal_wavefronts) << what;
}

// Ragged in every dimension; more tiles than CTAs in the last.
class SameTile : public testing::TestWithParam<std::vector<int>> {};
INSTANTIATE_TEST_SUITE_P(Shapes, SameTile,
                         testing::Values(std::vector{256, 256, 64}, std::vector{136, 264, 1032},
                                         std::vector{520, 8456, 72}));

TEST_P(SameTile, PlainAndGeneral) {
  const int m = GetParam()[0], n = GetParam()[1], k = GetParam()[2];
  const Done plain = run(launch_plain, m, n, k), general = run(rung_08::launch_general_128x256, m, n, k);
  EXPECT_EQ(plain.c, general.c);
  EXPECT_EQ(plain.counters.ctas, general.counters.ctas);
  EXPECT_EQ(plain.counters.warps, general.counters.warps);
  EXPECT_EQ(plain.counters.tensor_instructions, general.counters.tensor_instructions);
  EXPECT_EQ(plain.counters.tensor_macs, general.counters.tensor_macs);
  expect_same(plain.counters.bulk_copy, general.counters.bulk_copy, "bulk_copy");
  expect_same(plain.counters.wgmma, general.counters.wgmma, "wgmma");
  expect_same(plain.counters.stmatrix, general.counters.stmatrix, "stmatrix");
  expect_same(plain.counters.global_load, general.counters.global_load, "global_load");
  expect_same(plain.counters.global_store, general.counters.global_store, "global_store");
  // The plain kernel finds its tiles and its peer with less arithmetic.
  EXPECT_LE(plain.counters.instructions, general.counters.instructions);
}

}  // namespace
}  // namespace ladder
