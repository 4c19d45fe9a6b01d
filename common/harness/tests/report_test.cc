// Results as JSON Lines and as a table.
#include "common/harness/report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "common/harness/failure.h"

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

}  // namespace
}  // namespace ladder
