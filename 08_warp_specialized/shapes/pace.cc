// Each kernel's pace, fitted with the costs of choice.cc.
#include <algorithm>

#include "08_warp_specialized/shapes/choice.h"

namespace ladder::rung_08 {
namespace {

struct Pace {
  std::string_view name;
  double pace;
};
constexpr Pace paces[] = {{"128x128", 1.034},
                          {"128x192", 0.994},
                          {"128x256", 1.000},
                          {"64x128_share_a", 1.006},
                          {"64x128_share_b", 0.981},
                          {"64x64", 1.044},
                          {"narrow_128x64_1x4", 0.941},
                          {"narrow_160x128_1x2", 0.990},
                          {"narrow_160x64_1x4", 1.012},
                          {"narrow_16x64_x3", 1.067},
                          {"narrow_192x64_1x4", 0.957},
                          {"narrow_224x128_1x2", 0.994},
                          {"narrow_256x128_2x1", 1.004},
                          {"narrow_256x64_1x4", 1.006},
                          {"narrow_256x64_2x1", 1.054},
                          {"narrow_320x128_1x2", 0.994},
                          {"narrow_32x128_x2", 1.032},
                          {"narrow_32x64_x2_1x2", 1.050},
                          {"narrow_64x64_x2", 0.973},
                          {"narrow_64x64_x2_1x2", 1.000},
                          {"narrow_96x64_1x4", 0.982},
                          {"ping_pong", 0.972},
                          {"split_2", 1.008},
                          {"split_4", 0.987},
                          {"split_8", 1.003},
                          {"swapped_128x104_4x1", 0.970},
                          {"swapped_128x112_4x2", 1.017},
                          {"swapped_128x112_pp_1x2", 0.987},
                          {"swapped_128x120_4x1", 0.965},
                          {"swapped_128x128_2x4", 1.018},
                          {"swapped_128x128_pp_1x4", 0.987},
                          {"swapped_128x128_pp_2x1", 1.026},
                          {"swapped_128x136_4x2", 1.024},
                          {"swapped_128x136_pp_2x1", 1.034},
                          {"swapped_128x144_pp_1x2", 0.963},
                          {"swapped_128x152_pp_2x1", 0.998},
                          {"swapped_128x160_4x1", 0.983},
                          {"swapped_128x160_pp_2x1", 0.975},
                          {"swapped_128x168_pp_2x1", 0.969},
                          {"swapped_128x184_pp_2x1", 0.972},
                          {"swapped_128x208_2x1", 1.002},
                          {"swapped_128x32_4x1", 0.965},
                          {"swapped_128x64_4x1", 0.984},
                          {"swapped_128x80_4x2", 1.027},
                          {"swapped_128x88_4x1", 0.998},
                          {"swapped_128x88_pp_1x4", 1.012},
                          {"swapped_128x8_split_x2", 0.982},
                          {"swapped_128x96_pp_1x2", 1.008},
                          {"swapped_192x104_pp_1x2", 0.989},
                          {"swapped_192x112_4x1", 1.000},
                          {"swapped_192x120_pp_1x2", 0.989},
                          {"swapped_192x128_pp_1x2", 0.975},
                          {"swapped_192x144_2x1", 1.001},
                          {"swapped_192x160_1x2", 1.001},
                          {"swapped_192x176_1x2", 1.011},
                          {"swapped_192x192_2x1", 0.998},
                          {"swapped_192x64_1x2", 1.039},
                          {"swapped_192x64_mem_1x4", 0.972},
                          {"swapped_192x88_pp_1x2", 1.001},
                          {"swapped_256x112_2x1", 0.994},
                          {"swapped_256x152_1x2", 1.013},
                          {"swapped_256x152_2x1", 1.005},
                          {"swapped_64x104_1x2", 1.006},
                          {"swapped_64x104_mem_4x2", 1.000},
                          {"swapped_64x112_2x4", 1.029},
                          {"swapped_64x128_1x4", 0.961},
                          {"swapped_64x128_pp_1x2", 1.000},
                          {"swapped_64x168_4x1", 1.042},
                          {"swapped_64x16_split_x3", 1.000},
                          {"swapped_64x16_x2", 0.973},
                          {"swapped_64x16_x2_1x2", 1.006},
                          {"swapped_64x32_1x4", 0.939},
                          {"swapped_64x32_split_x3", 0.993},
                          {"swapped_64x40_4x1", 0.994},
                          {"swapped_64x64_1x2", 1.003},
                          {"swapped_64x64_1x4", 0.983},
                          {"swapped_64x64_4x1", 0.982},
                          {"swapped_64x64_4x2", 1.082},
                          {"swapped_64x64_mem_4x2", 1.002},
                          {"swapped_64x88_4x1", 1.027},
                          {"swapped_64x88_4x2", 0.993},
                          {"swapped_64x8_split", 1.000},
                          {"swapped_64x8_split_x3", 1.037},
                          {"swapped_64x8_x2", 0.993},
                          {"swapped_64x96_2x4", 1.069},
                          {"swapped_64x96_4x1", 1.000}};

}  // namespace

const double* measured_pace(std::string_view name) {
  const auto* const found = std::ranges::find(paces, name, &Pace::name);
  return found == std::end(paces) ? nullptr : &found->pace;
}

}  // namespace ladder::rung_08
