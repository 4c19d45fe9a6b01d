// Transposed kernels of 64 columns, for one warpgroup: few rows, or few tiles.
#include "08_warp_specialized/shapes/swapped/entries.cuh"

namespace ladder::rung_08::swapped {

constexpr Entry entries[] = {entry<Design{.rows = 8, .consumers = 1, .per_sm = 3, .split = true}>,
                             entry<Design{.rows = 16, .consumers = 1, .per_sm = 3, .split = true}>,
                             entry<Design{.rows = 32, .consumers = 1, .per_sm = 3, .split = true}>,
                             entry<Design{.rows = 8, .consumers = 1, .split = true}>,
                             entry<Design{.rows = 8, .consumers = 1, .per_sm = 2}>,
                             entry<Design{.rows = 16, .consumers = 1, .per_sm = 2}>,
                             entry<Design{.rows = 32, .consumers = 1}>,
                             entry<Design{.rows = 48, .consumers = 1}>,
                             entry<Design{.rows = 56, .consumers = 1}>,
                             entry<Design{.rows = 72, .consumers = 1}>,
                             entry<Design{.rows = 80, .consumers = 1}>,
                             entry<Design{.rows = 88, .consumers = 1}>,
                             entry<Design{.rows = 96, .consumers = 1}>,
                             entry<Design{.rows = 104, .consumers = 1}>,
                             entry<Design{.rows = 128, .consumers = 1}>,
                             entry<Design{.rows = 136, .consumers = 1}>};

std::span<const Entry> of_one_consumer() {
  return entries;
}

}  // namespace ladder::rung_08::swapped
