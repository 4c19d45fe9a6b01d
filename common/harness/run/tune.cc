#include "common/harness/run/tune.h"

#include <algorithm>
#include <cstdio>

namespace ladder {

constexpr double tune_seconds = 0.15;  // for all variants together: a few rounds
constexpr double hopeless = 3;         // times the fastest's time

Tuned tune(const std::vector<const Variant<Gemm>*>& variants, GemmWorkload& workload, int sets, int repeats,
           Launches launches) {
  std::vector<Contender> all;
  std::vector<double> rough_us;
  for (const Variant<Gemm>* variant : variants) {
    workload.choose(*variant);
    all.push_back({variant->name, [variant, own = workload.held()](int set, cudaStream_t stream) {
                     return variant->launch(own.problems[set], stream);
                   }});
    rough_us.push_back(quick_time_us(all.back(), sets));
  }
  // A variant that takes three times as long in a few single launches, gaps between them included, is left
  // out: it would take most of each round.
  const double fastest_us = *std::min_element(rough_us.begin(), rough_us.end());
  std::vector<Contender> contenders;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i + 1 == all.size() || rough_us[i] <= hopeless * fastest_us) contenders.push_back(all[i]);

  const Measurement measured = measure(contenders, sets, repeats, launches, tune_seconds);
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
  char line[160];
  std::snprintf(line, sizeof line, "%-17s %-22s %13s %13s %9s\n", "gemm", "fastest variant", "its time",
                "the rung's", "regret");
  return line;
}

std::string tune_row(const std::string& shape, const Tuned& tuned) {
  char line[160];
  std::snprintf(line, sizeof line, "%-17s %-22s %10.2f us %10.2f us %7.2f %%\n", shape.c_str(),
                tuned.fastest.name.c_str(), tuned.fastest.median_us, tuned.rung.median_us,
                100 * tuned.regret);
  return line;
}

std::string times_row(const Tuned& tuned) {
  std::string row = "   ";
  for (const Timing& t : tuned.timings) {
    char cell[80];
    std::snprintf(cell, sizeof cell, " %s %.2f us ", t.name.c_str(), t.median_us);
    row += cell;
  }
  return row + "\n";
}

}  // namespace ladder
