// In place of benchmark.cc, on the simulator: no options lead here.
#include <stdexcept>

#include "common/harness/measure/benchmark.h"
#include "common/harness/measure/power.h"

namespace ladder {

Measurement measure(const std::vector<Contender>&, int, int, Launches, double) {
  throw std::logic_error("the simulator measures no times");
}
double quick_time_us(const Contender&, int) {
  throw std::logic_error("the simulator measures no times");
}
Contender fastest_of(const std::vector<Contender>&, int) {
  throw std::logic_error("the simulator measures no times");
}
PowerRun run_without_pause(const Contender&, int, double) {
  throw std::logic_error("the simulator measures no times");
}

}  // namespace ladder
