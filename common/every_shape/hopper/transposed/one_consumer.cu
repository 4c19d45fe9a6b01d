// Transposed kernels of 64 columns, for one warpgroup: few rows, or few tiles.
#include "common/every_shape/hopper/transposed/entries.cuh"

namespace ladder::every_shape::transposed {

constexpr auto all = together(entries<Design{.consumers = 1, .per_sm = 3, .split = true}, 8, 16, 32>,
                              entries<Design{.consumers = 1, .split = true}, 8>,
                              entries<Design{.consumers = 1, .per_sm = 2}, 8, 16>,
                              entries<Design{.consumers = 1}, 32, 48, 56, 72, 80, 88, 96, 104, 136>);

std::span<const Entry> of_one_consumer() {
  return all;
}

}  // namespace ladder::every_shape::transposed
