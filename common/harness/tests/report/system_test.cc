// What a record and a table say of where a result comes from.
#include <gtest/gtest.h>

#include <string>

#include "common/harness/report/report.h"

namespace ladder {
namespace {

TEST(JsonObject, SaysWhereAResultComesFrom) {
  System system;
  system.device = "A \"fine\" GPU";
  system.driver = "580.1";
  system.cuda = "13.0";
  system.cublas = "13.1.0";
  system.revision = "abc";
  JsonObject o;
  add_system(o, system);
  add_card_state(o, {1500, 650.5, "power_cap"});
  EXPECT_EQ(o.text(),
            R"({"device": "A \"fine\" GPU", "driver": "580.1", "cuda": "13.0", "cublas": "13.1.0", )"
            R"("revision": "abc", "sm_clock_mhz": 1500, "power_w": 650.5, "throttle": "power_cap"})");
}

TEST(JsonObject, SaysHowItWasSimulated) {
  System system;
  system.device = "simulator:h200";
  system.cuda = "13.0";
  system.revision = "abc";
  system.checks = "fail";
  system.schedule_seed = 7;
  JsonObject o;
  add_system(o, system);
  EXPECT_EQ(o.text(), R"({"device": "simulator:h200", "cuda": "13.0", "revision": "abc", "checks": "fail", )"
                      R"("schedule_seed": 7})");
}

TEST(SystemText, NamesWhatAResultComesFrom) {
  System system;
  system.device = "A GPU";
  system.driver = "580.1";
  system.cuda = "13.0";
  system.cublas = "13.1.0";
  EXPECT_EQ(system_text(system, DeviceKind::gpu), "A GPU, driver 580.1, CUDA 13.0, cuBLAS 13.1.0");
  system.device = "simulator:h200";
  system.checks = "report";
  system.schedule_seed = 3;
  const std::string text = system_text(system, DeviceKind::simulator);
  EXPECT_TRUE(text.starts_with("simulator:h200, CUDA 13.0, schedule seed 3, findings are reported")) << text;
  EXPECT_NE(text.find("simulated"), std::string::npos) << text;
}

}  // namespace
}  // namespace ladder
