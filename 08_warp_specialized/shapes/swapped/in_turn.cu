// Transposed kernels in ping-pong: each of two warpgroups has a tile of its own, in turn.
#include "08_warp_specialized/shapes/swapped/entries.cuh"

namespace ladder::rung_08::swapped {

constexpr Entry entries[] = {entry<Design{.rows = 112, .ping_pong = true}>,
                             entry<Design{.rows = 160, .ping_pong = true}>,
                             entry<Design{.rows = 192, .ping_pong = true}>,
                             entry<Design{.rows = 208, .ping_pong = true}>,
                             entry<Design{.rows = 256, .ping_pong = true}>,
                             entry<Design{.rows = 40, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 72, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 80, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 88, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 96, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 104, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 112, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 120, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 128, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 136, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 144, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 152, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 160, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 168, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 176, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 184, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 192, .blocks = 2, .ping_pong = true}>,
                             entry<Design{.rows = 72, .blocks = 3, .ping_pong = true}>,
                             entry<Design{.rows = 80, .blocks = 3, .ping_pong = true}>,
                             entry<Design{.rows = 112, .blocks = 3, .ping_pong = true}>,
                             entry<Design{.rows = 128, .blocks = 3, .ping_pong = true}>};

std::span<const Entry> of_consumers_in_turn() {
  return entries;
}

}  // namespace ladder::rung_08::swapped
