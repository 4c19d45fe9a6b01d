// Options that choose other work than timing the rung at one shape: what they take and what they exclude.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/harness/tests/cli/fake_rungs.h"

namespace ladder {
namespace {

TEST(Options, ASweepOverModelsIsOfTheGemmAlone) {
  for (const DeviceKind device : both_kinds) {
    for (const Arguments& arguments : {Arguments{"gemm", "--sweep", "models"}, Arguments{"--sweep=models"}}) {
      const Options o = parse(arguments, device);
      EXPECT_TRUE(o.sweep && o.models && o.runs<Gemm>());
      EXPECT_FALSE(o.runs<FusedNorm>() || o.runs<NormGemm>());
      EXPECT_EQ(o.model_shapes, 200);
    }
    EXPECT_EQ(parse({"--shapes", "40", "--sweep", "models", "--seed", "7"}, device).model_shapes, 40);
  }
  EXPECT_FALSE(parse({"--sweep"}).models);
  EXPECT_FALSE(parse({"--sweep", "gemm"}).models);
  expect_refused({"fused_norm", "--sweep", "models"}, {"--sweep models", "gemm only", "fused_norm"});
  expect_refused({"norm_gemm", "--sweep", "models"}, {"--sweep models", "gemm only", "norm_gemm"},
                 DeviceKind::gpu, fake_of_three());
  expect_refused({"--sweep", "models", "--size", "8"}, {"--sweep"});
  EXPECT_EQ(parse({"--sweep", "models", "--soak", "5"}).soak, 5);
  expect_refused({"--sweep", "k", "--m", "8", "--soak", "5"}, {"--soak"});
  expect_refused({"--sweep", "--soak", "5"}, {"--soak chooses the sizes itself"});
  expect_refused({"--sweep", "model"}, {"unknown problem 'model'"});
  expect_refused({"--sweep=model"}, {"--sweep", "'models'", "'model'"});
}

TEST(Options, ASweepOverKIsOfOneMAndN) {
  for (const Arguments& arguments : {Arguments{"gemm", "--sweep", "k", "--m", "256"},
                                     Arguments{"--m=256", "--sweep=k", "--repeats", "9"}}) {
    const Options o = parse(arguments);
    EXPECT_TRUE(o.sweep && o.over_k && o.runs<Gemm>());
    EXPECT_FALSE(o.models || o.runs<FusedNorm>());
    EXPECT_EQ(o.shape<Gemm>()->m, 256);
    EXPECT_EQ(o.shape<Gemm>()->n, 4096);
  }
  EXPECT_TRUE(parse({"gemm", "--sweep", "k"}).shape<Gemm>());
  EXPECT_FALSE(parse({"--sweep"}).over_k);
  expect_refused({"gemm", "--sweep", "k", "--k", "8"}, {"--sweep k", "--m and --n alone"});
  expect_refused({"gemm", "--sweep", "k", "--size", "8"}, {"--sweep k", "--m and --n alone"});
  expect_refused({"fused_norm", "--sweep", "k"}, {"--sweep k", "gemm only", "fused_norm"});
  expect_refused({"gemm", "--sweep", "k"}, {"--sweep: the simulator measures no times"},
                 DeviceKind::simulator);
}

TEST(Options, TuneTakesSeveralVariants) {
  EXPECT_EQ(parse({"gemm", "--tune", "--variant", "plain,fast"}).variant, "plain,fast");
  EXPECT_TRUE(is_named("", "fast") && is_named("plain,fast", "fast") && is_named("fast", "fast"));
  EXPECT_FALSE(is_named("slow,faster", "fast"));
  expect_refused({"gemm", "--tune", "--variant", "plain,none"}, {"'none'"});
  expect_refused({"gemm", "--variant", "plain,fast"}, {"'plain,fast'"});
}

TEST(Options, TuneIsOfTheGemmAlone) {
  EXPECT_TRUE(parse({"--tune"}).tune && parse({"--tune"}).runs<Gemm>());
  EXPECT_FALSE(parse({"--tune"}).runs<FusedNorm>() || parse({}).tune);
  EXPECT_EQ(parse({"gemm", "--m", "8", "--tune"}).shape<Gemm>()->m, 8);
  EXPECT_TRUE(parse({"gemm", "--sweep", "models", "--tune"}).models);
  EXPECT_TRUE(parse({"gemm", "--sweep", "--tune", "--repeats", "7"}).sweep);
  expect_refused({"fused_norm", "--tune"}, {"--tune", "gemm only", "fused_norm"});
  expect_refused({"--rows", "8", "--tune"}, {"--tune", "gemm only"});
  for (const std::string other :
       {"--verify-only", "--soak=5", "--ablate", "--power=3", "--type=bf16", "--outlier=9", "--pad"})
    expect_refused({"gemm", "--tune", other}, {"--tune", other.substr(0, other.find('='))});
  expect_refused({"gemm", "--tune"}, {"--tune: the simulator measures no times: use 42_fake"},
                 DeviceKind::simulator);
}

TEST(Power, RunsInsteadOfTiming) {
  EXPECT_EQ(parse({"--power", "3"}).power_seconds, 3);
  EXPECT_EQ(parse({"gemm", "--power", "3", "--input", "zeros"}).input, Input::zeros);
  for (const Input input : {Input::normal, Input::integers, Input::ones, Input::zeros}) {
    std::string name = input_text(input);
    name = name.substr(0, name.find_first_of(" ("));
    EXPECT_EQ(parse({"--power", "1", "--input", name}).input, input) << name;
  }
  expect_refused({"--power", "0"}, {"--power", "between 1 and"});
  for (const std::string other : {"--sweep", "--verify-only", "--repeats=5", "--soak=5", "--trace=file"})
    expect_refused({"--power", "3", other}, {"--power", other.substr(0, other.find('='))});
  expect_refused({"gemm", "--input", "zeros"}, {"--input", "--power"});
  expect_refused({"fused_norm", "--power", "3", "--input", "zeros"}, {"--input", "gemm"});
  expect_refused({"--power", "3", "--input", "twos"}, {"--input", "ones", "'twos'"});
  for (const std::string option : {"--power=3", "--input=zeros"})
    expect_refused({option}, {option.substr(0, 7), "no times"}, DeviceKind::simulator);
}

TEST(Trace, ChoosesWhatHasATimeline) {
  const auto traced = [](const Arguments& arguments) {
    return parse(arguments, DeviceKind::gpu, fake_traced());
  };
  const Options o = traced({"--trace", "t.json"});
  EXPECT_EQ(o.trace, "t.json");
  EXPECT_TRUE(o.runs<Gemm>() && !o.runs<FusedNorm>());
  EXPECT_TRUE(traced({"--variant", "padded", "--trace=t.json"}).runs<Gemm>());
  const auto refused = [](const Arguments& arguments, const std::vector<std::string>& parts) {
    for (const DeviceKind device : both_kinds) expect_refused(arguments, parts, device, fake_traced());
  };
  refused({"--variant", "fast", "--trace", "t.json"}, {"has no timeline", "there is: gemm padded"});
  refused({"fused_norm", "--trace", "t.json"}, {"has no timeline", "there is: gemm padded"});
  refused({"--trace", ""}, {"--trace needs a file name"});
  for (const std::string other : {"--ablate", "--verify-only"})
    refused({other, "--trace", "t.json"}, {"--trace is for one variant at one shape"});
  expect_refused({"--trace", "t.json"}, {"has no timeline; there is: none"});
}

}  // namespace
}  // namespace ladder
