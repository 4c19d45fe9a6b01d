// Times of kernels at shapes: a line for each way to launch one,
//   m n k kernel cluster.n cluster.m parts us
// the lines of a shape one after the other.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "common/every_shape/estimate/estimate.h"

namespace ladder::every_shape {

constexpr int measured_sms = 132;  // of the GPU that the costs are for

struct Way {
  int kernel;  // of all_candidates()
  Launch how;
  double us;
};
struct MeasuredShape {
  Gemm p;
  std::vector<Way> ways;
};

void write(std::ostream& to, const MeasuredShape& shape);

// Adds a file's shapes, but for kernels that every_shape no longer has and launches that the estimate rules
// out. Throws std::runtime_error, where a time is 0, too, unless they are still to be measured.
void read(const std::string& file, std::vector<MeasuredShape>& shapes, bool to_be_measured = false);

}  // namespace ladder::every_shape
