// What the environment chooses, read in a process of its own each time; and the devices' limits.
#include "common/simulator/settings/settings.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "common/simulator/settings/device.h"

namespace simulator {
namespace {

// Reads the settings with one variable set and ends the process: 0 where `holds` does, 1 where not, 2 where
// the value is refused (the message on stderr).
template <class F>
[[noreturn]] void read_with(const char* name, const char* value, F&& holds) {
  setenv(name, value, 1);
  try {
    std::exit(holds(settings()) ? 0 : 1);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(2);
  }
}

class SettingsDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "threadsafe";  // a fresh process: nothing has been read yet
    for (const char* name : {"SIMULATOR_DEVICE", "SIMULATOR_SEED", "SIMULATOR_THREADS", "SIMULATOR_CHECKS",
                             "SIMULATOR_COUNTERS"}) {
      unsetenv(name);
    }
  }
};

#define READS(name, value, condition)                                              \
  EXPECT_EXIT(read_with(name, value, [](const Settings& s) { return condition; }), \
              testing::ExitedWithCode(0), "")
#define REFUSES(name, value, message)                                                                   \
  EXPECT_EXIT(read_with(name, value, [](const Settings&) { return true; }), testing::ExitedWithCode(2), \
              message)

TEST_F(SettingsDeathTest, Defaults) {
  READS("UNRELATED", "1", s.device == "h200" && s.seed == 0 && s.threads == 0 && s.counters.empty());
  READS("SIMULATOR_SEED", "", s.seed == 0);
}

TEST_F(SettingsDeathTest, Values) {
  READS("SIMULATOR_DEVICE", "b200", s.device == "b200" && device().major == 10);
  READS("SIMULATOR_SEED", "18446744073709551615", s.seed == UINT64_MAX);
  READS("SIMULATOR_CTAS", "5", s.ctas == 5 && s.tell_ctas);
  READS("SIMULATOR_THREADS", "3", s.threads == 3);
  READS("SIMULATOR_CHECKS", "off", s.checks == Checks::off);
  READS("SIMULATOR_CHECKS", "report", s.checks == Checks::report);
  READS("SIMULATOR_CHECKS", "fail", s.checks == Checks::fail);
  READS("SIMULATOR_STRICT", "0", !s.strict);
  READS("UNRELATED", "1", s.strict && !s.survive);
  READS("SIMULATOR_SURVIVE", "1", s.survive);
  READS("UNRELATED", "1", s.limit == 0);
  READS("SIMULATOR_LIMIT", "250", s.limit == 250'000'000);
  READS("SIMULATOR_COUNTERS", "counts.json", s.counters == "counts.json");
  READS("SIMULATOR_PTX", "other.ptx", s.ptx == "other.ptx");
  READS("SIMULATOR_TRACE", "trace.jsonl", s.trace == "trace.jsonl" && s.trace_limit == 4096);
  READS("SIMULATOR_TRACE_WARP", "12:3", s.trace_cta == 12 && s.trace_warp == 3);
  READS("SIMULATOR_TRACE_LIMIT", "7", s.trace_limit == 7);
  READS("SIMULATOR_TRACE_EVENTS", "1", s.trace_events);
}

TEST_F(SettingsDeathTest, WrongValuesAreNamed) {
  REFUSES("SIMULATOR_DEVICE", "h100", "SIMULATOR_DEVICE=h100: it must be a100, l40s, h200 or b200");
  REFUSES("SIMULATOR_SEED", "12x", "SIMULATOR_SEED=12x: it must be a number");
  REFUSES("SIMULATOR_SMS", "few", "SIMULATOR_SMS=few: it must be a number from 0 to 1024");
  REFUSES("SIMULATOR_THREADS", "-1", "SIMULATOR_THREADS=-1");
  REFUSES("SIMULATOR_LIMIT", "18446744073710", "SIMULATOR_LIMIT=18446744073710: it must be a number from 0");
  REFUSES("SIMULATOR_TRACE_WARP", "3", "SIMULATOR_TRACE_WARP=3: it must be CTA:WARP, two numbers");
  REFUSES("SIMULATOR_TRACE_WARP", "0:x", "SIMULATOR_TRACE_WARP=0:x");
  REFUSES("SIMULATOR_TRACE_EVENTS", "2", "SIMULATOR_TRACE_EVENTS=2: it must be a number from 0 to 1");
  REFUSES("SIMULATOR_CHECKS", "on", "SIMULATOR_CHECKS=on: it must be off, report or fail");
}

TEST(Devices, Limits) {
  const std::string before = settings().device;
  settings().device = "a100";
  EXPECT_EQ(device().name, "simulator:a100");
  EXPECT_EQ(device().multiprocessors, 108);
  EXPECT_EQ(device().shared_per_block_optin, 166912u);
  EXPECT_EQ(device().max_cluster, 0);
  settings().device = "l40s";
  EXPECT_EQ(device().shared_per_block_optin, 101376u);
  EXPECT_EQ(device().max_threads_per_sm, 1536);
  settings().device = "h200";
  EXPECT_EQ(device().multiprocessors, 132);
  EXPECT_EQ(device().shared_per_block_optin, 232448u);
  EXPECT_EQ(device().l2_bytes, 62914560u);
  EXPECT_EQ(device().max_cluster_nonportable, 16);
  settings().device = "b200";
  EXPECT_EQ(device().multiprocessors, 148);
  EXPECT_TRUE(device().architecture_specific);
  settings().multiprocessors = 16;
  EXPECT_EQ(device().multiprocessors, 16);
  EXPECT_EQ(device().name, "simulator:b200");
  settings().device = "h200";
  EXPECT_EQ(device().multiprocessors, 16);
  EXPECT_EQ(device().max_cluster_nonportable, 16);
  settings().multiprocessors = 133;
  EXPECT_THROW(device(), std::invalid_argument);
  settings().ctas = 3;
  EXPECT_EQ(device().multiprocessors, 133);
  settings().ctas = 0;
  settings().multiprocessors = 0;
  EXPECT_EQ(device().multiprocessors, 132);
  settings().device = "v100";
  EXPECT_THROW(device(), std::invalid_argument);
  settings().device = before;
}

}  // namespace
}  // namespace simulator
