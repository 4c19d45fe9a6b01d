// Long rows are launched again and again with the same workspace, which is cleared once: a launch takes
// neither tickets nor sums of those before it for its own, and leaves tickets for the next.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/extension.h"

namespace ladder {
namespace {

using Bits = std::vector<std::uint16_t>;  // of bf16
constexpr std::uint16_t one = 0x3F80, unwritten = 0xFFFF;

struct OnDevice {
  explicit OnDevice(std::size_t bytes) { EXPECT_EQ(cudaMalloc(&data, bytes), cudaSuccess); }
  ~OnDevice() { cudaFree(data); }
  OnDevice(const OnDevice&) = delete;
  __nv_bfloat16* bf16() const { return static_cast<__nv_bfloat16*>(data); }
  void write(const Bits& bits) const {
    EXPECT_EQ(cudaMemcpy(data, bits.data(), bits.size() * 2, cudaMemcpyHostToDevice), cudaSuccess);
  }
  Bits read(std::size_t count) const {
    Bits bits(count);
    EXPECT_EQ(cudaMemcpy(bits.data(), data, count * 2, cudaMemcpyDeviceToHost), cudaSuccess);
    return bits;
  }
  void* data = nullptr;
};

// Rows of one number have a y of ones. With the sum of another launch, whose number was another, they have
// not.
void launch_again(int rows, int cols) {
  const std::size_t area = std::size_t(rows) * cols;
  const OnDevice x(area * 2), residual(area * 2), gamma(std::size_t(cols) * 2), h(area * 2), y(area * 2);
  residual.write(Bits(area, 0));
  gamma.write(Bits(cols, one));
  FusedNorm p{rows, cols, x.bf16(), residual.bf16(), gamma.bf16(), h.bf16(), y.bf16(), 1e-5f};
  const Variants<FusedNorm>& all = rung().fused_norm;
  const Variant<FusedNorm>& variant = *std::find_if(
      all.begin(), all.end(), [](const auto& v) { return std::string_view(v.name) == "every_width"; });
  const OnDevice workspace(variant.extension->workspace_bytes(p));
  p.workspace = workspace.data;
  ASSERT_EQ(variant.extension->prepare(p, nullptr), cudaSuccess);
  for (const std::uint16_t number :
       {one, std::uint16_t(one + 0x80), std::uint16_t(one + 0x100)}) {  // 1, 2, 4
    x.write(Bits(area, number));
    h.write(Bits(area, unwritten));
    y.write(Bits(area, unwritten));
    ASSERT_EQ(variant.launch(p, nullptr), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_TRUE(h.read(area) == Bits(area, number)) << "h of " << rows << "x" << cols;
    EXPECT_TRUE(y.read(area) == Bits(area, one)) << "y of " << rows << "x" << cols;
  }
}

TEST(EveryWidth, AlignedRowsAgain) {
  launch_again(3, 262152);
}
TEST(EveryWidth, RowsOfAnyStartAgain) {
  launch_again(4, 270401);
}

}  // namespace
}  // namespace ladder
