// Long rows are launched again and again with the same workspace, which is cleared once: a launch takes
// neither tickets nor sums of those before it for its own, and leaves tickets for the next.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "08_warp_specialized/test_operands.h"
#include "common/extension.h"

namespace ladder {
namespace {

using rung_08::Bits, rung_08::OnDevice;
constexpr std::uint16_t one = 0x3F80, unwritten = 0xFFFF;

// Rows of one number have a y of ones. With the sum of another launch, whose number was another, they have
// not.
void launch_again(int rows, int cols) {
  const std::size_t area = std::size_t(rows) * cols;
  const OnDevice residual(Bits(area, 0)), gamma(Bits(cols, one));
  FusedNorm p{rows, cols, nullptr, residual.get(), gamma.get(), nullptr, nullptr, 1e-5f};
  const Variants<FusedNorm>& all = rung().fused_norm;
  const Variant<FusedNorm>& variant = *std::find_if(
      all.begin(), all.end(), [](const auto& v) { return std::string_view(v.name) == "every_width"; });
  const OnDevice workspace(variant.extension->workspace_bytes(p));
  p.workspace = workspace.get();
  ASSERT_EQ(variant.extension->prepare(p, nullptr), cudaSuccess);
  for (const std::uint16_t number :
       {one, std::uint16_t(one + 0x80), std::uint16_t(one + 0x100)}) {  // 1, 2, 4
    const OnDevice x(Bits(area, number)), h(Bits(area, unwritten)), y(Bits(area, unwritten));
    p.x = x.get(), p.h = h.get(), p.y = y.get();
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
