// Transposed kernels whose k is in parts, added up in global memory: few tiles, and a long k.
#include "08_warp_specialized/shapes/swapped/entries.cuh"

namespace ladder::rung_08::swapped {

constexpr Entry entries[] = {entry<Design{.rows = 16, .consumers = 1, .in_memory = true}>,
                             entry<Design{.rows = 32, .consumers = 1, .in_memory = true}>,
                             entry<Design{.rows = 48, .consumers = 1, .in_memory = true}>,
                             entry<Design{.rows = 64, .consumers = 1, .in_memory = true}>,
                             entry<Design{.rows = 80, .consumers = 1, .in_memory = true}>,
                             entry<Design{.rows = 96, .consumers = 1, .in_memory = true}>,
                             entry<Design{.rows = 64, .in_memory = true}>,
                             entry<Design{.rows = 96, .in_memory = true}>,
                             entry<Design{.rows = 120, .in_memory = true}>,
                             entry<Design{.rows = 208, .in_memory = true}>,
                             entry<Design{.rows = 64, .blocks = 2, .in_memory = true}>,
                             entry<Design{.rows = 96, .consumers = 3, .in_memory = true}>};

std::span<const Entry> of_parts_in_memory() {
  return entries;
}

}  // namespace ladder::rung_08::swapped
