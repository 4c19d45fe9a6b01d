// The kernels of waiting.h pass in every order, without a word; each stuck twin ends in a report of a
// deadlock.
//   WAITING_PROGRAMS: the folder of simulator_waiting_BUILD, waiting.cu and its kernels linked with
//   cuda_simulator
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace {

const std::string builds[] = {"ampere", "hopper", "debug"};

// What is not so yet. Silent:
const std::set<std::string> not_yet_silent_in_debug = {
    "try_wait",  // CUDA 13.0's try_wait_for() does read a time that it has not set
    "unified",   // bit-fields of a pipeline, one after the other
    "warps_with_roles", "lanes_with_roles", "counted_producers",
};
// Reported, built for the debugger: threads that poll in functions that are not inlined.
const std::set<std::string> not_yet_reported_in_debug = {
    "relaxed_flag", "volatile_store",    "fences", "turns", "bytes", "tickets", "counted",
    "flag_lock",    "barrier_in_global",
};
// Reported: threads that poll the clock as well.
const std::set<std::string> not_yet_reported = {
    "wait_notify",
    "sizes",
    "flag_wait",
    "bool_wait",
    "block_barrier",
    "odd_lanes",
    "arrive_or_wait",
    "tokens",
    "drop",
    "try_wait",
    "device_barrier",
    "completion",
    "thread_pipeline",
    "unified",
    "warps_with_roles",
    "lanes_with_roles",
    "counted_producers",
    "copies_arrive",
    "counting",
    "binary",
    "bounded_buffer",
    "timed",
    "latch",
    "latch_of_a_grid",
};

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

// What the program wrote to stdout and stderr.
std::string output_of(const std::string& build, const std::string& arguments, int seed) {
  const std::string command = "env SIMULATOR_DEVICE=h200 SIMULATOR_SEED=" + std::to_string(seed) +
                              " timeout 30 '" WAITING_PROGRAMS "/simulator_waiting_" + build + "' " +
                              arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), count);
  const int status = pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    output += "\nended with status " + std::to_string(status);
  return output;
}

std::vector<std::string> names() {
  static const std::vector<std::string> all = words(output_of(builds[0], "", 0));
  return all;
}

class Waiting : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  const std::string& build() const { return std::get<0>(GetParam()); }
  const std::string& name() const { return std::get<1>(GetParam()); }
};

TEST_P(Waiting, PassesWithoutAWord) {
  if (build() == "debug" && not_yet_silent_in_debug.contains(name())) GTEST_SKIP();
  for (int seed = 0; seed < 4; ++seed)
    EXPECT_EQ(output_of(build(), name(), seed), "cudaSuccess, right\n") << "seed " << seed;
}

TEST_P(Waiting, StuckIsReported) {
  if (not_yet_reported.contains(name())) GTEST_SKIP();
  if (build() == "debug" && not_yet_reported_in_debug.contains(name())) GTEST_SKIP();
  for (int seed = 0; seed < 2; ++seed) {
    const std::string output = output_of(build(), name() + " stuck", seed);
    EXPECT_NE(output.find("simulator: deadlock in " + name() + "<true>("), std::string::npos)
        << "seed " << seed << ": " << output;
    EXPECT_NE(output.find("cudaErrorLaunchTimeout, "), std::string::npos)
        << "seed " << seed << ": " << output;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Waiting,
                         testing::Combine(testing::ValuesIn(builds), testing::ValuesIn(names())),
                         [](const testing::TestParamInfo<Waiting::ParamType>& param) {
                           return std::get<1>(param.param) + "_" + std::get<0>(param.param);
                         });

TEST(WaitingList, IsComplete) {
  EXPECT_EQ(names().size(), 34u);
}

}  // namespace
