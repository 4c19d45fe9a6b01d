// In place of every problem's baselines.cc, on the simulator: no options lead here.
#include <stdexcept>

#include "common/harness/problems/gemm/library_reference.h"
#include "common/harness/problems/registry.h"

namespace ladder {

#define LADDER_NO_BASELINES(Problem)                                          \
  Baselines baselines(const Variant<Problem>&, const std::vector<Problem>&) { \
    throw std::logic_error("the simulator measures no times");                \
  }
LADDER_PROBLEMS(LADDER_NO_BASELINES)

std::vector<float> library_reference(const std::vector<Gemm>&) {
  throw std::logic_error("the simulator has no cuBLAS");
}
std::vector<double> library_reference(const Gemm&, const std::vector<float>&, const std::vector<float>&) {
  throw std::logic_error("the simulator has no cuBLAS");
}

}  // namespace ladder
