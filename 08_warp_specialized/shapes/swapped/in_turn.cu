// Transposed kernels in ping-pong: each of two warpgroups has a tile of its own, in turn.
#include "08_warp_specialized/shapes/swapped/entries.cuh"

namespace ladder::rung_08::swapped {

constexpr auto all = together(
    entries<Design{.ping_pong = true}, 112, 120, 144, 152, 160, 184, 192, 200, 208, 216, 232, 248, 256>,
    entries<Design{.blocks = 2, .ping_pong = true}, 40, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152,
            160, 168, 176, 184, 192>,
    entries<Design{.blocks = 3, .ping_pong = true}, 72, 80, 88, 96, 104, 112, 128>);

std::span<const Entry> of_consumers_in_turn() {
  return all;
}

}  // namespace ladder::rung_08::swapped
