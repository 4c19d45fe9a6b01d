// The tile 128x256 stands twice in this rung: as the plain kernel of gemm.cu, and as one of the general
// kernel's designs, which fp8/ and norm_gemm/ build on. Both do the same.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include "common/harness/backend/counters.h"
#include "common/harness/backend/device.h"
#include "common/rung.h"

namespace ladder {
namespace rung_08 {
cudaError_t launch_general_128x256(const Gemm& p, cudaStream_t stream);  // shapes.cu
}

namespace {

using Bits = std::vector<std::uint16_t>;  // of bf16

class OnDevice {
 public:
  explicit OnDevice(const Bits& host) {
    EXPECT_EQ(cudaMalloc(&data_, host.size() * sizeof host[0]), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data_, host.data(), host.size() * sizeof host[0], cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  __nv_bfloat16* get() const { return static_cast<__nv_bfloat16*>(data_); }

 private:
  void* data_ = nullptr;
};

// From -2 to 2, with all bits of the fraction.
Bits numbers(std::size_t count, std::uint32_t seed) {
  Bits bits(count);
  for (std::uint16_t& each : bits) {
    seed = seed * 1664525 + 1013904223;
    each = std::uint16_t((seed >> 31 << 15) | 0x3F00 | (seed >> 16 & 0xFF));
  }
  return bits;
}

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
  Done done{.c = Bits(std::size_t(m) * n), .counters = {}};
  if (device_kind() == DeviceKind::simulator) {
    done.counters = count(launched, false);
  } else {
    launched();
  }
  EXPECT_EQ(cudaMemcpy(done.c.data(), c.get(), done.c.size() * sizeof done.c[0], cudaMemcpyDeviceToHost),
            cudaSuccess);
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
