// What is said of a run without a pause.
#include "common/harness/measure/power.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace ladder {
namespace {

// 100 launches of 2 TFLOP in 10 readings: 1 ms each in the first half, 2 ms in the second.
PowerRun powered() {
  PowerRun run;
  run.name = "fast";
  run.launches = 100;
  run.seconds = 0.15;
  run.joules = 60;
  run.idle_w = 120;
  for (int i = 1; i <= 10; ++i)
    run.readings.push_back({0.01 * i, i <= 5 ? 1000.0 : 2000.0, i <= 5 ? 1980.0 : 1500.0, 70.0 * i});
  return run;
}
double tflops(double us) {
  return 2e6 / us;
}

TEST(Power, TableHasARowForEachTenthAndTheEnergy) {
  const std::string text = power_text(powered(), tflops, "TFLOPS");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 + 10 + 1) << text;
  EXPECT_NE(text.find("0.01       2000.0     1980       70\n"), std::string::npos) << text;
  EXPECT_NE(text.find("0.10       1000.0     1500      700\n"), std::string::npos) << text;
  EXPECT_NE(text.find("60 J in 0.15 s, idle 120 W; 600 mJ per launch, 0.3 pJ per flop"), std::string::npos)
      << text;
  EXPECT_NE(power_text(powered(), tflops, "GB/s").find("300 pJ per byte"), std::string::npos);
}

TEST(Power, FewReadingsAndNoEnergyAreSaid) {
  PowerRun run = powered();
  run.readings.resize(1);
  run.joules = 0;
  const std::string text = power_text(run, tflops, "TFLOPS");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 + 1 + 1) << text;
  EXPECT_NE(text.find("energy unknown"), std::string::npos);
}

TEST(Power, RecordHasTheSecondHalfAndTheSeries) {
  JsonObject o;
  add_power(o, powered(), tflops, "tflops");
  const std::string text = o.text();
  EXPECT_NE(text.find("\"launch_us\": 2000, \"tflops\": 1000, \"sm_clock_mhz\": 1500"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\"joules_per_launch\": 0.6"), std::string::npos) << text;
  EXPECT_NE(text.find("\"power_w\": [70, 140, 210, 280, 350, 420, 490, 560, 630, 700]"), std::string::npos)
      << text;
  PowerRun longer = powered();
  longer.readings.resize(1000, longer.readings[0]);
  JsonObject decimated;
  add_power(decimated, longer, tflops, "tflops");
  const std::string all = decimated.text();
  EXPECT_EQ(std::count(all.begin(), all.end(), ','), 10 + 4 * 199 + 3) << all;
}

}  // namespace
}  // namespace ladder
