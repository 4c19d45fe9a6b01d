// Written by 08_fit: such that the choice loses least at 1737 drawn shapes, timed on one H200. See
// docs/deeper/08_shapes.md.
#include <algorithm>

#include "08_warp_specialized/shapes/choice.h"

namespace ladder::rung_08 {

const Costs fitted_costs = {
    .of_kind = {{249.5, 809.3, 0.07153, 316.6},  // split
                {214.9, 1686, 0.2098, 222.6},    // whole
                {3421, 1467, 0.1003, 68.52},     // in_turn
                {2192, 3244, 0.3904, 204.3},     // straight
                {553.1, 553.1, 0.1894, 440.1},   // straight_split
                {179.4, 294.6, 0.254, 305.1},    // narrow
                {971.9, 819.1, 0.04776, 515.2},  // in_memory
                {100.5, 538.3, 0.1, 329.9}},     // vector
    .intake = 58.95,
    .l2 = 3060,
    .asked_again = 0.4551,
    .two_lines = 1.643,
    .cut_sector = 0.2926,
    .tensor = 2.996,
    .in_step = {0.9645, 1.165, 1.042, 1.012},
    .exchange = 3891,
    .exchange_element = 0.01156,
    .exchange_in_memory = 2264,
    .exchange_element_in_memory = 2.89,
};

namespace {

struct Measured {
  std::string_view name;
  Pace pace;
};
constexpr Measured paces[] = {
    {"split_4", {0.8034, 0.7972}},
    {"split_8", {0.7373, 0.6885}},
    {"128x256", {0.805, 0.8011}},
    {"swapped_64x8_split_x3", {1.02, 0.9375}},
    {"swapped_64x16_split_x3", {1.104, 0.9325}},
    {"swapped_64x32_split_x3", {1.088, 1.169}},
    {"swapped_64x8_split", {1.097, 1.151}},
    {"swapped_64x8_x2", {0.8868, 0.9538}},
    {"swapped_64x16_x2", {0.9967, 0.969}},
    {"swapped_64x32", {0.8401, 0.995}},
    {"swapped_64x48", {0.9609, 1.044}},
    {"swapped_64x72", {0.8943, 1.057}},
    {"swapped_64x80", {0.8796, 0.9872}},
    {"swapped_64x88", {0.936, 0.9966}},
    {"swapped_64x96", {0.9751, 0.9943}},
    {"swapped_64x128", {0.9566, 0.989}},
    {"swapped_128x8_split_x2", {1.133, 1.002}},
    {"swapped_128x200", {0.9815, 0.9469}},
    {"swapped_192x144", {0.9648, 1.06}},
    {"swapped_192x176", {1.013, 0.9448}},
    {"swapped_64x112_pp", {0.9416, 0.9695}},
    {"swapped_128x40_pp", {0.9451, 1.077}},
    {"swapped_128x72_pp", {0.9489, 0.9761}},
    {"swapped_128x80_pp", {0.9488, 0.9485}},
    {"swapped_128x88_pp", {0.9502, 0.9554}},
    {"swapped_128x104_pp", {0.8934, 0.9042}},
    {"swapped_128x112_pp", {0.8923, 0.9232}},
    {"swapped_128x120_pp", {0.8828, 0.901}},
    {"swapped_128x128_pp", {0.9089, 0.8894}},
    {"swapped_128x136_pp", {0.9321, 0.9491}},
    {"swapped_128x144_pp", {0.9434, 0.9407}},
    {"swapped_128x152_pp", {0.9544, 0.9356}},
    {"swapped_128x160_pp", {0.9435, 0.9255}},
    {"swapped_128x168_pp", {0.9625, 0.9328}},
    {"swapped_128x184_pp", {0.9587, 0.9455}},
    {"swapped_128x192_pp", {0.9568, 0.9239}},
    {"swapped_192x80_pp", {0.9484, 0.9853}},
    {"swapped_192x96_pp", {0.9723, 0.9517}},
    {"swapped_192x112_pp", {0.9766, 0.9812}},
    {"swapped_192x128_pp", {1.001, 0.9418}},
    {"swapped_64x64_mem", {0.8885, 0.9206}},
    {"swapped_128x80_mem", {1.106, 1.196}},
    {"swapped_192x104_mem", {0.9468, 0.9529}},
    {"narrow_32x64_x2", {1.284, 1.288}},
    {"narrow_64x64", {0.9302, 1.093}},
    {"narrow_128x64", {0.9399, 1.03}},
    {"narrow_192x64", {0.992, 0.9969}},
    {"narrow_96x128", {1.014, 1.022}},
    {"narrow_128x128", {0.9375, 0.92}},
    {"narrow_160x128", {0.981, 1.079}},
    {"narrow_224x128", {0.9806, 1.017}},
    {"narrow_320x128", {0.9935, 1.083}},
    {"vector_64x1", {1.269, 1.237}},
};

}  // namespace

const Pace* measured_pace(std::string_view name) {
  const auto* const found = std::ranges::find(paces, name, &Measured::name);
  return found == std::end(paces) ? nullptr : &found->pace;
}

}  // namespace ladder::rung_08
