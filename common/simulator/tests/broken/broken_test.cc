// Every mistake of broken.h's tables is found, and reported with its kind, its line, kernel and thread; its
// twin without the mistake passes without a finding, as do the kernels of sound.cu.
//   BROKEN_PROGRAM, SOUND_PROGRAM: broken.cu and its kernels, and sound.cu, linked with cuda_simulator;
//   BROKEN_SOURCES: the folder of this file
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/simulator/tests/command.h"

namespace {

struct Case {
  std::string name;
  std::string error;   // of CUDA
  std::string thread;  // "(1,0,0) of CTA (0,0,0)"; empty: depends on the order of warps
  bool fault = false;  // ends a launch on a GPU too: with checks off as well
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

constexpr const char* launch_failure = "cudaErrorLaunchFailure";
const Case cases[] = {
    {"read_past_end", "cudaErrorIllegalAddress", "(31,0,0) of CTA (1,0,0)", true},
    {"write_past_end", "cudaErrorIllegalAddress", "(31,0,0) of CTA (1,0,0)", true},
    {"read_before_start", "cudaErrorIllegalAddress", "(4,2,0) of CTA (0,0,0)", true},
    {"misaligned", "cudaErrorMisalignedAddress", "(0,0,0) of CTA (0,0,0)", true},
    {"use_after_free", "cudaErrorIllegalAddress", "(0,0,0) of CTA (0,0,0)", true},
    {"never_written", launch_failure, "(0,0,0) of CTA (0,0,0)"},
    {"write_constant", "cudaErrorIllegalAddress", "(0,0,0) of CTA (0,0,0)", true},
    {"shared_past_end", "cudaErrorIllegalAddress", "(63,0,0) of CTA (0,0,0)", true},
    {"local_past_end", "cudaErrorIllegalAddress", "(0,0,0) of CTA (0,0,0)", true},
    {"shared_never_written", launch_failure, "(16,0,0) of CTA (0,0,0)"},
    {"padding_used", launch_failure, "(0,0,0) of CTA (0,0,0)"},
    {"histogram_not_cleared", launch_failure, ""},
    {"missing_barrier", launch_failure, "(32,0,0) of CTA (0,0,0)"},
    {"missing_second_barrier", launch_failure, ""},
    {"missing_syncwarp", launch_failure, "(0,0,0) of CTA (0,0,0)"},
    {"wrong_half", launch_failure, ""},
    {"two_lanes_write_one_place", launch_failure, "(1,0,0) of CTA (0,0,0)"},
    {"count_without_atomic", launch_failure, ""},
    {"copy_not_waited_for", launch_failure, ""},
    {"copy_read_by_its_own_thread", launch_failure, ""},
    {"copy_waited_for_one_too_few", launch_failure, ""},
    {"copy_not_committed", launch_failure, ""},
    {"copy_without_barrier", launch_failure, ""},
    {"copy_refills_too_early", launch_failure, ""},
    {"copy_of_padding_used", launch_failure, "(0,0,0) of CTA (0,0,0)"},
    {"copy_of_struct_used", launch_failure, "(0,0,0) of CTA (0,0,0)"},
    {"copy_of_never_written", launch_failure, "(0,0,0) of CTA (0,0,0)"},
    {"divergent_barrier", launch_failure, ""},
    {"exit_before_barrier", launch_failure, ""},
    {"barrier_count_too_large", "cudaErrorLaunchTimeout", "", true},
    {"flag_never_set", "cudaErrorLaunchTimeout", "", true},
    {"crosswise", "cudaErrorLaunchTimeout", "", true},
    {"lock_never_released", "cudaErrorLaunchTimeout", "", true},
    {"shuffle_from_exited", launch_failure, "(0,0,0) of CTA (0,0,0)"},
    {"failed_assertion", "cudaErrorAssert", "(5,0,0) of CTA (0,0,0)", true},
    {"trap", launch_failure, "(9,0,0) of CTA (0,0,0)", true},
    {"endless_recursion", "cudaErrorIllegalAddress", "(0,0,0) of CTA (0,0,0)", true},
};

// What the program wrote to stdout and stderr; `settings`: "NAME=value …".
std::string output_of(const std::string& settings, const std::string& arguments,
                      const std::string& program = BROKEN_PROGRAM) {
  return simulator::output_of_command("env SIMULATOR_DEVICE=h200 " + settings + " '" + program + "' " +
                                      arguments);
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

struct Mark {
  std::string kind;
  std::set<std::string> lines;  // "races.cu:12"
};
Mark mark_of(const std::string& name) {
  const std::string begin = "// BUG(" + name + "): ";
  Mark mark;
  for (const auto& entry : std::filesystem::directory_iterator(BROKEN_SOURCES)) {
    if (entry.path().extension() != ".cu") continue;
    std::ifstream source(entry.path());
    std::string line;
    for (int number = 1; std::getline(source, line); ++number) {
      const size_t at = line.find(begin);
      if (at == std::string::npos) continue;
      mark.kind = line.substr(at + begin.size());
      mark.lines.insert(entry.path().filename().string() + ":" + std::to_string(number));
    }
  }
  return mark;
}

std::set<std::string> lines_in(const std::string& text) {
  static const std::regex place("[a-z_]+\\.cu:[0-9]+");
  return {std::sregex_token_iterator(text.begin(), text.end(), place), std::sregex_token_iterator()};
}

class Broken : public testing::TestWithParam<Case> {};

TEST_P(Broken, IsFound) {
  const Case& one = GetParam();
  const Mark mark = mark_of(one.name);
  ASSERT_FALSE(mark.lines.empty());
  const std::string output = output_of("SIMULATOR_SEED=0", one.name);
  SCOPED_TRACE(output);
  EXPECT_EQ(last_line(output), one.error);

  std::istringstream lines(output);
  std::string head;
  while (std::getline(lines, head) && head.rfind("simulator: ", 0) != 0) {
  }
  EXPECT_EQ(head.rfind("simulator: " + mark.kind + " in " + one.name + "<false>(", 0), 0u) << head;
  const std::set<std::string> named = lines_in(head);
  if (mark.kind != "deadlock") {  // which concerns several places
    ASSERT_EQ(named.size(), 1u) << head;
    EXPECT_TRUE(mark.lines.contains(*named.begin())) << "no such mark: " << *named.begin();
    EXPECT_NE(output.find("thread (" + (one.thread.empty() ? "" : one.thread.substr(1))), std::string::npos);
  }
  const std::set<std::string> all = lines_in(output);
  for (const std::string& line : mark.lines) EXPECT_TRUE(all.contains(line)) << line << " is not named";
  EXPECT_NE(output.find("CTA ("), std::string::npos);
}

TEST_P(Broken, IsFoundInOtherOrders) {
  for (const char* seed : {"1", "2", "3"}) {
    const std::string output = output_of(std::string("SIMULATOR_SEED=") + seed, GetParam().name);
    EXPECT_NE(last_line(output), "cudaSuccess") << "seed " << seed << ": " << output;
    EXPECT_NE(output.find("simulator: "), std::string::npos) << "seed " << seed << ": " << output;
    if (!GetParam().name.starts_with("copy_")) continue;  // reported the same whenever the copies land
    const Mark mark = mark_of(GetParam().name);
    EXPECT_NE(output.find("simulator: " + mark.kind + " in "), std::string::npos)
        << "seed " << seed << ": " << output;
    EXPECT_EQ(lines_in(output), mark.lines) << "seed " << seed << ": " << output;
  }
}

TEST_P(Broken, IsOnlyToldWhereAskedFor) {
  const Case& one = GetParam();
  const std::string report = output_of("SIMULATOR_CHECKS=report SIMULATOR_SEED=0", one.name);
  EXPECT_EQ(last_line(report), one.fault ? one.error : "cudaSuccess") << report;
  EXPECT_NE(report.find("simulator: " + mark_of(one.name).kind), std::string::npos) << report;
  const std::string off = output_of("SIMULATOR_CHECKS=off SIMULATOR_SEED=0", one.name);
  EXPECT_EQ(last_line(off), one.fault ? one.error : "cudaSuccess") << off;
  EXPECT_EQ(off.find("simulator: ") != std::string::npos, one.fault) << off;
}

TEST_P(Broken, TwinPassesWithoutAWord) {
  for (const char* seed : {"0", "1", "2", "3"}) {
    const std::string output = output_of(std::string("SIMULATOR_SEED=") + seed, GetParam().name + " fixed");
    EXPECT_EQ(output, "cudaSuccess\n") << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Broken, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case>& param) { return param.param.name; });

TEST(BrokenList, EveryMistakeIsTested) {
  std::set<std::string> tested, listed;
  for (const Case& one : cases) tested.insert(one.name);
  std::istringstream lines(output_of("SIMULATOR_SEED=0", ""));
  for (std::string line; std::getline(lines, line);) listed.insert(line);
  EXPECT_EQ(tested, listed);
}

TEST(Sound, PassesWithoutAWord) {
  std::istringstream names(output_of("SIMULATOR_SEED=0", "", SOUND_PROGRAM));
  int count = 0;
  for (std::string name; std::getline(names, name); ++count) {
    for (const char* seed : {"0", "1", "2", "3", "4"}) {
      EXPECT_EQ(output_of(std::string("SIMULATOR_SEED=") + seed, name, SOUND_PROGRAM), "cudaSuccess, right\n")
          << name << ", seed " << seed;
    }
  }
  EXPECT_EQ(count, 15);
}

}  // namespace
