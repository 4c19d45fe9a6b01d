// The texts that explain the options, and the list of variants.
#include <gtest/gtest.h>

#include <cctype>
#include <sstream>
#include <string>
#include <vector>

#include "common/harness/tests/cli/fake_rungs.h"

namespace ladder {
namespace {

TEST(HelpText, NamesTheRungAndEveryOption) {
  const std::string help = help_text(fake(), DeviceKind::gpu);
  for (const char* part : {"42_fake",        "does nothing, quickly",
                           "gemm",           "fused_norm",
                           "--m ",           "--n ",
                           "--k ",           "--rows ",
                           "--cols ",        "--size ",
                           "--variant ",     "--ablate",
                           "--sweep",        "--verify-only",
                           "--sweep models", "--shapes ",
                           "--tune ",        "--soak ",
                           "--repeats ",     "--seed ",
                           "--reference ",   "--launches ",
                           "norm_gemm ",     "--json ",
                           "grouped_gemm ",  "--groups ",
                           "--even",         "--table-rows",
                           "--list",         "--help",
                           "4096x4096x4096", "16384x8192"})
    EXPECT_NE(help.find(part), std::string::npos) << part;
}

TEST(HelpText, OfTheSimulatorHasCountsAndNoTimes) {
  const std::string help = help_text(fake(), DeviceKind::simulator);
  for (const char* part : {"usage: 42_fake_sim ", "--counters", "--source", "--ablate", "--verify-only",
                           "--seed ", "--json ", "--table-rows", "256x256x256", "64x8192", "SIMULATOR_DEVICE",
                           "SIMULATOR_SEED", "SIMULATOR_CHECKS", "SIMULATOR_THREADS"})
    EXPECT_NE(help.find(part), std::string::npos) << part;
  for (const char* part : {"--sweep", "--repeats", "--reference", "cuBLAS", "4096"})
    EXPECT_EQ(help.find(part), std::string::npos) << part;
}

TEST(HelpText, ExplainsEveryExitCode) {
  for (const DeviceKind device : both_kinds) {
    const std::string help = help_text(fake(), device);
    for (const char* part : {"0 passed", "1 wrong result", "2 bad usage", "77 cannot run here"})
      EXPECT_NE(help.find(part), std::string::npos) << part;
  }
}

// Every option that the help names is one that the parser knows and takes on that device.
TEST(HelpText, NamesNoOptionThatThereIsNot) {
  for (const DeviceKind device : both_kinds) {
    std::istringstream words(help_text(fake(), device));
    int options = 0;
    for (std::string word; words >> word;) {
      if (!word.starts_with("--")) continue;
      while (!std::isalpha(static_cast<unsigned char>(word.back()))) word.pop_back();
      ++options;
      try {
        parse({word}, device);
      } catch (const Failure& failure) {
        const std::string line = failure.what();
        EXPECT_EQ(line.find("unknown"), std::string::npos) << line;
        EXPECT_EQ(line.find(word + ": "), std::string::npos) << line;
      }
    }
    EXPECT_GE(options, 16);
  }
}

TEST(HelpText, FitsATerminal) {
  for (const DeviceKind device : both_kinds)
    for (const std::string& line : lines(help_text(fake(), device))) EXPECT_LE(line.size(), 120u) << line;
}

TEST(ListText, OneLinePerVariantInTheChaptersOrder) {
  const auto list = lines(list_text(fake()));
  ASSERT_EQ(list.size(), 5u);
  const char* expected[][3] = {{"gemm", " plain ", "without the trick"},
                               {"gemm", " padded ", "with half of it"},
                               {"gemm", " fast ", "all of it"},
                               {"fused_norm", " two_pass ", "reads twice"},
                               {"fused_norm", " fast ", "reads once"}};
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(list[i].starts_with(expected[i][0])) << list[i];
    for (const char* part : expected[i])
      EXPECT_NE(list[i].find(part), std::string::npos) << part << " in: " << list[i];
  }
}

TEST(ListText, MarksTheRungItself) {
  const auto list = lines(list_text(fake()));
  ASSERT_EQ(list.size(), 5u);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(list[i].find("(the rung)") != std::string::npos, i == 2 || i == 4) << list[i];
}

TEST(ListText, HasTheThirdProblemWhereTheRungHas) {
  const auto list = lines(list_text(fake_of_three()));
  ASSERT_EQ(list.size(), 7u);
  EXPECT_TRUE(list[5].starts_with("norm_gemm ")) << list[5];
  EXPECT_NE(list[6].find("one_kernel"), std::string::npos) << list[6];
  EXPECT_NE(list[6].find("(the rung)"), std::string::npos) << list[6];
  const auto groups = lines(list_text(fake_of_groups()));
  ASSERT_EQ(groups.size(), 7u);
  EXPECT_TRUE(groups[5].starts_with("grouped_gemm ")) << groups[5];
}

TEST(ListJson, WhatTheHarnessKnowsOfAProblem) {
  const auto problems = list_json(fake());
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(
      problems[1].text(),
      R"({"record": "problem", "rung": "42_fake", "problem": "fused_norm", )"
      R"("what": "h = x + residual; y = RMSNorm(h) gamma, row by row, bf16", )"
      R"("dimensions": ["rows", "cols"], )"
      R"("default_shape": {"gpu": "16384x8192", "simulator": "64x8192"}, "runs_unnamed": true, )"
      R"("score": "gbps", "unit": "GB/s", "baseline": "copy", "variants": [)"
      R"({"name": "two_pass", "what": "reads twice", "is_rung": false, "type": "bf16", "traced": false}, )"
      R"({"name": "fast", "what": "reads once", "is_rung": true, "type": "bf16", "traced": false}]})");
}

TEST(ListJson, OnlyProblemsThatTheRungHas) {
  const auto three = list_json(fake_of_three());
  ASSERT_EQ(three.size(), 3u);
  EXPECT_NE(three[2].text().find(R"("problem": "norm_gemm")"), std::string::npos) << three[2].text();
  EXPECT_NE(three[2].text().find(R"("dimensions": ["rows", "cols", "n"])"), std::string::npos);
}

}  // namespace
}  // namespace ladder
