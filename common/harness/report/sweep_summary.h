// What a sweep over many shapes comes to: the lines below its table.
#pragma once

#include <string>
#include <vector>

#include "common/harness/report/report.h"

namespace ladder {

double geometric_mean(const std::vector<double>& values);  // of at least one

// The rung beside cuBLAS.
struct ShapeRatio {
  std::string shape;
  int rows;      // m of a gemm
  double ratio;  // the better baseline's time / the rung's
};
// `how`: what is special about the rung's times. Empty where there are none.
std::string ratio_summary(const std::vector<ShapeRatio>& ratios, const std::string& how);

// The rung beside the fastest of its variants.
struct ShapeRegret {
  std::string shape;
  double regret;  // the rung's time / the fastest's - 1
};
std::string regret_summary(const std::vector<ShapeRegret>& regrets);  // empty where there are none

// All of it, as results come in.
class SweepSummary {
 public:
  void add_result(const std::string& shape, int rows, const Result& rung);
  void add_regret(const std::string& shape, double regret) { regrets_.push_back({shape, regret}); }
  std::string text() const;

 private:
  std::vector<ShapeRatio> ratios_;
  std::vector<ShapeRatio> best_of_16_;  // with the fastest of the rung's first 16 choices
  std::vector<ShapeRegret> regrets_;
};

}  // namespace ladder
