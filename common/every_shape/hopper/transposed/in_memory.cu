// Transposed kernels whose k is in parts, reduced in global memory: few tiles, and a long k.
#include "common/every_shape/hopper/transposed/entries.cuh"

namespace ladder::every_shape::transposed {

constexpr auto all = together(entries<Design{.consumers = 1, .in_memory = true}, 8, 16, 32, 48, 64, 80, 96>,
                              entries<Design{.in_memory = true}, 24, 64, 80, 96, 120>,
                              entries<Design{.blocks = 2, .in_memory = true}, 64>,
                              entries<Design{.consumers = 3, .in_memory = true}, 24, 96>);

std::span<const Entry> of_parts_in_memory() {
  return all;
}

}  // namespace ladder::every_shape::transposed
