// In which order CTAs take the tiles of C: CTA rasterisation, or threadblock swizzling, as CUTLASS calls it.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

namespace ladder {

// Division of 0 <= n < 2^31 by a number that the host knows, 1 <= by < 2^31: a multiplication by 2^shift /
// by, rounded up, which adds less than 1 / by to the quotient. (Granlund, Montgomery, "Division by Invariant
// Integers using Multiplication", 1994)
struct Divisor {
  int shift = 31;
  unsigned factor;

  explicit Divisor(int by) {
    while (1ll << (shift - 31) < by) ++shift;
    factor = unsigned(((1ull << shift) + by - 1) / by);
  }
  __host__ __device__ int divide(int n) const { return int(std::uint64_t(unsigned(n)) * factor >> shift); }
};

// Down `group` rows of tiles, then on to the next column. CTAs that run at the same time so share both rows
// of A and columns of B in L2.
template <int group>
struct TileOrder {
  int tiles_m, tiles, tiles_per_group;    // of a whole group
  Divisor per_group, per_column_of_last;  // the last group's columns are shorter, if it is not whole

  TileOrder(int rows, int columns)
      : tiles_m(rows),
        tiles(rows * columns),
        tiles_per_group(group * columns),
        per_group(tiles_per_group),
        per_column_of_last(std::max(rows % group, 1)) {}

  // Row and column of the tile, 0 <= index < tiles.
  __host__ __device__ int2 tile(int index) const {
    const int groups = per_group.divide(index), first_row = groups * group;
    const int in_group = index - groups * tiles_per_group, rows_left = tiles_m - first_row;
    const int rows = rows_left < group ? rows_left : group;
    const int column = rows == group ? in_group / group : per_column_of_last.divide(in_group);
    return make_int2(first_row + in_group - column * rows, column);
  }
};

}  // namespace ladder
