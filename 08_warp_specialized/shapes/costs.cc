// Written by 08_fit: such that the choice loses least at 2158 drawn shapes, timed on one H200. See
// docs/deeper/08_shapes.md.
#include <algorithm>

#include "08_warp_specialized/shapes/choice.h"

namespace ladder::rung_08 {

const Costs fitted_costs = {
    .of_kind = {{251.9, 839.6, 0.07405, 314.4},  // split
                {221.5, 2057, 0.2095, 188.8},    // whole
                {3455, 1460, 0.09298, 68.52},    // in_turn
                {2308, 3299, 0.4185, 204.3},     // straight
                {499.7, 499.7, 0.165, 480.4},    // straight_split
                {182.7, 298.3, 0.2442, 282},     // narrow
                {936.2, 793.6, 0.04749, 482.3},  // in_memory
                {99.94, 500.1, 0.1001, 215.9}},  // vector
    .intake = 60.14,
    .l2 = 3324,
    .asked_again = 0.4709,
    .two_lines = 1.493,
    .cut_sector = 0.3519,
    .tensor = 2.702,
    .in_step = {1.018, 1.229, 1.1, 1.071},
    .exchange = 3568,
    .exchange_element = 0.01148,
    .exchange_in_memory = 2073,
    .exchange_element_in_memory = 2.49,
};

namespace {

struct Measured {
  std::string_view name;
  Pace pace;
};
constexpr Measured paces[] = {
    {"split_4", {0.8291, 0.8291}},
    {"split_8", {0.7572, 0.7572}},
    {"128x256", {0.6977, 0.6852}},
    {"swapped_64x8_split_x3", {0.9695, 0.94}},
    {"swapped_64x16_split_x3", {1.031, 0.8259}},
    {"swapped_64x32_split_x3", {1.014, 1.014}},
    {"swapped_64x8_split", {1.032, 1.04}},
    {"swapped_64x8_x2", {0.8022, 0.8418}},
    {"swapped_64x16_x2", {0.9384, 0.8864}},
    {"swapped_64x32", {0.8198, 0.9472}},
    {"swapped_64x48", {0.8906, 0.952}},
    {"swapped_64x72", {0.8608, 0.991}},
    {"swapped_64x80", {0.8486, 0.9567}},
    {"swapped_64x88", {0.9067, 0.9456}},
    {"swapped_64x96", {0.9341, 0.9538}},
    {"swapped_64x128", {0.9352, 0.9395}},
    {"swapped_128x8_split_x2", {1.056, 1.042}},
    {"swapped_128x200", {0.9218, 0.8615}},
    {"swapped_192x144", {0.9172, 0.9257}},
    {"swapped_192x176", {0.9236, 0.8901}},
    {"swapped_64x112_pp", {0.9234, 0.9259}},
    {"swapped_128x40_pp", {0.91, 1.04}},
    {"swapped_128x72_pp", {0.9231, 0.9327}},
    {"swapped_128x80_pp", {0.9431, 0.9279}},
    {"swapped_128x88_pp", {0.9144, 0.9036}},
    {"swapped_128x104_pp", {0.8601, 0.8668}},
    {"swapped_128x112_pp", {0.8583, 0.8674}},
    {"swapped_128x120_pp", {0.8501, 0.8514}},
    {"swapped_128x128_pp", {0.8705, 0.8489}},
    {"swapped_128x136_pp", {0.8858, 0.8883}},
    {"swapped_128x144_pp", {0.8916, 0.8822}},
    {"swapped_128x152_pp", {0.9014, 0.8911}},
    {"swapped_128x160_pp", {0.8956, 0.8866}},
    {"swapped_128x168_pp", {0.9189, 0.8933}},
    {"swapped_128x184_pp", {0.9146, 0.8925}},
    {"swapped_128x192_pp", {0.9111, 0.8798}},
    {"swapped_192x80_pp", {0.8851, 0.8761}},
    {"swapped_192x96_pp", {0.9139, 0.8943}},
    {"swapped_192x112_pp", {0.9439, 0.9253}},
    {"swapped_192x128_pp", {0.9607, 0.8979}},
    {"swapped_64x64_mem", {0.9166, 0.9166}},
    {"swapped_128x80_mem", {1.1, 1.1}},
    {"swapped_192x104_mem", {0.9458, 0.9458}},
    {"narrow_32x64_x2", {1.221, 1.216}},
    {"narrow_64x64", {0.895, 0.9645}},
    {"narrow_128x64", {0.9102, 0.9732}},
    {"narrow_192x64", {0.9539, 0.9564}},
    {"narrow_96x128", {0.9786, 0.9338}},
    {"narrow_128x128", {0.8983, 0.8718}},
    {"narrow_160x128", {0.9553, 1.004}},
    {"narrow_224x128", {0.9324, 0.9605}},
    {"narrow_320x128", {0.9594, 1.008}},
    {"vector_64x1", {1.14, 1.245}},
    {"vector_64x4", {1.266, 1.251}},
};

}  // namespace

const Pace* measured_pace(std::string_view name) {
  const auto* const found = std::ranges::find(paces, name, &Measured::name);
  return found == std::end(paces) ? nullptr : &found->pace;
}

}  // namespace ladder::rung_08
