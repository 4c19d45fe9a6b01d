// The kernels of waiting.h pass in every order, without a word; each stuck twin ends in a report of a
// deadlock.
//   WAITING_PROGRAMS: the folder of simulator_waiting_BUILD, waiting.cu and its kernels linked with
//   cuda_simulator
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "common/simulator/tests/command.h"

namespace simulator {
namespace {

const std::string builds[] = {"ampere", "hopper", "debug"};

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

std::string output_of(const std::string& build, const std::string& arguments, int seed) {
  return output_of_command("env SIMULATOR_DEVICE=h200 SIMULATOR_SEED=" + std::to_string(seed) +
                           " timeout 60 '" WAITING_PROGRAMS "/simulator_waiting_" + build + "' " + arguments);
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
  for (int seed = 0; seed < 4; ++seed)
    EXPECT_EQ(output_of(build(), name(), seed), "cudaSuccess, right\n") << "seed " << seed;
}

// Who leaves out a commit or a release takes the same stage again, and reads or writes what others do.
const std::set<std::string> races_first = {"warps_with_roles", "lanes_with_roles", "counted_producers"};

TEST_P(Waiting, StuckIsReported) {
  const bool races = races_first.contains(name());
  for (int seed = 0; seed < 2; ++seed) {
    const std::string output = output_of(build(), name() + " stuck", seed);
    const std::string kernel = " in " + name() + "<true>(";
    const bool reported = output.find("simulator: deadlock" + kernel) != std::string::npos ||
                          (races && output.find("simulator: race" + kernel) != std::string::npos);
    EXPECT_TRUE(reported) << "seed " << seed << ": " << output;
    EXPECT_TRUE(output.find("cudaErrorLaunchTimeout, ") != std::string::npos ||
                (races && output.find("cudaErrorLaunchFailure, ") != std::string::npos))
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
}  // namespace simulator
