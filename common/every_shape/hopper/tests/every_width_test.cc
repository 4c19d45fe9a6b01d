// Rows of every kind, launched again and again with one workspace, which is cleared once: a launch takes
// neither tickets nor sums of those before it for its own, and leaves tickets for the next.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "common/extension.h"
#include "common/harness/tests/device_operands.h"

namespace ladder {
namespace {

constexpr std::uint16_t one = 0x3F80, unwritten = 0xFFFF;

// Rows of one number have gamma as their y, whichever number it is. With the sum of another launch, whose
// number was another, they do not.
void launch_again(int rows, int cols) {
  const std::size_t area = std::size_t(rows) * cols;
  const Bits of_gamma = numbers(cols, 1);
  Bits expected;
  for (int row = 0; row < rows; ++row) expected.insert(expected.end(), of_gamma.begin(), of_gamma.end());
  const OnDevice residual(Bits(area, 0)), gamma(of_gamma);
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
    EXPECT_TRUE(y.read(area) == expected) << "y of " << rows << "x" << cols;
  }
}

// The widest and the narrowest of each kernel, that start anywhere or in the middle of a line.
TEST(EveryWidth, RowsAtTheBoundariesOfTheChoice) {
  for (const int cols : {1,     7,     255,   257,   280,    281,    536,    537,    8191,   8193,  8200,
                         24513, 24514, 67521, 67522, 131080, 147393, 147394, 196545, 196546, 262081})
    launch_again(5, cols);
}
TEST(EveryWidth, AlignedRowsAtTheBoundariesOfTheChoice) {
  for (const int cols : {8,     16,    24,    128,   136,   256,   264,   320,    328,    1024,
                         1032,  2048,  2056,  3840,  3848,  4096,  4104,  8192,   8256,   16384,
                         16448, 18432, 18496, 32768, 32832, 67584, 67648, 147456, 147520, 262144})
    launch_again(3, cols);
}
// Enough rows that some are prefetched, by each kernel that does it, up to the last row.
TEST(EveryWidth, RowsThatArePrefetched) {
  constexpr int elements = (2 << 20) + (1 << 16);  // a little more than elements_ahead
  for (const int cols :
       {7, 250, 1024, 8191, 8192, 24513, 65473, 65536, 131073, 131072, 180001, 200001, 233016})
    launch_again(elements / cols + 2, cols);
}
TEST(EveryWidth, AlignedRowsAgain) {
  launch_again(3, 262152);
}
TEST(EveryWidth, RowsOfAnyStartAgain) {
  launch_again(4, 270401);
}

}  // namespace
}  // namespace ladder
