// Transposed kernels for two or three warpgroups, which multiply the same tile.
#include "08_warp_specialized/shapes/swapped/entries.cuh"

namespace ladder::rung_08::swapped {

constexpr Entry entries[] = {entry<Design{.rows = 8, .per_sm = 2, .split = true}>,
                             entry<Design{.rows = 200}>,
                             entry<Design{.rows = 232}>,
                             entry<Design{.rows = 80, .blocks = 2}>,
                             entry<Design{.rows = 88, .blocks = 2}>,
                             entry<Design{.rows = 112, .blocks = 2}>,
                             entry<Design{.rows = 128, .blocks = 2}>,
                             entry<Design{.rows = 64, .blocks = 3}>,
                             entry<Design{.rows = 96, .consumers = 3}>,
                             entry<Design{.rows = 144, .consumers = 3}>,
                             entry<Design{.rows = 160, .consumers = 3}>,
                             entry<Design{.rows = 176, .consumers = 3}>};

std::span<const Entry> of_several_consumers() {
  return entries;
}

}  // namespace ladder::rung_08::swapped
