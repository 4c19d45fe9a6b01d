#include "common/harness/report/tune_table.h"

#include <algorithm>

#include "common/harness/base/format.h"

namespace ladder {

Tuned tuned_by(const Measurement& measured) {
  const auto& timings = measured.timings;
  Tuned tuned;
  tuned.rung = timings.back();
  tuned.fastest = *std::min_element(timings.begin(), timings.end(), [](const Timing& x, const Timing& y) {
    return x.median_us < y.median_us;
  });
  tuned.regret = tuned.rung.median_us / tuned.fastest.median_us - 1;
  for (const Timing& t : timings) tuned.variants.field(t.name.c_str(), t.median_us);
  tuned.timings = timings;
  tuned.card = measured.card;
  return tuned;
}

std::string tune_header() {
  return format("%-17s %-22s %13s %13s %9s\n", "gemm", "fastest variant", "its time", "the rung's", "regret");
}

std::string tune_row(const std::string& shape, const Tuned& tuned) {
  return format("%-17s %-22s %10.2f us %10.2f us %7.2f %%\n", shape.c_str(), tuned.fastest.name.c_str(),
                tuned.fastest.median_us, tuned.rung.median_us, 100 * tuned.regret);
}

std::string times_row(const Tuned& tuned) {
  std::string row = "   ";
  for (const Timing& t : tuned.timings) row += format(" %s %.2f us ", t.name.c_str(), t.median_us);
  return row + "\n";
}

}  // namespace ladder
