// Transposed kernels for two or three warpgroups, which multiply the same tile.
#include "common/every_shape/hopper/transposed/entries.cuh"

namespace ladder::every_shape::transposed {

constexpr auto all =
    together(entries<Design{.per_sm = 2, .split = true}, 8>, entries<Design{}, 200, 232, 248>,
             entries<Design{.blocks = 2}, 80, 88, 96, 104, 112, 128>, entries<Design{.blocks = 3}, 64>,
             entries<Design{.consumers = 3}, 96, 136, 144, 160, 176, 184>,
             entries<Design{.blocks = 3, .by_rows = true}, 224, 240>);

std::span<const Entry> of_several_consumers() {
  return all;
}

}  // namespace ladder::every_shape::transposed
