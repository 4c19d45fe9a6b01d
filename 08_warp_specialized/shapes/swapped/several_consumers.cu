// Transposed kernels for two or three warpgroups, which multiply the same tile.
#include "08_warp_specialized/shapes/swapped/entries.cuh"

namespace ladder::rung_08::swapped {

constexpr Entry entries[] = {entry<Design{.rows = 8, .per_sm = 2, .split = true}>,
                             entry<Design{.rows = 32, .cluster_n = 4}>,
                             entry<Design{.rows = 64, .cluster_n = 4}>,
                             entry<Design{.rows = 80, .cluster_n = 4, .cluster_m = 2}>,
                             entry<Design{.rows = 88, .cluster_n = 4}>,
                             entry<Design{.rows = 104, .cluster_n = 4}>,
                             entry<Design{.rows = 112, .cluster_n = 4, .cluster_m = 2}>,
                             entry<Design{.rows = 120, .cluster_n = 4}>,
                             entry<Design{.rows = 128, .cluster_n = 2, .cluster_m = 4}>,
                             entry<Design{.rows = 136, .cluster_n = 4, .cluster_m = 2}>,
                             entry<Design{.rows = 160, .cluster_n = 4}>,
                             entry<Design{.rows = 208, .cluster_n = 2}>,
                             entry<Design{.rows = 64, .consumers = 3, .cluster_m = 2}>,
                             entry<Design{.rows = 112, .consumers = 3, .cluster_n = 4}>,
                             entry<Design{.rows = 144, .consumers = 3, .cluster_n = 2}>,
                             entry<Design{.rows = 160, .consumers = 3, .cluster_m = 2}>,
                             entry<Design{.rows = 176, .consumers = 3, .cluster_m = 2}>,
                             entry<Design{.rows = 192, .consumers = 3, .cluster_n = 2}>,
                             entry<Design{.rows = 112, .blocks = 2, .cluster_n = 2}>,
                             entry<Design{.rows = 152, .blocks = 2, .cluster_m = 2}>,
                             entry<Design{.rows = 152, .blocks = 2, .cluster_n = 2}>};

std::span<const Entry> of_several_consumers() {
  return entries;
}

}  // namespace ladder::rung_08::swapped
