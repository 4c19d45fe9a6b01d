// What a sweep over many shapes comes to: the lines below its table.
#pragma once

#include <string>
#include <vector>

#include "common/rung.h"

namespace ladder {

double geometric_mean(const std::vector<double>& values);  // of at least one

// The rung beside cuBLAS.
struct ShapeRatio {
  Gemm shape;
  double ratio;  // the better baseline's time / the rung's
};
// `how`: what is special about the rung's times. Empty where there are none.
std::string ratio_summary(const std::vector<ShapeRatio>& ratios, const std::string& how);

// The rung beside the fastest of its variants.
struct ShapeRegret {
  Gemm shape;
  double regret;  // the rung's time / the fastest's - 1
};
std::string regret_summary(const std::vector<ShapeRegret>& regrets);  // empty where there are none

}  // namespace ladder
