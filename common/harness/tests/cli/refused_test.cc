// Every way to get a command line wrong, and the words that say so.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/harness/tests/cli/fake_rungs.h"

namespace ladder {
namespace {

TEST(BadUsage, UnknownOption) {
  expect_refused({"--fast"}, {"unknown option '--fast'"});
  expect_refused({"-m", "8"}, {"unknown option '-m'"});
  expect_refused({"--sizes=8"}, {"unknown option '--sizes'"});
  expect_refused({"--"}, {"unknown option '--'"});
}

TEST(BadUsage, UnknownProblemNamesBoth) {
  expect_refused({"conv"}, {"unknown problem 'conv'", "gemm", "fused_norm"});
  expect_refused({""}, {"unknown problem ''"});
  expect_refused({"GEMM"}, {"unknown problem 'GEMM'"});
}

TEST(BadUsage, TwoProblems) {
  expect_refused({"gemm", "fused_norm"}, {"one problem", "gemm", "fused_norm"});
  expect_refused({"gemm", "gemm"}, {"one problem"});
}

TEST(BadUsage, UnknownVariantListsWhatThereIs) {
  expect_refused({"--variant", "nope"}, {"no variant 'nope'", "plain", "padded", "two_pass", "fast"});
  expect_refused({"gemm", "--variant", "two_pass"}, {"no variant 'two_pass'", "plain, padded, fast"});
  expect_refused({"fused_norm", "--variant", "plain"}, {"no variant 'plain'", "two_pass, fast"});
  expect_refused({"--m", "8", "--variant", "two_pass"}, {"no variant 'two_pass'", "plain, padded, fast"});
  EXPECT_EQ(refusal({"gemm", "--variant", "nope"}).find("two_pass"), std::string::npos);
}

TEST(BadUsage, TypesThatAreNone) {
  expect_refused({"--type", "int8"}, {"no type 'int8'", "bf16, f16, f16_f16, tf32", "s8"});
  expect_refused({"--type", "tf32"}, {"no variant of type tf32", "there is: bf16"});
  expect_refused({"fused_norm", "--type", "tf32"}, {"no variant of type tf32"}, DeviceKind::gpu,
                 fake_of_types());
  expect_refused({"--type", "bf16", "--variant", "fast"}, {"--type", "--variant"});
  expect_refused({"--type"}, {"--type needs a value"});
}

TEST(BadUsage, OutliersThatAreNone) {
  EXPECT_EQ(parse({"gemm", "--outlier", "9"}).outlier, 9);
  expect_refused({"fused_norm", "--outlier", "9"}, {"--outlier", "gemm"});
  expect_refused({"--outlier", "9", "--soak", "5"}, {"--outlier", "--soak"});
  expect_refused({"--outlier", "0"}, {"--outlier", "between 1 and"});
}

TEST(BadUsage, PartsOfL2ThatAreNone) {
  EXPECT_EQ(parse({"gemm", "--l2-set-aside", "30", "--ablate"}).l2_set_aside, 30);
  EXPECT_EQ(parse({}).l2_set_aside, 0);
  expect_refused({"--l2-set-aside", "0"}, {"--l2-set-aside", "between 1 and 1024"});
  for (const std::string other : {"--soak=5", "--sweep", "--tune", "--power=3"})
    expect_refused({"--l2-set-aside", "9", other}, {"--l2-set-aside", other.substr(0, other.find('='))});
  expect_refused({"--l2-set-aside", "9"}, {"--l2-set-aside: the simulator measures no times: use 42_fake"},
                 DeviceKind::simulator);
}

TEST(BadUsage, PadWithoutAGemm) {
  expect_refused({"fused_norm", "--pad"}, {"--pad", "gemm"});
  expect_refused({"--pad", "--soak", "5"}, {"--pad", "--soak"});
}

TEST(BadUsage, EmptyVariant) {
  expect_refused({"--variant", ""}, {"--variant", "--list"});
  expect_refused({"--variant="}, {"--variant", "--list"});
}

TEST(BadUsage, SizesThatAreNoWholeNumbers) {
  for (const std::string option : {"--m", "--n", "--k", "--rows", "--cols", "--size"})
    for (const std::string text :
         {"", "x", "1e3", "12abc", "2^40", "8.0", "0x10", " 8", "8 ", "+8", "-", "--k"})
      expect_refused({option, text}, {option + " takes a whole number, not '" + text + "'"});
}

TEST(BadUsage, SizesOutOfRange) {
  for (const std::string option : {"--m", "--n", "--k", "--rows", "--cols", "--size"})
    for (const std::string text :
         {"0", "-1", "-4096", "1073741825", "2147483648", "1099511627776", "99999999999999999999999999"})
      expect_refused({option, text}, {option + " must be between 1 and 1073741824, not " + text});
}

TEST(BadUsage, OtherNumbers) {
  expect_refused({"--repeats", "0"}, {"--repeats must be between 1 and 1000000, not 0"});
  expect_refused({"--repeats", "1000001"}, {"--repeats", "1000001"});
  expect_refused({"--repeats=many"}, {"--repeats takes a whole number, not 'many'"});
  expect_refused({"--seed", "-1"}, {"--seed", "-1"});
  expect_refused({"--seed", "18446744073709551616"}, {"--seed must be between 0 and 18446744073709551615"});
}

TEST(BadUsage, MissingValue) {
  for (const std::string option : {"--m", "--n", "--k", "--rows", "--cols", "--size", "--variant",
                                   "--repeats", "--seed", "--reference", "--json"})
    expect_refused({"gemm", option}, {option + " needs a value"});
}

TEST(BadUsage, AValueForAFlag) {
  for (const std::string flag : {"--help", "--list", "--ablate", "--sweep", "--verify-only", "--table-rows"})
    expect_refused({flag + "=yes"}, {flag + " takes no value"});
}

TEST(BadUsage, EmptyFileName) {
  expect_refused({"--json", ""}, {"--json"});
  expect_refused({"--json="}, {"--json"});
}

TEST(BadUsage, UnknownReference) {
  expect_refused({"--reference", "mkl"}, {"--reference is cublas or cpu, not 'mkl'"});
  expect_refused({"--reference="}, {"--reference is cublas or cpu, not ''"});
}

TEST(BadUsage, SizesOfTheOtherProblem) {
  expect_refused({"gemm", "--rows", "8"}, {"gemm takes --m, --n, --k or --size", "--rows"});
  expect_refused({"--cols", "8", "gemm"}, {"gemm takes", "--cols"});
  expect_refused({"fused_norm", "--k", "8"}, {"fused_norm takes --rows, --cols or --size", "--k"});
  expect_refused({"--m", "8", "--rows", "8"}, {"not both"});
}

TEST(BadUsage, AProgramOfOneProblem) {
  const auto refused = [](const Arguments& arguments, const std::vector<std::string>& parts) {
    expect_refused(arguments, parts, DeviceKind::gpu, fake_of_one());
  };
  refused({"fused_norm"}, {"my_gemm has no fused_norm; there is: gemm"});
  refused({"--rows", "8"}, {"no problem here has these sizes; there is: gemm"});
  const Options plain = parse_options({}, fake_of_one(), DeviceKind::gpu);
  EXPECT_TRUE(plain.runs<Gemm>());
  EXPECT_FALSE(plain.runs<FusedNorm>());
}

TEST(BadUsage, TheThirdProblem) {
  const auto refused = [](const Arguments& arguments, const std::vector<std::string>& parts) {
    expect_refused(arguments, parts, DeviceKind::gpu, fake_of_three());
  };
  expect_refused({"norm_gemm"}, {"42_fake has no norm_gemm; there is: gemm, fused_norm"});
  refused({"conv"}, {"unknown problem 'conv'; there is: gemm, fused_norm, norm_gemm"});
  refused({"norm_gemm", "gemm"}, {"one problem"});
  refused({"norm_gemm", "--m", "8"}, {"norm_gemm takes --rows, --cols, --n or --size", "--m"});
  refused({"norm_gemm", "--k", "8"}, {"--k"});
  refused({"norm_gemm", "--n", "8", "--size", "8"}, {"--size"});
  refused({"norm_gemm", "--sweep", "--n", "8"}, {"--sweep"});
  refused({"norm_gemm", "--soak", "9", "--rows", "8"}, {"--soak"});
  refused({"norm_gemm", "--variant", "fast"}, {"no variant 'fast' here; there is: two_kernels, one_kernel"});
  refused({"--variant", "one_kernel"}, {"no variant 'one_kernel'"});
}

TEST(BadUsage, TheFourthProblem) {
  const auto refused = [](const Arguments& arguments, const std::vector<std::string>& parts) {
    expect_refused(arguments, parts, DeviceKind::gpu, fake_of_groups());
  };
  expect_refused({"grouped_gemm"}, {"42_fake has no grouped_gemm; there is: gemm, fused_norm"});
  refused({"grouped_gemm", "--rows", "8"},
          {"grouped_gemm takes --groups, --m, --n, --k or --size", "--rows"});
  refused({"--groups", "8"}, {"--groups is for grouped_gemm only"});
  refused({"gemm", "--even"}, {"--even is for grouped_gemm only"});
  refused({"grouped_gemm", "--groups", "0"}, {"--groups must be between 1 and"});
  refused({"grouped_gemm", "--groups", "3", "--sweep"}, {"--sweep"});
  refused({"grouped_gemm", "--even", "--soak", "9"}, {"--soak", "--even"});
  refused({"grouped_gemm", "--tune"}, {"--tune is for gemm only"});
  refused({"grouped_gemm", "--variant", "fast"}, {"no variant 'fast' here; there is: looped, grouped"});
}

TEST(BadUsage, LaunchesAreOneByOneOrAGraph) {
  expect_refused({"--launches", "batch"}, {"--launches is stream or graph, not 'batch'"});
}

TEST(BadUsage, SizeBesideSizes) {
  expect_refused({"--size", "8", "--m", "8"}, {"--size", "--m"});
  expect_refused({"--size", "8", "--cols", "8"}, {"--size", "--cols"});
}

TEST(BadUsage, SweepBesideSizes) {
  expect_refused({"--sweep", "--size", "8"}, {"--sweep"});
  expect_refused({"--sweep", "--m", "8"}, {"--sweep"});
  expect_refused({"--rows", "8", "--sweep"}, {"--sweep"});
}

TEST(BadUsage, ShapesAreOfASweepOverModels) {
  expect_refused({"--shapes", "9"}, {"--shapes", "--sweep models"});
  expect_refused({"--shapes", "9", "--sweep"}, {"--shapes", "--sweep models"});
  expect_refused({"--shapes", "0", "--sweep", "models"}, {"--shapes must be between 1 and 1000"});
  expect_refused({"--shapes", "1001", "--sweep", "models"}, {"--shapes must be between 1 and 1000"});
}

TEST(BadUsage, SoakBesideAnythingThatChoosesSizesOrWork) {
  EXPECT_EQ(parse({"gemm", "--soak", "70", "--variant", "fast"}).soak, 70);
  expect_refused({"--soak", "0"}, {"--soak"});
  for (const std::vector<std::string>& other : {std::vector<std::string>{"--size", "8"},
                                                {"--m", "8"},
                                                {"--cols", "8"},
                                                {"--ablate"},
                                                {"--sweep"},
                                                {"--verify-only"}}) {
    std::vector<std::string> all{"--soak", "10"};
    all.insert(all.end(), other.begin(), other.end());
    expect_refused(all, {"--soak"});
  }
}

TEST(BadUsage, AblateBesideVariant) {
  expect_refused({"--ablate", "--variant", "fast"}, {"--ablate", "--variant"});
  expect_refused({"--variant", "fast", "--ablate"}, {"--ablate", "--variant"});
}

TEST(BadUsage, CountsOnAGpu) {
  for (const std::string option : {"--counters", "--source"})
    expect_refused({option}, {option + ": only on the simulator: use 42_fake_sim, or ncu"});
}

TEST(BadUsage, TimesOnTheSimulator) {
  for (const std::string option : {"--sweep", "--repeats", "--repeats=7", "--launches=graph"})
    expect_refused({option}, {option.substr(0, option.find('=')), "no times: use 42_fake"},
                   DeviceKind::simulator);
}

TEST(BadUsage, CublasOnTheSimulator) {
  expect_refused({"--reference", "cublas"}, {"--reference cublas: the simulator has no cuBLAS"},
                 DeviceKind::simulator);
  expect_refused({"--reference", "mkl"}, {"not 'mkl'"}, DeviceKind::simulator);
}

TEST(BadUsage, CountsBesideVerifyOnly) {
  for (const std::string option : {"--counters", "--source"})
    expect_refused({option, "--verify-only"}, {option, "--verify-only", "not both"}, DeviceKind::simulator);
}

TEST(BadUsage, FewCtas) {
  expect_refused({"gemm", "--size", "9", "--ctas", "3"}, {"--ctas", "use 42_fake_sim"});
  const auto refused = [](std::vector<std::string> arguments, const std::string& why) {
    expect_refused(std::move(arguments), {"--ctas", why}, DeviceKind::simulator);
  };
  refused({"gemm", "--ctas", "3"}, "give its sizes");
  refused({"gemm", "--size", "9", "--ctas", "0"}, "between 1");
  for (const char* other : {"--counters", "--source", "--pad", "--outlier=9", "--json=x"})
    refused({"gemm", "--size", "9", "--ctas", "3", other}, "beside it only");
}

TEST(BadUsage, AValueForAFlagOfTheSimulator) {
  for (const std::string flag : {"--counters", "--source"})
    expect_refused({flag + "=yes"}, {flag + " takes no value"}, DeviceKind::simulator);
}

}  // namespace
}  // namespace ladder
