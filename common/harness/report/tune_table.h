// What --tune found, as a table.
#pragma once

#include <string>
#include <vector>

#include "common/harness/base/json.h"
#include "common/harness/measure/benchmark.h"

namespace ladder {

struct Tuned {
  Timing rung, fastest;
  double regret = 0;            // the rung's median / the fastest's - 1; 0 where the rung is the fastest
  std::vector<Timing> timings;  // of those that were timed
  JsonObject variants;          // name -> median_us, of the same
  CardState card;
};
Tuned tuned_by(const Measurement& measured);  // the rung's timing is the last

std::string tune_header();
std::string tune_row(const std::string& shape, const Tuned& tuned);
std::string times_row(const Tuned& tuned);  // below it: the time of each variant

}  // namespace ladder
