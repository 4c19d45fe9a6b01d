// Does a rung choose the fastest of its own variants?
#pragma once

#include <string>
#include <vector>

#include "common/harness/measure/benchmark.h"
#include "common/harness/problems/workload.h"
#include "common/harness/report/report.h"

namespace ladder {

struct Tuned {
  Timing rung, fastest;
  double regret = 0;            // the rung's median / the fastest's - 1; 0 where the rung is the fastest
  std::vector<Timing> timings;  // of those that were timed
  JsonObject variants;          // name -> median_us, of the same
  CardState card;
};

// Times the variants in bf16, of which the last is the rung, in turns and without baselines. All of them have
// been launched before.
Tuned tune(const std::vector<const Variant<Gemm>*>& variants, GemmWorkload& workload, int sets, int repeats,
           Launches launches);

std::string tune_header();
std::string tune_row(const std::string& shape, const Tuned& tuned);
std::string times_row(const Tuned& tuned);  // below it: the time of each variant

}  // namespace ladder
