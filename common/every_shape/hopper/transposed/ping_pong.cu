// Transposed kernels in ping-pong: each of two warpgroups has a tile of its own, in turn.
#include "common/every_shape/hopper/transposed/entries.cuh"

namespace ladder::every_shape::transposed {

constexpr auto all = together(
    entries<Design{.ping_pong = true}, 112, 120, 144, 152, 160, 184, 192, 200, 208, 216, 232, 248, 256>,
    entries<Design{.blocks = 2, .ping_pong = true}, 40, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152,
            160, 168, 176, 184, 192>,
    entries<Design{.blocks = 3, .ping_pong = true}, 72, 80, 88, 96, 104, 112, 128>);

std::span<const Entry> of_ping_pong() {
  return all;
}

}  // namespace ladder::every_shape::transposed
