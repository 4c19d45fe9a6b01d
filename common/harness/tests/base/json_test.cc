// Results as JSON Lines.
#include "common/harness/base/json.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "common/harness/base/failure.h"

namespace ladder {
namespace {

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

TEST(JsonObject, Arrays) {
  JsonObject o;
  o.field("a", std::vector<double>{1, 0.5}).field("b", std::vector<std::string>{"m", "\"n\""});
  o.field("c", std::vector<JsonObject>{JsonObject().field("d", 1), JsonObject()});
  o.field("e", std::vector<std::string>());
  EXPECT_EQ(o.text(), R"({"a": [1, 0.5], "b": ["m", "\"n\""], "c": [{"d": 1}, {}], "e": []})");
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

}  // namespace
}  // namespace ladder
