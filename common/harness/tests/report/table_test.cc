// Results as a table.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "common/harness/problems/registry.h"
#include "common/harness/report/report.h"

namespace ladder {
namespace {

std::string table_header(const std::string& problem, DeviceKind device = DeviceKind::gpu) {
  std::string header;
  for_each_problem([&]<class Problem>() {
    using Info = ProblemInfo<Problem>;
    if (problem == Info::name) header = table_header(Info::name, Info::rival, device);
  });
  return header;
}
// On a GPU.
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

}  // namespace
}  // namespace ladder
