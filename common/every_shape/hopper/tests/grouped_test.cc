// The walk over groups' tiles: every tile once, whatever the offsets are, and nothing of one group in
// another.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "common/extension.h"
#include "common/harness/backend/counters.h"
#include "common/harness/backend/device.h"

namespace ladder {
namespace {

template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& host) {
    EXPECT_EQ(cudaMalloc(&data_, host.size() * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  T* get() const { return static_cast<T*>(data_); }

 private:
  void* data_ = nullptr;
};

struct Tile {
  const char* variant;
  int cols, rows;  // of a tile, or of a cluster's
};
void PrintTo(const Tile& tile, std::ostream* out) {
  *out << tile.variant;
}

class Groups : public testing::TestWithParam<Tile> {
 protected:
  // A is all ones and the g-th B all g + 1, so C is k · (g + 1), rounded once. B of a group without rows is
  // infinite: times the zeros past the end of A's rows it would be NaN.
  static void run(const std::vector<int>& rows, int n, int k) {
    const int groups = int(rows.size());
    std::vector<int> offsets(1, 0);
    std::vector<float> expected;
    std::vector<__nv_bfloat16> b;
    std::uint64_t tiles_m = 0;
    for (int g = 0; g < groups; ++g) {
      offsets.push_back(offsets.back() + rows[g]);
      expected.insert(expected.end(), std::size_t(rows[g]) * n,
                      __bfloat162float(__float2bfloat16_rn(float(k * (g + 1)))));
      const float weight = rows[g] > 0 ? float(g + 1) : std::numeric_limits<float>::infinity();
      b.insert(b.end(), std::size_t(k) * n, __float2bfloat16_rn(weight));
      tiles_m += ceil_div(rows[g], GetParam().rows);
    }
    const int m = offsets.back();
    const OnDevice<__nv_bfloat16> on_a(std::vector(std::size_t(m) * k, __float2bfloat16_rn(1))), on_b(b),
        on_c(std::vector(std::size_t(m) * n, __float2bfloat16_rn(-1)));
    const OnDevice<int> on_offsets(offsets);
    const GroupedGemm p{groups, m, n, k, on_a.get(), on_b.get(), on_c.get(), on_offsets.get()};
    const auto launch = [&] {
      for (const Variant<GroupedGemm>& variant : rung().grouped_gemm) {
        if (std::string_view(variant.name) != GetParam().variant) continue;
        EXPECT_EQ(variant.launch(p, nullptr), cudaSuccess);
      }
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    };
    if (device_kind() == DeviceKind::simulator) {
      const std::uint64_t tiles = tiles_m * ceil_div(n, GetParam().cols);
      EXPECT_EQ(count(launch, false).tensor_macs,
                tiles * GetParam().rows * GetParam().cols * ceil_div(k, 64) * 64);
    } else {
      launch();
    }
    std::vector<__nv_bfloat16> c(expected.size());
    EXPECT_EQ(cudaMemcpy(c.data(), on_c.get(), c.size() * sizeof c[0], cudaMemcpyDeviceToHost), cudaSuccess);
    int wrong = 0;
    for (std::size_t i = 0; i < c.size(); ++i) wrong += __bfloat162float(c[i]) != expected[i];
    EXPECT_EQ(wrong, 0);
  }
};
INSTANTIATE_TEST_SUITE_P(Tiles, Groups,
                         testing::Values(Tile{"grouped_128x64", 128, 64}, Tile{"grouped_256x152", 512, 152}));

TEST_P(Groups, WithAndWithoutRows) {
  run({3, 0, 0, 70, 1, 0, 16, 64, 152, 153, 0}, 72, 8);
}
TEST_P(Groups, TheOnlyRowsAreTheLastOnes) {
  std::vector<int> rows(71, 0);
  rows.back() = 5;
  run(rows, 136, 24);
}
TEST_P(Groups, MoreThanTheLanesOfAWarp) {
  std::vector<int> rows;
  for (int g = 0; g < 80; ++g) rows.push_back(g * 7 % 5 * (g % 33 == 31 ? 9 : 1));
  run(rows, 200, 72);
}

}  // namespace
}  // namespace ladder
