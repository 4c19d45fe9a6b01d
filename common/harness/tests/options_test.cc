// The command line: every option, every way to get one wrong, and the texts that explain them.
#include "common/harness/cli/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "common/harness/base/failure.h"

namespace ladder {
namespace {

using Arguments = std::vector<std::string>;

template <class Problem>
cudaError_t launch_nothing(const Problem&, cudaStream_t) {
  return cudaSuccess;
}

template <class Problem>
Variant<Problem> variant(const char* name, const char* what) {
  return {.name = name, .what = what, .launch = launch_nothing<Problem>};
}

const Rung& fake() {
  static const Rung rung{
      .name = "42_fake",
      .title = "does nothing, quickly",
      .needs = {8, 0, Compatibility::newer},
      .gemm = {variant<Gemm>("plain", "without the trick"), variant<Gemm>("padded", "with half of it"),
               variant<Gemm>("fast", "all of it")},
      .fused_norm = {variant<FusedNorm>("two_pass", "reads twice"),
                     variant<FusedNorm>("fast", "reads once")}};
  return rung;
}

// One that has the third problem, too.
const Rung& fake_of_three() {
  static const Rung rung = [] {
    Rung three = fake();
    three.norm_gemm = {variant<NormGemm>("two_kernels", "one after the other"),
                       variant<NormGemm>("one_kernel", "at once")};
    return three;
  }();
  return rung;
}

// One that has the fourth.
const Rung& fake_of_groups() {
  static const Rung rung = [] {
    Rung grouped = fake();
    grouped.grouped_gemm = {variant<GroupedGemm>("looped", "one by one"),
                            variant<GroupedGemm>("grouped", "at once")};
    return grouped;
  }();
  return rung;
}

// A reader's own, which has one problem.
const Rung& fake_of_one() {
  static const Rung rung{.name = "my_gemm",
                         .title = "begun as 42_fake",
                         .needs = {8, 0, Compatibility::newer},
                         .gemm = {variant<Gemm>("42_fake", "the rung"), variant<Gemm>("mine", "all of it")},
                         .fused_norm = {}};
  return rung;
}

// One whose gemm has variants in two precisions.
const Rung& fake_of_types() {
  static const Rung rung = [] {
    Rung typed = fake();
    static const Extension<Gemm> tf32{.precision = Precision::tf32};
    typed.gemm[1].extension = &tf32;
    return typed;
  }();
  return rung;
}

Options parse(const Arguments& arguments, DeviceKind device = DeviceKind::gpu, const Rung& rung = fake()) {
  return parse_options(arguments, rung, device);
}
Options parse_three(const Arguments& arguments) {
  return parse(arguments, DeviceKind::gpu, fake_of_three());
}

template <class Problem>
cudaError_t trace_nothing(const Problem&, const Timeline&, cudaStream_t) {
  return cudaSuccess;
}
// One of whose variants one has a timeline.
const Rung& fake_traced() {
  static const Rung rung = [] {
    Rung traced = fake();
    traced.gemm[1].traced = trace_nothing<Gemm>;
    return traced;
  }();
  return rung;
}

// The line with which the arguments are refused; empty, and a failed test, where they are not.
std::string refusal(const Arguments& arguments, DeviceKind device = DeviceKind::gpu,
                    const Rung& rung = fake()) {
  try {
    parse(arguments, device, rung);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, Exit::bad_usage) << failure.what();
    return failure.what();
  }
  ADD_FAILURE() << "accepted: " << testing::PrintToString(arguments);
  return {};
}

// Refused with one line that holds every one of `parts`.
void expect_refused(const Arguments& arguments, const std::vector<std::string>& parts,
                    DeviceKind device = DeviceKind::gpu, const Rung& rung = fake()) {
  const std::string line = refusal(arguments, device, rung);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 0) << line;
  EXPECT_TRUE(line.ends_with("(see --help)")) << line;
  for (const std::string& part : parts)
    EXPECT_NE(line.find(part), std::string::npos) << "'" << part << "' in: " << line;
}

std::vector<std::string> lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

constexpr DeviceKind both_kinds[] = {DeviceKind::gpu, DeviceKind::simulator};

// --- What is accepted ----------------------------------------------------------------------------

TEST(Options, Defaults) {
  const Options o = parse({});
  EXPECT_FALSE(o.help || o.list || o.ablate || o.sweep || o.verify_only || o.rows);
  EXPECT_TRUE(o.gemm && o.fused_norm);
  EXPECT_FALSE(o.gemm_shape || o.norm_shape);
  EXPECT_EQ(o.variant, "");
  EXPECT_EQ(o.reference, Reference::cublas);
  EXPECT_EQ(o.repeats, 0);
  EXPECT_EQ(o.seed, 1u);
  EXPECT_EQ(o.json, "");
}

TEST(Options, Flags) {
  EXPECT_TRUE(parse({"--help"}).help);
  EXPECT_TRUE(parse({"-h"}).help);
  EXPECT_TRUE(parse({"--list"}).list);
  EXPECT_TRUE(parse({"--ablate"}).ablate);
  EXPECT_TRUE(parse({"--sweep"}).sweep);
  EXPECT_TRUE(parse({"--verify-only"}).verify_only);
  EXPECT_TRUE(parse({"--table-rows"}).rows);
}

TEST(Options, Values) {
  EXPECT_EQ(parse({"--repeats", "7"}).repeats, 7);
  EXPECT_EQ(parse({}).launches, Launches::automatic);
  EXPECT_EQ(parse({"--launches", "stream"}).launches, Launches::stream);
  EXPECT_EQ(parse({"--launches", "graph"}).launches, Launches::graph);
  EXPECT_EQ(parse({"--seed", "0"}).seed, 0u);
  EXPECT_EQ(parse({"--seed", "18446744073709551615"}).seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse({"--json", "a b.jsonl"}).json, "a b.jsonl");
  EXPECT_EQ(parse({"--reference", "cpu"}).reference, Reference::cpu);
  EXPECT_EQ(parse({"--reference", "cublas"}).reference, Reference::cublas);
}

TEST(Options, ValuesAttachedWithAnEqualsSign) {
  EXPECT_EQ(parse({"--repeats=7"}).repeats, 7);
  EXPECT_EQ(parse({"--json=results/a=b.jsonl"}).json, "results/a=b.jsonl");
  EXPECT_EQ(parse({"--variant=fast"}).variant, "fast");
  EXPECT_EQ(parse({"--reference=cpu"}).reference, Reference::cpu);
  const Options o = parse({"gemm", "--m=1", "--n=2", "--k=3"});
  ASSERT_TRUE(o.gemm_shape);
  EXPECT_EQ(o.gemm_shape->k, 3);
}

TEST(Options, Problems) {
  EXPECT_TRUE(parse({"gemm"}).gemm);
  EXPECT_FALSE(parse({"gemm"}).fused_norm);
  EXPECT_TRUE(parse({"fused_norm"}).fused_norm);
  EXPECT_FALSE(parse({"fused_norm"}).gemm);
  EXPECT_FALSE(parse({"--verify-only", "gemm"}).fused_norm) << "the problem may stand anywhere";
}

TEST(Options, TheThirdProblemRunsWhereItIsNamed) {
  EXPECT_FALSE(parse_three({}).norm_gemm);
  EXPECT_FALSE(parse_three({"gemm"}).norm_gemm);
  const Options o = parse_three({"norm_gemm"});
  EXPECT_TRUE(o.norm_gemm);
  EXPECT_FALSE(o.gemm || o.fused_norm || o.norm_gemm_shape);
  EXPECT_TRUE(parse_three({"norm_gemm", "--variant", "two_kernels"}).norm_gemm);
}

TEST(Options, ItsSizesCompletedByTheCourses) {
  const Options o = parse_three({"norm_gemm", "--rows", "3", "--n", "24"});
  ASSERT_TRUE(o.norm_gemm_shape);
  EXPECT_EQ(o.norm_gemm_shape->rows, 3);
  EXPECT_EQ(o.norm_gemm_shape->cols, 4096);
  EXPECT_EQ(o.norm_gemm_shape->n, 24);
  EXPECT_FALSE(o.gemm_shape || o.norm_shape);
  EXPECT_EQ(parse_three({"norm_gemm", "--cols", "8"}).norm_gemm_shape->cols, 8);
  const Options all = parse_three({"norm_gemm", "--size", "256"});
  ASSERT_TRUE(all.norm_gemm_shape);
  EXPECT_EQ(all.norm_gemm_shape->rows + all.norm_gemm_shape->cols + all.norm_gemm_shape->n, 3 * 256);
}

TEST(Options, TheFourthProblemAndItsSizes) {
  const auto parsed = [](const Arguments& arguments) {
    return parse(arguments, DeviceKind::gpu, fake_of_groups());
  };
  EXPECT_FALSE(parsed({}).grouped_gemm);
  const Options o = parsed({"grouped_gemm"});
  EXPECT_TRUE(o.grouped_gemm);
  EXPECT_FALSE(o.gemm || o.fused_norm || o.norm_gemm || o.grouped_shape || o.even);
  const Options given =
      parsed({"grouped_gemm", "--groups", "3", "--m", "70", "--even", "--variant", "looped"});
  ASSERT_TRUE(given.grouped_shape);
  EXPECT_EQ(shape_text(*given.grouped_shape), "3x70x14336x4096");
  EXPECT_TRUE(given.even);
  EXPECT_FALSE(given.gemm_shape || given.norm_gemm_shape);
  EXPECT_EQ(shape_text(*parsed({"grouped_gemm", "--size", "64"}).grouped_shape), "8x64x64x64");
}

TEST(Options, GemmSizesCompletedByTheCourses) {
  const Options o = parse({"gemm", "--m", "100", "--k", "1073741824"});
  ASSERT_TRUE(o.gemm_shape);
  EXPECT_EQ(o.gemm_shape->m, 100);
  EXPECT_EQ(o.gemm_shape->n, 4096);
  EXPECT_EQ(o.gemm_shape->k, max_dimension);
  EXPECT_EQ(o.gemm_shape->a, nullptr);
}

TEST(Options, NormSizesCompletedByTheCourses) {
  const Options o = parse({"fused_norm", "--rows", "3"});
  ASSERT_TRUE(o.norm_shape);
  EXPECT_EQ(o.norm_shape->rows, 3);
  EXPECT_EQ(o.norm_shape->cols, 8192);
  EXPECT_FLOAT_EQ(o.norm_shape->eps, 1e-5f);
  EXPECT_EQ(parse({"fused_norm", "--cols", "1"}).norm_shape->rows, 16384);
}

TEST(Options, SizesChooseTheProblem) {
  EXPECT_FALSE(parse({"--m", "8"}).fused_norm);
  EXPECT_FALSE(parse({"--cols", "8"}).gemm);
}

TEST(Options, SizeSetsEveryDimension) {
  const Options o = parse({"--size", "256"});
  ASSERT_TRUE(o.gemm_shape && o.norm_shape);
  EXPECT_EQ(o.gemm_shape->m + o.gemm_shape->n + o.gemm_shape->k, 3 * 256);
  EXPECT_EQ(o.norm_shape->rows + o.norm_shape->cols, 2 * 256);
  EXPECT_FALSE(parse({"gemm", "--size", "256"}).norm_shape);
}

TEST(Options, AVariantChoosesTheProblemsThatHaveIt) {
  EXPECT_TRUE(parse({"--variant", "fast"}).gemm && parse({"--variant", "fast"}).fused_norm);
  EXPECT_FALSE(parse({"--variant", "padded"}).fused_norm);
  EXPECT_FALSE(parse({"--variant", "two_pass"}).gemm);
}

TEST(Options, ATypeChoosesTheProblemsThatHaveIt) {
  const Options tf32 = parse({"--type", "tf32", "--ablate", "--pad"}, DeviceKind::gpu, fake_of_types());
  EXPECT_EQ(tf32.type, Precision::tf32);
  EXPECT_TRUE(tf32.gemm && tf32.ablate && tf32.pad);
  EXPECT_FALSE(tf32.fused_norm);
  EXPECT_TRUE(parse({"--type", "bf16"}).fused_norm);
}

TEST(Simulator, HasSmallSizesAndTheCpuAsReference) {
  const Options o = parse({}, DeviceKind::simulator);
  EXPECT_EQ(o.device, DeviceKind::simulator);
  EXPECT_EQ(o.reference, Reference::cpu);
  EXPECT_FALSE(o.counters || o.source);
  EXPECT_EQ(parse({"--m", "100"}, DeviceKind::simulator).gemm_shape->k, 256);
  EXPECT_EQ(parse({"--rows", "3"}, DeviceKind::simulator).norm_shape->cols, 8192);
  EXPECT_EQ(parse({"--reference", "cpu"}, DeviceKind::simulator).reference, Reference::cpu);
}

TEST(Simulator, Flags) {
  EXPECT_TRUE(parse({"--counters"}, DeviceKind::simulator).counters);
  EXPECT_TRUE(parse({"--source"}, DeviceKind::simulator).source);
  EXPECT_TRUE(parse({"--verify-only", "--ablate"}, DeviceKind::simulator).verify_only);
  EXPECT_EQ(parse({"--seed", "7"}, DeviceKind::simulator).seed, 7u);
}

TEST(ProgramName, SaysWhichOfTheTwo) {
  EXPECT_EQ(program_name(fake(), DeviceKind::gpu), "42_fake");
  EXPECT_EQ(program_name(fake(), DeviceKind::simulator), "42_fake_sim");
}

// --- What is refused, and with which words -------------------------------------------------------

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
  refused({"--rows", "8"}, {"these sizes are of no problem here; there is: gemm"});
  const Options plain = parse_options({}, fake_of_one(), DeviceKind::gpu);
  EXPECT_TRUE(plain.gemm);
  EXPECT_FALSE(plain.fused_norm);
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
  refused({"--groups", "8"}, {"--groups is of grouped_gemm alone"});
  refused({"gemm", "--even"}, {"--even is of grouped_gemm alone"});
  refused({"grouped_gemm", "--groups", "0"}, {"--groups must be between 1 and"});
  refused({"grouped_gemm", "--groups", "3", "--sweep"}, {"--sweep"});
  refused({"grouped_gemm", "--even", "--soak", "9"}, {"--soak", "--even"});
  refused({"grouped_gemm", "--tune"}, {"--tune is of gemm alone"});
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

TEST(Options, ASweepOverModelsIsOfTheGemmAlone) {
  for (const DeviceKind device : both_kinds) {
    for (const Arguments& arguments : {Arguments{"gemm", "--sweep", "models"}, Arguments{"--sweep=models"}}) {
      const Options o = parse(arguments, device);
      EXPECT_TRUE(o.sweep && o.models && o.gemm);
      EXPECT_FALSE(o.fused_norm || o.norm_gemm);
      EXPECT_EQ(o.model_shapes, 200);
    }
    EXPECT_EQ(parse({"--shapes", "40", "--sweep", "models", "--seed", "7"}, device).model_shapes, 40);
  }
  EXPECT_FALSE(parse({"--sweep"}).models);
  EXPECT_FALSE(parse({"--sweep", "gemm"}).models);
  expect_refused({"fused_norm", "--sweep", "models"}, {"--sweep models", "gemm alone", "fused_norm"});
  expect_refused({"norm_gemm", "--sweep", "models"}, {"--sweep models", "gemm alone", "norm_gemm"},
                 DeviceKind::gpu, fake_of_three());
  expect_refused({"--sweep", "models", "--size", "8"}, {"--sweep"});
  expect_refused({"--sweep", "models", "--soak", "5"}, {"--soak"});
  expect_refused({"--sweep", "model"}, {"unknown problem 'model'"});
  expect_refused({"--sweep=model"}, {"--sweep", "'models'", "'model'"});
}

TEST(Options, ASweepOverKIsOfOneMAndN) {
  for (const Arguments& arguments : {Arguments{"gemm", "--sweep", "k", "--m", "256"},
                                     Arguments{"--m=256", "--sweep=k", "--repeats", "9"}}) {
    const Options o = parse(arguments);
    EXPECT_TRUE(o.sweep && o.over_k && o.gemm);
    EXPECT_FALSE(o.models || o.fused_norm);
    EXPECT_EQ(o.gemm_shape->m, 256);
    EXPECT_EQ(o.gemm_shape->n, 4096);
  }
  EXPECT_TRUE(parse({"gemm", "--sweep", "k"}).gemm_shape);
  EXPECT_FALSE(parse({"--sweep"}).over_k);
  expect_refused({"gemm", "--sweep", "k", "--k", "8"}, {"--sweep k", "--m and --n alone"});
  expect_refused({"gemm", "--sweep", "k", "--size", "8"}, {"--sweep k", "--m and --n alone"});
  expect_refused({"fused_norm", "--sweep", "k"}, {"--sweep k", "gemm alone", "fused_norm"});
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

TEST(BadUsage, ShapesAreOfASweepOverModels) {
  expect_refused({"--shapes", "9"}, {"--shapes", "--sweep models"});
  expect_refused({"--shapes", "9", "--sweep"}, {"--shapes", "--sweep models"});
  expect_refused({"--shapes", "0", "--sweep", "models"}, {"--shapes must be between 1 and 1000"});
  expect_refused({"--shapes", "1001", "--sweep", "models"}, {"--shapes must be between 1 and 1000"});
}

TEST(Options, TuneIsOfTheGemmAlone) {
  EXPECT_TRUE(parse({"--tune"}).tune && parse({"--tune"}).gemm);
  EXPECT_FALSE(parse({"--tune"}).fused_norm || parse({}).tune);
  EXPECT_EQ(parse({"gemm", "--m", "8", "--tune"}).gemm_shape->m, 8);
  EXPECT_TRUE(parse({"gemm", "--sweep", "models", "--tune"}).models);
  EXPECT_TRUE(parse({"gemm", "--sweep", "--tune", "--repeats", "7"}).sweep);
  expect_refused({"fused_norm", "--tune"}, {"--tune", "gemm alone", "fused_norm"});
  expect_refused({"--rows", "8", "--tune"}, {"--tune", "gemm alone"});
  for (const std::string other :
       {"--verify-only", "--soak=5", "--ablate", "--power=3", "--type=bf16", "--outlier=9", "--pad"})
    expect_refused({"gemm", "--tune", other}, {"--tune", other.substr(0, other.find('='))});
  expect_refused({"gemm", "--tune"}, {"--tune: the simulator measures no times: use 42_fake"},
                 DeviceKind::simulator);
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

TEST(BadUsage, AValueForAFlagOfTheSimulator) {
  for (const std::string flag : {"--counters", "--source"})
    expect_refused({flag + "=yes"}, {flag + " takes no value"}, DeviceKind::simulator);
}

// --- The texts -----------------------------------------------------------------------------------

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

TEST(Trace, ChoosesWhatHasATimeline) {
  const auto traced = [](const Arguments& arguments) {
    return parse(arguments, DeviceKind::gpu, fake_traced());
  };
  const Options o = traced({"--trace", "t.json"});
  EXPECT_EQ(o.trace, "t.json");
  EXPECT_TRUE(o.gemm && !o.fused_norm);
  EXPECT_TRUE(traced({"--variant", "padded", "--trace=t.json"}).gemm);
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

TEST(RowOperator, IsAProblemOfTheRungsThatHaveIt) {
  Rung with_rows = fake();
  with_rows.row_operator = {variant<RowOperator>("layer_norm", "one"),
                            variant<RowOperator>("softmax", "two")};
  const auto parse = [&](const std::vector<std::string>& arguments) {
    return parse_options(arguments, with_rows, DeviceKind::gpu);
  };
  EXPECT_FALSE(parse({}).row_operator);
  const Options o = parse({"row_operator", "--rows", "3", "--variant", "layer_norm"});
  EXPECT_TRUE(o.row_operator);
  EXPECT_FALSE(o.gemm || o.fused_norm || o.norm_shape);
  ASSERT_TRUE(o.row_operator_shape);
  EXPECT_EQ(o.row_operator_shape->rows, 3);
  EXPECT_EQ(o.row_operator_shape->cols, 8192);
  EXPECT_THROW(parse({"row_operator", "--m", "8"}), Failure);
  EXPECT_THROW(parse({"row_operator", "--sweep", "--cols", "8"}), Failure);
  EXPECT_THROW(parse({"row_operator", "--variant", "fast"}), Failure);
  EXPECT_THROW(parse_options({"row_operator"}, fake(), DeviceKind::gpu), Failure);
  EXPECT_NE(list_text(with_rows).find("row_operator  softmax"), std::string::npos);
  EXPECT_NE(help_text(with_rows, DeviceKind::gpu).find("\n  row_operator "), std::string::npos);
}

}  // namespace
}  // namespace ladder
