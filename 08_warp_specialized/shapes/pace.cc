// Each kernel's pace, fitted with the costs of choice.cc.
#include <algorithm>

#include "08_warp_specialized/shapes/choice.h"

namespace ladder::rung_08 {
namespace {

struct Pace {
  std::string_view name;
  double pace;
};
constexpr Pace paces[] = {{"128x256", 0.793},
                          {"narrow_128x128", 0.927},
                          {"narrow_128x64", 0.969},
                          {"narrow_160x128", 0.989},
                          {"narrow_192x64", 0.959},
                          {"narrow_224x128", 0.995},
                          {"narrow_224x64", 1.092},
                          {"narrow_256x128", 1.190},
                          {"narrow_320x128", 1.200},
                          {"narrow_32x64_x2", 1.295},
                          {"narrow_64x64", 0.992},
                          {"narrow_64x64_x2", 1.660},
                          {"narrow_96x128", 1.086},
                          {"narrow_96x64", 1.308},
                          {"split_4", 0.791},
                          {"split_8", 0.643},
                          {"swapped_128x104_pp", 0.923},
                          {"swapped_128x112_pp", 0.967},
                          {"swapped_128x120_pp", 0.941},
                          {"swapped_128x128_pp", 0.921},
                          {"swapped_128x136_pp", 0.950},
                          {"swapped_128x144_pp", 0.944},
                          {"swapped_128x152_pp", 0.932},
                          {"swapped_128x160_pp", 0.929},
                          {"swapped_128x168_pp", 0.944},
                          {"swapped_128x176_pp", 0.947},
                          {"swapped_128x184_pp", 0.944},
                          {"swapped_128x192_pp", 0.942},
                          {"swapped_128x200", 0.970},
                          {"swapped_128x208", 0.966},
                          {"swapped_128x40_pp", 0.945},
                          {"swapped_128x64_mem", 1.194},
                          {"swapped_128x72_pp", 0.932},
                          {"swapped_128x80_mem", 1.293},
                          {"swapped_128x80_pp", 0.923},
                          {"swapped_128x88_pp", 0.905},
                          {"swapped_128x8_split_x2", 1.327},
                          {"swapped_192x104_mem", 0.959},
                          {"swapped_192x112_pp", 0.968},
                          {"swapped_192x120_pp", 0.950},
                          {"swapped_192x128_pp", 0.957},
                          {"swapped_192x144", 1.198},
                          {"swapped_192x176", 1.029},
                          {"swapped_192x64_mem", 1.077},
                          {"swapped_192x80_pp", 0.966},
                          {"swapped_192x88_pp", 0.992},
                          {"swapped_192x96_pp", 0.940},
                          {"swapped_256x96", 0.976},
                          {"swapped_64x104_mem", 1.043},
                          {"swapped_64x104_pp", 0.927},
                          {"swapped_64x112_pp", 0.965},
                          {"swapped_64x120_pp", 0.924},
                          {"swapped_64x128", 0.995},
                          {"swapped_64x16_split_x3", 1.105},
                          {"swapped_64x16_x2", 0.929},
                          {"swapped_64x32", 0.853},
                          {"swapped_64x32_split_x3", 1.255},
                          {"swapped_64x48", 0.988},
                          {"swapped_64x64_mem", 0.954},
                          {"swapped_64x72", 0.946},
                          {"swapped_64x80", 0.921},
                          {"swapped_64x88", 0.964},
                          {"swapped_64x8_split", 1.270},
                          {"swapped_64x8_split_x3", 1.177},
                          {"swapped_64x8_x2", 0.807},
                          {"swapped_64x96", 0.954}};

}  // namespace

const double* measured_pace(std::string_view name) {
  const auto* const found = std::ranges::find(paces, name, &Pace::name);
  return found == std::end(paces) ? nullptr : &found->pace;
}

}  // namespace ladder::rung_08
