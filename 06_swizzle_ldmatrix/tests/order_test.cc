// The order of tiles, and the divisions it is found by: every tile once, down the rows of its group.
#include <gtest/gtest.h>

#include <climits>
#include <vector>

#include "common/tile_order.cuh"

namespace ladder::rung_06 {
namespace {

TEST(Divisor, IsExact) {
  for (const int by : {1, 2, 3, 5, 6, 7, 8, 9, 100, 641, 65535, 65536, 65537, (1 << 30) - 1, 1 << 30,
                       (1 << 30) + 1, INT_MAX - 1, INT_MAX}) {
    const Divisor divisor(by);
    for (const int quotient : {0, 1, 2, 3, 1000, INT_MAX / by - 1, INT_MAX / by})
      for (const long long off : {-1ll, 0ll, 1ll, by - 1ll}) {
        const long long n = 1ll * quotient * by + off;
        if (n < 0 || n > INT_MAX) continue;
        EXPECT_EQ(divisor.divide(int(n)), int(n / by)) << n << " / " << by;
      }
    EXPECT_EQ(divisor.divide(INT_MAX), INT_MAX / by);
  }
}

template <int group>
void expect_every_tile_once(int tiles_m, int tiles_n) {
  const TileOrder<group> order(tiles_m, tiles_n);
  ASSERT_EQ(order.tiles, tiles_m * tiles_n);
  std::vector<int> seen(order.tiles);
  int2 before = {0, 0};
  for (int index = 0; index < order.tiles; ++index) {
    const int2 tile = order.tile(index);
    ASSERT_TRUE(tile.x >= 0 && tile.x < tiles_m && tile.y >= 0 && tile.y < tiles_n)
        << index << " of " << tiles_m << "x" << tiles_n << " is " << tile.x << "," << tile.y;
    EXPECT_EQ(++seen[tile.x * tiles_n + tile.y], 1);
    if (index > 0) {  // down, or to the top of the next column of the group, or to the next group
      const int top = before.x / group * group;
      const bool down = tile.x == before.x + 1 && tile.y == before.y;
      const bool next_column = tile.x == top && tile.y == before.y + 1;
      const bool next_group = tile.x == top + group && tile.y == 0 && before.y == tiles_n - 1;
      EXPECT_TRUE(down || next_column || next_group) << index << " of " << tiles_m << "x" << tiles_n;
    }
    before = tile;
  }
}

TEST(TileOrder, IsEveryTileOnce) {
  for (int tiles_m = 1; tiles_m <= 26; ++tiles_m)
    for (const int tiles_n : {1, 2, 3, 7, 8, 16, 31}) {
      expect_every_tile_once<8>(tiles_m, tiles_n);
      expect_every_tile_once<1>(tiles_m, tiles_n);
    }
}

}  // namespace
}  // namespace ladder::rung_06
