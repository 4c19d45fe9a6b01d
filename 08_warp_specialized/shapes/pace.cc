// Each kernel's pace, fitted with the costs of choice.cc.
#include <algorithm>

#include "08_warp_specialized/shapes/choice.h"

namespace ladder::rung_08 {
namespace {

struct Pace {
  std::string_view name;
  double pace;
};
constexpr Pace paces[] = {{"128x256", 0.834},
                          {"narrow_128x128", 0.933},
                          {"narrow_128x64", 0.964},
                          {"narrow_160x128", 0.952},
                          {"narrow_160x64", 1.215},
                          {"narrow_16x64_x3", 1.284},
                          {"narrow_192x128", 0.944},
                          {"narrow_192x64", 0.964},
                          {"narrow_224x128", 0.933},
                          {"narrow_224x64", 1.036},
                          {"narrow_256x128", 0.956},
                          {"narrow_320x128", 0.960},
                          {"narrow_32x64_x2", 1.109},
                          {"narrow_64x64", 0.968},
                          {"narrow_64x64_x2", 1.284},
                          {"narrow_96x64", 1.081},
                          {"split_4", 0.882},
                          {"split_8", 0.828},
                          {"swapped_128x104_pp", 0.916},
                          {"swapped_128x112_pp", 0.925},
                          {"swapped_128x120_pp", 0.928},
                          {"swapped_128x128_pp", 0.931},
                          {"swapped_128x136_pp", 0.932},
                          {"swapped_128x144_pp", 0.918},
                          {"swapped_128x152_pp", 0.906},
                          {"swapped_128x160_pp", 0.910},
                          {"swapped_128x168_pp", 0.919},
                          {"swapped_128x176_pp", 0.906},
                          {"swapped_128x184_pp", 0.898},
                          {"swapped_128x192_pp", 0.896},
                          {"swapped_128x208", 0.931},
                          {"swapped_128x32", 1.078},
                          {"swapped_128x40_pp", 0.991},
                          {"swapped_128x64", 0.994},
                          {"swapped_128x64_mem", 0.942},
                          {"swapped_128x72_pp", 0.925},
                          {"swapped_128x80_pp", 0.910},
                          {"swapped_128x88_pp", 0.899},
                          {"swapped_128x8_split_x2", 1.077},
                          {"swapped_128x96", 0.891},
                          {"swapped_192x104_mem", 0.868},
                          {"swapped_192x112_pp", 0.923},
                          {"swapped_192x120_pp", 0.930},
                          {"swapped_192x128_pp", 0.918},
                          {"swapped_192x144", 0.931},
                          {"swapped_192x176", 0.963},
                          {"swapped_192x64_mem", 0.936},
                          {"swapped_192x80_pp", 0.928},
                          {"swapped_192x88_pp", 0.920},
                          {"swapped_256x96", 0.935},
                          {"swapped_64x104_mem", 0.907},
                          {"swapped_64x104_pp", 0.934},
                          {"swapped_64x112_pp", 0.964},
                          {"swapped_64x120_pp", 0.977},
                          {"swapped_64x16_split_x3", 0.944},
                          {"swapped_64x16_x2", 1.058},
                          {"swapped_64x32", 0.892},
                          {"swapped_64x32_split_x3", 0.998},
                          {"swapped_64x48", 0.915},
                          {"swapped_64x64_mem", 0.904},
                          {"swapped_64x88", 0.928},
                          {"swapped_64x8_split", 0.913},
                          {"swapped_64x8_split_x3", 0.832},
                          {"swapped_64x8_x2", 0.854},
                          {"swapped_64x96", 0.948}};

}  // namespace

const double* measured_pace(std::string_view name) {
  const auto* const found = std::ranges::find(paces, name, &Pace::name);
  return found == std::end(paces) ? nullptr : &found->pace;
}

}  // namespace ladder::rung_08
