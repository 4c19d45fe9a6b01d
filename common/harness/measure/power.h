// The card's clock, power and energy while one kernel runs without a pause.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/harness/base/json.h"
#include "common/harness/measure/benchmark.h"

namespace ladder {

struct PowerRun {
  std::string name;  // of the contender
  int launches = 0;
  double seconds = 0;              // from the first launch to the end of the last
  double joules = 0;               // that the card drew meanwhile; 0 where the driver does not say
  double idle_w = 0;               // before the first launch; 0 where NVML is absent
  struct Reading {                 // one per batch of launches, of about 10 ms
    double seconds;                // from the first launch to the end of the batch
    double launch_us;              // mean of the batch
    double sm_clock_mhz, power_w;  // read while the next one ran; 0 where NVML is absent
  };
  std::vector<Reading> readings;
};

// Leaves the card idle for a second, so that all contenders begin alike, then launches this one for `seconds`
// in a row, over `sets` buffer sets.
PowerRun run_without_pause(const Contender& contender, int sets, double seconds);

// The score of a launch that takes this many microseconds.
using Score = std::function<double(double microseconds)>;

// A table with a row for each tenth of the run, and its energy below. `unit`: of the score, TFLOPS or GB/s.
std::string power_text(const PowerRun& run, const Score& score, const std::string& unit);

// The same as fields of a record: the whole run, its second half, and at most 200 readings.
void add_power(JsonObject& object, const PowerRun& run, const Score& score, const std::string& score_field);

}  // namespace ladder
