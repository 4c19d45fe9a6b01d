// Transposed kernels of 64 columns, for one warpgroup: few rows, or few tiles.
#include "08_warp_specialized/shapes/swapped/entries.cuh"

namespace ladder::rung_08::swapped {

constexpr auto all = together(entries<Design{.consumers = 1, .per_sm = 3, .split = true}, 8, 16, 32>,
                              entries<Design{.consumers = 1, .split = true}, 8>,
                              entries<Design{.consumers = 1, .per_sm = 2}, 8, 16>,
                              entries<Design{.consumers = 1}, 32, 48, 56, 72, 80, 88, 96, 104, 136>);

std::span<const Entry> of_one_consumer() {
  return all;
}

}  // namespace ladder::rung_08::swapped
