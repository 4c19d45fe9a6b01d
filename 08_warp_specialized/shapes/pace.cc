// Each kernel's pace, fitted with the costs of choice.cc.
#include <algorithm>

#include "08_warp_specialized/shapes/choice.h"

namespace ladder::rung_08 {
namespace {

struct Pace {
  std::string_view name;
  double pace;
};
constexpr Pace paces[] = {{"128x128", 1.055},
                          {"128x192", 1.019},
                          {"128x256", 0.975},
                          {"64x128_share_a", 1.044},
                          {"64x128_share_b", 0.985},
                          {"64x64", 1.034},
                          {"narrow_128x64_1x4", 0.953},
                          {"narrow_160x128_1x2", 1.027},
                          {"narrow_160x64_1x4", 1.141},
                          {"narrow_16x64_x3", 1.218},
                          {"narrow_192x64_1x4", 1.003},
                          {"narrow_224x128_1x2", 1.005},
                          {"narrow_256x128_2x1", 1.008},
                          {"narrow_256x64_1x4", 1.038},
                          {"narrow_256x64_2x1", 1.146},
                          {"narrow_320x128_1x2", 1.014},
                          {"narrow_32x128_x2", 1.118},
                          {"narrow_32x64_x2_1x2", 1.173},
                          {"narrow_64x64_x2", 1.018},
                          {"narrow_64x64_x2_1x2", 1.073},
                          {"narrow_96x64_1x4", 0.999},
                          {"ping_pong", 0.933},
                          {"split_2", 0.995},
                          {"split_4", 0.906},
                          {"split_8", 0.942},
                          {"swapped_128x104_4x1", 0.938},
                          {"swapped_128x112_4x2", 1.020},
                          {"swapped_128x112_pp_1x2", 0.966},
                          {"swapped_128x120_4x1", 0.975},
                          {"swapped_128x128_2x4", 1.031},
                          {"swapped_128x128_pp_1x4", 0.977},
                          {"swapped_128x128_pp_2x1", 1.018},
                          {"swapped_128x136_4x2", 1.026},
                          {"swapped_128x136_pp_2x1", 1.034},
                          {"swapped_128x144_pp_1x2", 0.947},
                          {"swapped_128x152_pp_2x1", 0.982},
                          {"swapped_128x160_4x1", 0.967},
                          {"swapped_128x160_pp_2x1", 0.962},
                          {"swapped_128x168_pp_2x1", 0.964},
                          {"swapped_128x184_pp_2x1", 0.964},
                          {"swapped_128x208_2x1", 0.978},
                          {"swapped_128x32_4x1", 0.904},
                          {"swapped_128x64_4x1", 0.941},
                          {"swapped_128x80_4x2", 1.006},
                          {"swapped_128x88_4x1", 0.949},
                          {"swapped_128x88_pp_1x4", 1.002},
                          {"swapped_128x8_split_x2", 1.085},
                          {"swapped_128x96_pp_1x2", 0.997},
                          {"swapped_192x104_pp_1x2", 0.973},
                          {"swapped_192x112_4x1", 1.004},
                          {"swapped_192x120_pp_1x2", 0.981},
                          {"swapped_192x128_pp_1x2", 0.970},
                          {"swapped_192x144_2x1", 0.984},
                          {"swapped_192x160_1x2", 0.989},
                          {"swapped_192x176_1x2", 0.998},
                          {"swapped_192x192_2x1", 0.978},
                          {"swapped_192x64_1x2", 1.040},
                          {"swapped_192x64_mem_1x4", 0.890},
                          {"swapped_192x88_pp_1x2", 0.986},
                          {"swapped_256x112_2x1", 0.997},
                          {"swapped_256x152_1x2", 1.000},
                          {"swapped_256x152_2x1", 0.988},
                          {"swapped_64x104_1x2", 1.000},
                          {"swapped_64x104_mem_4x2", 1.000},
                          {"swapped_64x112_2x4", 1.013},
                          {"swapped_64x128_1x4", 0.910},
                          {"swapped_64x128_pp_1x2", 0.994},
                          {"swapped_64x168_4x1", 1.036},
                          {"swapped_64x16_split_x3", 0.993},
                          {"swapped_64x16_x2", 0.998},
                          {"swapped_64x16_x2_1x2", 1.031},
                          {"swapped_64x32_1x4", 0.937},
                          {"swapped_64x32_split_x3", 1.010},
                          {"swapped_64x40_4x1", 0.968},
                          {"swapped_64x64_1x2", 1.000},
                          {"swapped_64x64_1x4", 0.946},
                          {"swapped_64x64_4x1", 0.942},
                          {"swapped_64x64_4x2", 1.105},
                          {"swapped_64x64_mem_4x2", 1.023},
                          {"swapped_64x88_4x1", 0.967},
                          {"swapped_64x88_4x2", 1.019},
                          {"swapped_64x8_split", 1.013},
                          {"swapped_64x8_split_x3", 0.989},
                          {"swapped_64x8_x2", 1.005},
                          {"swapped_64x96_2x4", 1.077},
                          {"swapped_64x96_4x1", 0.982}};

}  // namespace

const double* measured_pace(std::string_view name) {
  const auto* const found = std::ranges::find(paces, name, &Pace::name);
  return found == std::end(paces) ? nullptr : &found->pace;
}

}  // namespace ladder::rung_08
