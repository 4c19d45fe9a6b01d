// The file that --trace writes: one time for the clocks of all SMs, bars, names; and what is said of it.
#include "common/harness/timeline/file.h"

#include <gtest/gtest.h>

#include <string>

#include "common/harness/base/failure.h"

namespace ladder {
namespace {

// Two SMs whose clocks, of 2 cycles a nanosecond, began at different moments.
Recording two_sms() {
  constexpr unsigned long long ns = 1'700'000'000'000'000'000, clock[] = {5'000'000, 9'000'000'000'000};
  Recording recording;
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned long long start = clock[i];
    RecordedWarp warp{};
    warp.info = {
        {start + 200 * i, start + 2000}, {ns + 100 * i, ns + 1000}, 7 + i, 30 + i, 4 * i, Role(1 + i), 2};
    warp.spans = {{start + 400, 200, describe(Doing::wait_for_stage, 0, 3)},
                  {start + 2000, 1600, describe(Doing::multiply, 4095, 65535)}};
    recording.warps.push_back(warp);
  }
  return recording;
}

TEST(Timeline, ClocksOfSmsBecomeOneTime) {
  const std::string text = timeline_text(two_sms(), JsonObject().field("rung", "a \"gemm\""));
  for (const char* line :
       {R"({"otherData": {"rung": "a \"gemm\""},)",
        R"({"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "CTA 7 on SM 30"}})",
        R"({"ph": "M", "name": "thread_name", "pid": 8, "tid": 4, "args": {"name": "consumer, warp 4"}})",
        R"({"ph": "X", "name": "wait for a stage", "pid": 7, "tid": 0, "ts": 0.100, "dur": 0.100, )"
        R"("args": {"tile": 0, "k_tile": 3}})",
        R"({"ph": "X", "name": "multiply", "pid": 7, "tid": 0, "ts": 0.200, "dur": 0.800, )"
        R"("args": {"tile": 4095, "k_tile": 65535}})",
        R"({"ph": "X", "name": "wait for a stage", "pid": 8, "tid": 4, "ts": 0.100, "dur": 0.100, )",
        R"({"ph": "X", "name": "multiply", "pid": 8, "tid": 4, "ts": 0.200, "dur": 0.800, )"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nin\n" << text;
  EXPECT_TRUE(text.ends_with("]}\n"));
  EXPECT_EQ(text.find(",\n\n"), std::string::npos);
}

TEST(Timeline, WithoutWarpsItIsEmpty) {
  EXPECT_EQ(timeline_text({}, {}), "{\"otherData\": {},\n\"traceEvents\": [\n\n]}\n");
}

TEST(Timeline, WhatIsLostIsSaid) {
  Recording recording = two_sms();
  EXPECT_EQ(summary_of(recording), "4 spans of 2 warps of 2 CTAs");
  recording.lost_warps = 5;
  recording.lost_spans = 7;
  EXPECT_EQ(summary_of(recording),
            "4 spans of 2 warps of 2 CTAs; no room for 5 more warps; no room for 7 more spans");
  EXPECT_EQ(cost_text(200, 203), "; 203.0 us traced, 200.0 us else (+1.5 %)");
}

TEST(Timeline, AFileThatCannotBeWrittenIsAnError) {
  try {
    write_timeline(testing::TempDir() + "no/such/folder/t.json", two_sms(), {});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, Exit::cannot_run);
    EXPECT_NE(std::string(failure.what()).find("cannot write "), std::string::npos) << failure.what();
  }
}

}  // namespace
}  // namespace ladder
