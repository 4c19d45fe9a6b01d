#include "common/harness/measure/power.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ladder {
namespace {

constexpr int rows = 10, most_readings = 200;

// The mean of the readings [first, last). Not empty.
PowerRun::Reading mean(const PowerRun& run, std::size_t first, std::size_t last) {
  PowerRun::Reading sum{};
  for (std::size_t i = first; i < last; ++i) {
    const PowerRun::Reading& r = run.readings[i];
    sum.launch_us += r.launch_us;
    sum.sm_clock_mhz += r.sm_clock_mhz;
    sum.power_w += r.power_w;
  }
  const double count = double(last - first);
  return {run.readings[last - 1].seconds, sum.launch_us / count, sum.sm_clock_mhz / count,
          sum.power_w / count};
}

}  // namespace

std::string power_text(const PowerRun& run, const Score& score, const std::string& unit) {
  char line[160];
  std::snprintf(line, sizeof line, "%s\n  %8s %12s %8s %8s\n", run.name.c_str(), "until s", unit.c_str(),
                "SM MHz", "W");
  std::string text = line;
  const std::size_t count = run.readings.size();
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t first = row * count / rows, last = (row + 1) * count / rows;
    if (first == last) continue;
    const auto m = mean(run, first, last);
    std::snprintf(line, sizeof line, "  %8.2f %12.1f %8.0f %8.0f\n", m.seconds, score(m.launch_us),
                  m.sm_clock_mhz, m.power_w);
    text += line;
  }
  if (run.joules == 0) return text + "  energy unknown: the driver does not say\n";
  const double each = run.joules / run.launches, units = score(1e6);  // of a launch: 10^12 flops, 10^9 bytes
  const bool flops = unit == "TFLOPS";
  std::snprintf(line, sizeof line, "  %.0f J in %.2f s, idle %.0f W; %.4g mJ per launch, %.4g pJ per %s\n",
                run.joules, run.seconds, run.idle_w, each * 1e3, each / units * (flops ? 1 : 1e3),
                flops ? "flop" : "byte");
  return text + line;
}

void add_power(JsonObject& object, const PowerRun& run, const Score& score, const std::string& score_field) {
  object.field("contender", run.name).field("launches", run.launches).field("seconds", run.seconds);
  object.field("idle_w", run.idle_w);
  if (run.joules > 0)
    object.field("joules", run.joules).field("joules_per_launch", run.joules / run.launches);
  const std::size_t count = run.readings.size();
  const auto steady = mean(run, count / 2, count);
  object.field("launch_us", steady.launch_us).field(score_field.c_str(), score(steady.launch_us));
  object.field("sm_clock_mhz", steady.sm_clock_mhz).field("power_w", steady.power_w);
  std::vector<double> seconds, launch_us, clocks, watts;
  const std::size_t step = (count + most_readings - 1) / most_readings;
  for (std::size_t i = 0; i < count; i += step) {
    seconds.push_back(run.readings[i].seconds);
    launch_us.push_back(run.readings[i].launch_us);
    clocks.push_back(run.readings[i].sm_clock_mhz);
    watts.push_back(run.readings[i].power_w);
  }
  JsonObject series;
  series.field("seconds", seconds).field("launch_us", launch_us);
  series.field("sm_clock_mhz", clocks).field("power_w", watts);
  object.field("series", series);
}

}  // namespace ladder
