// Results as JSON Lines and as a table.
#include "common/harness/report/report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "common/harness/base/failure.h"
#include "common/harness/measure/power.h"
#include "common/harness/report/sweep_summary.h"

namespace ladder {
namespace {

// --- JSON ----------------------------------------------------------------------------------------

TEST(JsonString, EscapesWhatJsonForbids) {
  EXPECT_EQ(json_string(""), R"("")");
  EXPECT_EQ(json_string("a b"), R"("a b")");
  EXPECT_EQ(json_string(R"(say "hi")"), R"("say \"hi\"")");
  EXPECT_EQ(json_string(R"(C:\a)"), R"("C:\\a")");
  EXPECT_EQ(json_string("a\nb\tc"), R"("a\u000ab\u0009c")");
  EXPECT_EQ(json_string(std::string("a\0b\x1f", 4)), R"("a\u0000b\u001f")");
}

TEST(JsonString, LeavesUtf8Alone) {
  EXPECT_EQ(json_string("µs · √k"), "\"µs · √k\"");
}

TEST(JsonObject, FieldsInTheirOrder) {
  JsonObject o;
  o.field("rung", "00_naive").field("m", 4096).field("verified", true).field("is_rung", false);
  EXPECT_EQ(o.text(), R"({"rung": "00_naive", "m": 4096, "verified": true, "is_rung": false})");
  EXPECT_EQ(JsonObject().text(), "{}");
}

TEST(JsonObject, Numbers) {
  JsonObject o;
  o.field("a", 0.5).field("b", 1234567.0).field("c", 1e-7).field("d", -0.25);
  EXPECT_EQ(o.text(), R"({"a": 0.5, "b": 1.23457e+06, "c": 1e-07, "d": -0.25})");
}

TEST(JsonObject, LargeWholeNumbersKeepEveryDigit) {
  JsonObject o;
  o.field("a", std::numeric_limits<std::uint64_t>::max())
      .field("b", std::numeric_limits<std::int64_t>::min());
  o.field("c", std::numeric_limits<int>::min());
  EXPECT_EQ(o.text(), R"({"a": 18446744073709551615, "b": -9223372036854775808, "c": -2147483648})");
}

TEST(JsonObject, WhatIsNoNumberIsNull) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  JsonObject o;
  o.field("a", std::numeric_limits<double>::quiet_NaN()).field("b", infinity).field("c", -infinity);
  EXPECT_EQ(o.text(), R"({"a": null, "b": null, "c": null})");
}

TEST(JsonObject, ObjectsInside) {
  JsonObject inner, outer;
  inner.field("median_us", 10.0);
  outer.field("baselines", JsonObject().field("copy", inner)).field("seed", 1);
  EXPECT_EQ(outer.text(), R"({"baselines": {"copy": {"median_us": 10}}, "seed": 1})");
}

TEST(JsonObject, SaysWhereAResultComesFrom) {
  Machine machine;
  machine.device = "A \"fine\" GPU";
  machine.driver = "580.1";
  machine.cuda = "13.0";
  machine.cublas = "13.1.0";
  machine.revision = "abc";
  JsonObject o;
  add_machine(o, machine);
  add_card_state(o, {1500, 650.5, "power_cap"});
  EXPECT_EQ(o.text(),
            R"({"device": "A \"fine\" GPU", "driver": "580.1", "cuda": "13.0", "cublas": "13.1.0", )"
            R"("revision": "abc", "sm_clock_mhz": 1500, "power_w": 650.5, "throttle": "power_cap"})");
}

TEST(JsonObject, SaysHowItWasSimulated) {
  Machine machine;
  machine.device = "simulator:h200";
  machine.cuda = "13.0";
  machine.revision = "abc";
  machine.checks = "fail";
  machine.schedule_seed = 7;
  JsonObject o;
  add_machine(o, machine);
  EXPECT_EQ(o.text(), R"({"device": "simulator:h200", "cuda": "13.0", "revision": "abc", "checks": "fail", )"
                      R"("schedule_seed": 7})");
}

TEST(MachineText, NamesWhatAResultComesFrom) {
  Machine machine;
  machine.device = "A GPU";
  machine.driver = "580.1";
  machine.cuda = "13.0";
  machine.cublas = "13.1.0";
  EXPECT_EQ(machine_text(machine, DeviceKind::gpu), "A GPU, driver 580.1, CUDA 13.0, cuBLAS 13.1.0");
  machine.device = "simulator:h200";
  machine.checks = "report";
  machine.schedule_seed = 3;
  const std::string text = machine_text(machine, DeviceKind::simulator);
  EXPECT_TRUE(text.starts_with("simulator:h200, CUDA 13.0, schedule seed 3, findings are reported")) << text;
  EXPECT_NE(text.find("simulated"), std::string::npos) << text;
}

class JsonFile : public testing::Test {
 protected:
  std::string path = testing::TempDir() + "ladder_report_test_" + std::to_string(getpid()) + ".jsonl";

  void TearDown() override { std::remove(path.c_str()); }
  std::string contents() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // How opening `at` and writing a line to it ends.
  static Exit end_of_writing(const std::string& at) {
    try {
      JsonLines(at).write(JsonObject());
    } catch (const Failure& failure) {
      EXPECT_NE(std::string(failure.what()).find("'" + at + "'"), std::string::npos) << failure.what();
      return failure.exit;
    }
    return Exit::passed;
  }
};

TEST_F(JsonFile, GetsOneLinePerObject) {
  JsonLines lines(path);
  lines.write(JsonObject().field("a", 1));
  EXPECT_EQ(contents(), "{\"a\": 1}\n") << "a line is there as soon as it is written";
  lines.write(JsonObject().field("a", 2));
  EXPECT_EQ(contents(), "{\"a\": 1}\n{\"a\": 2}\n");
}

TEST_F(JsonFile, IsAppendedTo) {
  JsonLines(path).write(JsonObject().field("a", 1));
  JsonLines(path).write(JsonObject().field("a", 2));
  EXPECT_EQ(contents(), "{\"a\": 1}\n{\"a\": 2}\n");
}

TEST_F(JsonFile, WithoutAPathNothingIsWritten) {
  EXPECT_EQ(end_of_writing(""), Exit::passed);
}

TEST_F(JsonFile, InAFolderThatIsNotThereIsBadUsage) {
  EXPECT_EQ(end_of_writing(path + "/nowhere/a.jsonl"), Exit::bad_usage);
}

TEST_F(JsonFile, ThatIsAFolderIsBadUsage) {
  EXPECT_EQ(end_of_writing(testing::TempDir()), Exit::bad_usage);
}

TEST_F(JsonFile, OnAFullDiskIsSaid) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full here";
  EXPECT_EQ(end_of_writing("/dev/full"), Exit::cannot_run);
}

// --- The table -----------------------------------------------------------------------------------

// On a GPU.
std::string table_header(const char* problem) {
  return table_header(problem, DeviceKind::gpu);
}
std::string table_row(const Result& r) {
  return table_row(r, DeviceKind::gpu);
}

Timing timing(const char* name, double median_us) {
  return {name, median_us, median_us, median_us, 9, 1};
}

Result timed(double us, double score) {
  Result r;
  r.rung = "03_vectorized";
  r.problem = "gemm";
  r.variant = "vectorized";
  r.shape = "4096x4096x4096";
  r.unit = "TFLOPS";
  r.verdict.checked = 1;
  r.measurement = Measurement{
      {timing(r.variant.c_str(), us), timing("slow_rival", us), timing("fast_rival", us / 4)}, CardState{}};
  r.scores = {score, score, 4 * score};
  return r;
}

Result verified_only() {
  Result r = timed(1, 1);
  r.measurement.reset();
  r.scores.clear();
  return r;
}

// The words of a row.
std::vector<std::string> words(const std::string& row) {
  std::istringstream in(row);
  std::vector<std::string> all;
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

TEST(TableRow, OfATimedResultStandsBesideTheFastestBaseline) {
  EXPECT_EQ(words(table_row(timed(2500, 54.98))),
            (std::vector<std::string>{"03_vectorized", "4096x4096x4096", "vectorized", "2.5", "ms", "54.98",
                                      "TFLOPS", "219.9", "TFLOPS", "0.2500x", "ok"}));
}

TEST(TableRow, OfAnAblationSaysWhatTheRungIsBesideIt) {
  Result r = timed(2500, 54.98);
  r.rung_us = 2000;
  EXPECT_NE(table_row(r).find("ok  the rung is 1.250x as fast\n"), std::string::npos) << table_row(r);
  r.noise = 0.0031;
  EXPECT_NE(table_row(r).find("ok  within 0.31 % of itself\n"), std::string::npos) << table_row(r);
}

TEST(TableRow, StaysInItsColumnsFromTheSmallestScoreToTheLargest) {
  const auto column = table_header("gemm").find("check");
  for (const double score :
       {1.2e-12, 6.7e-7, 0.00123, 0.0123, 0.99996, 1.5, 22.2, 333.3, 999.96, 4444.4, 24999.0})
    EXPECT_EQ(table_row(timed(2500, score)).find("ok"), column) << table_row(timed(2500, score));
}

TEST(TableRow, TimesInTheirOwnUnit) {
  EXPECT_EQ(words(table_row(timed(7.5, 1)))[4], "us");
  EXPECT_EQ(words(table_row(timed(7.5e3, 1)))[4], "ms");
  EXPECT_EQ(words(table_row(timed(7.5e6, 1)))[4], "s");
}

TEST(TableRow, OfAVerifyOnlyResultHasNoTimes) {
  EXPECT_EQ(
      words(table_row(verified_only())),
      (std::vector<std::string>{"03_vectorized", "4096x4096x4096", "vectorized", "-", "-", "-", "-", "ok"}));
}

TEST(TableRow, OfARefusedShapeSaysWhy) {
  Result r = verified_only();
  r.refused = "n must be a multiple of 8";
  const std::string row = table_row(r);
  EXPECT_TRUE(row.ends_with("not run: n must be a multiple of 8\n")) << row;
  EXPECT_EQ(row.find("ok"), std::string::npos);
}

TEST(TableRow, OfAWrongResultSaysSo) {
  for (Result r : {verified_only(), timed(10, 1)}) {
    r.fault = "1 of 9 elements wrong; C[0,0] is nan";
    const std::string row = table_row(r);
    EXPECT_TRUE(row.ends_with("WRONG: 1 of 9 elements wrong; C[0,0] is nan\n")) << row;
    EXPECT_EQ(row.find("ok"), std::string::npos);
  }
}

TEST(TableRow, IsOneLine) {
  EXPECT_EQ(table_row(timed(10, 1)).find('\n'), table_row(timed(10, 1)).size() - 1);
  EXPECT_EQ(table_header("gemm").find('\n'), table_header("gemm").size() - 1);
}

TEST(TableHeader, NamesTheProblemAndItsRival) {
  EXPECT_EQ(words(table_header("gemm")), (std::vector<std::string>{"gemm", "shape", "variant", "time",
                                                                   "score", "cuBLAS", "ratio", "check"}));
  EXPECT_EQ(words(table_header("fused_norm"))[5], "copy");
  EXPECT_EQ(words(table_header("grouped_gemm"))[5], "cuBLAS");
  EXPECT_NE(table_header("norm_gemm").find(" two steps "), std::string::npos);
}

TEST(Table, ColumnsOfHeaderAndRowsLineUp) {
  const std::string header = table_header("gemm");
  const auto starts = [&](const char* name) { return header.find(name); };
  const auto ends = [&](const char* name) { return header.find(name) + std::string(name).size(); };

  for (const auto& [us, score] :
       {std::pair{3.25, 0.25}, {187.4, 12.5}, {2501.0, 54.98}, {1e6, 187.5}, {9.9e6, 999.9}}) {
    const std::string row = table_row(timed(us, score));
    EXPECT_EQ(row.find("4096x"), starts("shape")) << header << row;
    EXPECT_EQ(row.find("vectorized", starts("shape")), starts("variant")) << header << row;
    EXPECT_EQ(row.find("TFLOPS") + 6, ends("score")) << header << row;
    EXPECT_EQ(row.rfind("TFLOPS") + 6, ends("cuBLAS")) << header << row;
    EXPECT_EQ(row.find("x  ok") + 1, ends("ratio")) << header << row;
    EXPECT_EQ(row.find("ok"), starts("check")) << header << row;
  }
  const std::string row = table_row(verified_only());
  EXPECT_EQ(row.find("ok"), starts("check")) << header << row;
  EXPECT_EQ(row.find("- "), ends("time") - 1) << header << row;

  Result refused = verified_only();
  refused.refused = "no";
  EXPECT_EQ(table_row(refused).find("not run"), starts("variant") + 23) << header << table_row(refused);
}

TEST(Table, NormAndGemmHaveTheSameColumns) {
  const std::string gemm = table_header("gemm"), norm = table_header("fused_norm");
  EXPECT_EQ(gemm.size(), norm.size());
  for (const char* name : {"shape", "variant", "time", "score", "ratio", "check"})
    EXPECT_EQ(gemm.find(name), norm.find(name));

  Result r = timed(500, 4321);
  r.unit = "GB/s";
  r.scores = {4321, 4321, 4321};
  EXPECT_EQ(table_row(r).find("ok"), norm.find("check")) << norm << table_row(r);
}

// --- The table of the simulator ------------------------------------------------------------------

Result counted() {
  Result r = verified_only();
  Counters c;
  c.instructions = 1000;
  c.lanes = 31500;
  c.global_load = {.requests = 10, .sectors = 165};
  c.global_store = {.requests = 4, .sectors = 16};
  c.shared_load = {.requests = 20, .wavefronts = 50, .ideal_wavefronts = 20};
  c.shared_store = {.requests = 3, .wavefronts = 4, .ideal_wavefronts = 3};
  r.counters = c;
  return r;
}

TEST(SimulatedRow, HasCountsAndNoTimes) {
  EXPECT_EQ(words(table_row(counted(), DeviceKind::simulator)),
            (std::vector<std::string>{"03_vectorized", "4096x4096x4096", "vectorized", "1000", "14", "16.50",
                                      "4.00", "23", "31", "ok"}));
}

TEST(SimulatedRow, OfAVerifyOnlyResultHasNoCounts) {
  EXPECT_EQ(words(table_row(verified_only(), DeviceKind::simulator)),
            (std::vector<std::string>{"03_vectorized", "4096x4096x4096", "vectorized", "-", "-", "-", "-",
                                      "-", "-", "ok"}));
}

TEST(SimulatedRow, WithoutSharedMemoryHasNoWavefronts) {
  Result r = counted();
  r.counters->shared_load = r.counters->shared_store = {};
  const auto columns = words(table_row(r, DeviceKind::simulator));
  EXPECT_EQ(columns[7], "-");
  EXPECT_EQ(columns[8], "-");
}

TEST(SimulatedRow, SaysWhatIsWrongOrRefused) {
  Result r = counted();
  r.fault = "1 of 9 elements wrong";
  EXPECT_TRUE(table_row(r, DeviceKind::simulator).ends_with("WRONG: 1 of 9 elements wrong\n"));
  r.refused = "n must be a multiple of 8";
  EXPECT_TRUE(table_row(r, DeviceKind::simulator).ends_with("not run: n must be a multiple of 8\n"));
}

TEST(SimulatedTable, ColumnsOfHeaderAndRowsLineUp) {
  const std::string header = table_header("gemm", DeviceKind::simulator);
  ASSERT_EQ(std::count(header.begin(), header.end(), '\n'), 2);
  const std::string groups = header.substr(0, header.find('\n')),
                    names = header.substr(header.find('\n') + 1);
  const auto ends = [&](const char* name) { return names.find(name) + std::string(name).size(); };
  EXPECT_EQ(groups.find("global") + 6, ends("requests"));
  EXPECT_EQ(groups.find("sectors/request") + 15, ends("store"));
  EXPECT_EQ(groups.size(), ends("excess"));
  for (const Result& r : {counted(), verified_only()}) {
    const std::string row = table_row(r, DeviceKind::simulator);
    EXPECT_EQ(row.find("4096x"), names.find("shape")) << header << row;
    EXPECT_EQ(row.find("ok"), names.find("check")) << header << row;
  }
  EXPECT_EQ(table_row(counted(), DeviceKind::simulator).find("16.50") + 5, ends("load"));
  EXPECT_EQ(table_header("fused_norm", DeviceKind::simulator).size(), header.size());
}

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

// --- Below the table of a sweep ------------------------------------------------------------------

TEST(SweepSummary, GeometricMean) {
  EXPECT_DOUBLE_EQ(geometric_mean({3}), 3);
  EXPECT_DOUBLE_EQ(geometric_mean({0.5, 2}), 1);
  EXPECT_NEAR(geometric_mean({1, 10, 100}), 10, 1e-12);
}

TEST(SweepSummary, OfNothingIsNothing) {
  EXPECT_EQ(ratio_summary({}, ""), "");
  EXPECT_EQ(regret_summary({}), "");
}

TEST(SweepSummary, OfRatios) {
  const std::string text = ratio_summary({{gemm_shape(1, 8, 8), 2},
                                          {gemm_shape(64, 8, 8), 0.5},
                                          {gemm_shape(65, 8, 8), 0.97},
                                          {gemm_shape(256, 8, 16), 0.97},
                                          {gemm_shape(1025, 8, 8), 0.9}},
                                         "in a dream ");
  EXPECT_EQ(text,
            "\n5 shapes in a dream beside the faster of cuBLAS's two: geometric mean 0.9673x\n"
            "  1.00x or more     1\n"
            "  0.97x or more     3\n"
            "  0.90x or more     4\n"
            "  the worst    0.5000x  64x8x8\n"
            "  m 1-64       1.0000x  of 2 shapes\n"
            "  m 65-256     0.9700x  of 2 shapes\n"
            "  m above      0.9000x  of 1 shape\n");
}

TEST(SweepSummary, OfRegrets) {
  std::vector<ShapeRegret> regrets;
  for (int i = 10; i > 0; --i) regrets.push_back({gemm_shape(i, 8, 8), i / 100.0});
  EXPECT_EQ(regret_summary(regrets),
            "\n10 shapes beside the fastest variant of each: regret 5.50 % in the mean, "
            "9.00 % at the 90th percentile, 10.00 % at worst (10x8x8)\n");
  EXPECT_EQ(regret_summary({{gemm_shape(7, 8, 8), 0}}),
            "\n1 shape beside the fastest variant of each: regret 0.00 % in the mean, "
            "0.00 % at the 90th percentile, 0.00 % at worst (7x8x8)\n");
}

}  // namespace
}  // namespace ladder
