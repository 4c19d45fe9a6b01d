// cli_test PROGRAM: runs a program of the course as a reader would, and reads its exit code and what it
// prints. Suite Rung is for a rung, Simulated for a rung on the simulator, Refusing for refusing_rung.cu,
// Benchmark for common/benchmarks; the caller picks one with --gtest_filter.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string program;

using Arguments = std::vector<std::string>;

struct Ended {
  int exit_code = -1;  // -1: killed by a signal
  std::string out, err;
};

std::string contents(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int c; (c = std::fgetc(file)) != EOF;) text += char(c);
  std::fclose(file);
  return text;
}

// Runs the program where it finds no GPU, whatever the machine has, with the simulator's defaults but for
// `variable` = `value`.
Ended run_program(const Arguments& arguments, const char* variable = nullptr, const char* value = "") {
  std::vector<char*> argv{program.data()};
  Arguments copies = arguments;
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);

  std::FILE *out = std::tmpfile(), *err = std::tmpfile();
  const pid_t child = fork();
  if (child == 0) {
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    for (const char* name : {"SIMULATOR_DEVICE", "SIMULATOR_SEED", "SIMULATOR_CHECKS", "SIMULATOR_COUNTERS"})
      unsetenv(name);
    if (variable) setenv(variable, value, 1);
    execv(program.c_str(), argv.data());
    _exit(126);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Ended ended;
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  ended.out = contents(out);
  ended.err = contents(err);
  return ended;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// How many rows say that a result is right. That of a variant which chooses goes on with the kernel.
int rows_that_passed(const std::string& text) {
  int rows = 0;
  for (const char* end : {"  ok\n", "  ok  kernel: "})
    for (std::size_t at = 0; (at = text.find(end, at)) != std::string::npos; ++at) ++rows;
  return rows;
}

std::string name() {
  return program.substr(program.rfind('/') + 1);
}

// One line on stderr, after the program's name, that holds `part`; nothing of a crash.
void expect_one_line(const Ended& ended, const std::string& part) {
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  EXPECT_TRUE(ended.err.ends_with('\n')) << ended.err;
  EXPECT_TRUE(ended.err.starts_with(name() + ": ")) << ended.err;
  EXPECT_TRUE(contains(ended.err, part)) << "'" << part << "' in: " << ended.err;
  for (const char* crash :
       {"terminate", "what()", "core dumped", "Assertion", "Segmentation", ".cc:", "#0", " at 0x"})
    EXPECT_FALSE(contains(ended.err, crash)) << ended.err;
}

void expect_bad_usage(const Arguments& arguments, const std::string& part) {
  const Ended ended = run_program(arguments);
  EXPECT_EQ(ended.exit_code, 2) << testing::PrintToString(arguments);
  EXPECT_EQ(ended.out, "");
  expect_one_line(ended, part);
}

void expect_no_gpu(const Arguments& arguments) {
  const Ended ended = run_program(arguments);
  EXPECT_EQ(ended.exit_code, 77) << testing::PrintToString(arguments);
  EXPECT_EQ(ended.out, "") << "a table was begun";
  expect_one_line(ended, "no usable CUDA GPU: ");
}

// --- A rung --------------------------------------------------------------------------------------

TEST(Rung, HelpPasses) {
  for (const char* option : {"--help", "-h"}) {
    const Ended ended = run_program({option});
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_EQ(ended.err, "");
    EXPECT_TRUE(ended.out.starts_with(name() + ": ")) << ended.out;
    EXPECT_TRUE(contains(ended.out, "usage: " + name())) << ended.out;
    EXPECT_TRUE(contains(ended.out, "exit codes: ")) << ended.out;
  }
}

TEST(Rung, ListPassesAndMarksTheDefaultOncePerProblem) {
  const Ended ended = run_program({"--list"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  int marks = 0;
  for (const char* mark : {"(the rung)", "(the default)"})
    for (std::size_t at = 0; (at = ended.out.find(mark, at)) != std::string::npos; ++at) ++marks;
  std::set<std::string> problems;
  std::istringstream list(ended.out);
  for (std::string line; std::getline(list, line);) problems.insert(line.substr(0, line.find(' ')));
  EXPECT_GE(marks, 1) << ended.out;
  EXPECT_EQ(marks, int(problems.size())) << ended.out;
}

TEST(Rung, ListsForPrograms) {
  const Ended ended = run_program({"--list", "--json", "-"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(ended.out.starts_with("{\"record\": \"problem\", \"rung\": \"" + name() + "\", ")) << ended.out;
  const auto lines = std::count(ended.out.begin(), ended.out.end(), '\n');
  EXPECT_GE(lines, 2);
  int marks = 0;
  for (std::size_t at = 0; (at = ended.out.find("\"is_rung\": true", at)) != std::string::npos; ++at) ++marks;
  EXPECT_EQ(marks, lines) << ended.out;
}

TEST(Rung, UnknownVariantIsBadUsage) {
  expect_bad_usage({"--variant", "nope"}, "'nope' here; there is: ");
}

TEST(Rung, UnknownOptionIsBadUsage) {
  expect_bad_usage({"--nope"}, "'--nope'");
}

TEST(Rung, UnknownProblemIsBadUsage) {
  expect_bad_usage({"nope"}, "'nope'");
}

TEST(Rung, SizesThatAreNoneAreBadUsage) {
  expect_bad_usage({"--size", "0"}, "--size must be between 1 and ");
  expect_bad_usage({"gemm", "--m", "-5"}, "not -5");
  expect_bad_usage({"gemm", "--k", "1099511627776"}, "not 1099511627776");
  expect_bad_usage({"fused_norm", "--cols", "many"}, "'many'");
  expect_bad_usage({"fused_norm", "--rows", ""}, "''");
  expect_bad_usage({"--size"}, "--size needs a value");
}

TEST(Rung, SizesOfTheOtherProblemAreBadUsage) {
  expect_bad_usage({"gemm", "--rows", "8"}, "--rows");
}

// Said before a GPU is looked for: minutes of measuring must not end in a path that was never writable.
TEST(Rung, UnwritableJsonIsBadUsageEvenWithoutAGpu) {
  expect_bad_usage({"--json", "/nowhere/at/all.jsonl"}, "'/nowhere/at/all.jsonl'");
}

TEST(Rung, WithoutAGpuCannotRun) {
  expect_no_gpu({});
  expect_no_gpu({"gemm", "--verify-only"});
  expect_no_gpu({"fused_norm", "--size", "64", "--ablate", "--table-rows"});
}

TEST(Rung, CountsAreTheSimulators) {
  for (const char* option : {"--counters", "--source"})
    expect_bad_usage({option}, std::string(option) + ": only on the simulator: use " + name() + "_sim");
}

// --- A rung on the simulator ---------------------------------------------------------------------

// Nothing that looks like a time or a rate.
void expect_no_times(const std::string& text) {
  for (const char* part :
       {"TFLOPS", "GB/s", "tflops", "gbps", "median_us", " us ", " ms ", "baselines", "ratio"})
    EXPECT_FALSE(contains(text, part)) << "'" << part << "' in: " << text;
}

std::string name_of_the_rung() {
  return name().substr(0, name().rfind("_sim"));
}

// The GPU that a rung's program simulates by default: an H200, or what the rung needs.
std::string default_device() {
  return run_program({"gemm", "--size", "8"}, "SIMULATOR_DEVICE", "h200").exit_code == 77 ? "b200" : "h200";
}

TEST(Simulated, HelpPasses) {
  const Ended ended = run_program({"--help"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(ended.out.starts_with(name() + ": ")) << ended.out;
  EXPECT_TRUE(contains(ended.out, "usage: " + name())) << ended.out;
  EXPECT_TRUE(contains(ended.out, "--counters")) << ended.out;
  EXPECT_FALSE(contains(ended.out, "--sweep")) << ended.out;
}

TEST(Simulated, TimesAreAGpus) {
  for (const char* option : {"--sweep", "--repeats"})
    expect_bad_usage({option},
                     std::string(option) + ": the simulator measures no times: use " + name_of_the_rung());
  expect_bad_usage({"--reference", "cublas"}, "no cuBLAS");
}

TEST(Simulated, ASweepOverModelsKeepsToSmallShapes) {
  const Ended ended = run_program({"gemm", "--sweep", "models", "--shapes", "40", "--verify-only"});
  EXPECT_TRUE(ended.exit_code == 0 || ended.exit_code == 77) << ended.err;
  EXPECT_EQ(ended.exit_code == 0, rows_that_passed(ended.out) > 0) << ended.out;
  EXPECT_FALSE(contains(ended.out, "geometric mean")) << ended.out;
  expect_bad_usage({"gemm", "--tune"}, "--tune: the simulator measures no times");
}

TEST(Simulated, UnknownSettingsAreBadUsage) {
  const Ended ended = run_program({"gemm", "--size", "8"}, "SIMULATOR_DEVICE", "gtx");
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.out, "");
  expect_one_line(ended, "SIMULATOR_DEVICE");
}

TEST(Simulated, VerifiesAndCountsBothProblems) {
  const Ended ended = run_program({"--size", "40"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(contains(ended.out, "simulator:" + default_device())) << ended.out;
  EXPECT_TRUE(contains(ended.out, "simulated")) << ended.out;
  for (const char* part : {"gemm", "fused_norm", "40x40x40", "40x40", "sectors/request"})
    EXPECT_TRUE(contains(ended.out, part)) << "'" << part << "' in: " << ended.out;
  EXPECT_EQ(rows_that_passed(ended.out), 2) << ended.out;
  expect_no_times(ended.out);
}

TEST(Simulated, BecomesTheGpuThatIsAskedFor) {
  int ran = 0;
  for (const std::string device : {"a100", "h200", "b200"}) {
    const Ended ended = run_program({"gemm", "--size", "8"}, "SIMULATOR_DEVICE", device.c_str());
    if (ended.exit_code == 77) {  // code for one architecture alone
      expect_one_line(ended, "needs a GPU of compute capability");
      EXPECT_TRUE(contains(ended.err, "simulator:" + device)) << ended.err;
    } else {
      EXPECT_EQ(ended.exit_code, 0) << ended.err;
      EXPECT_TRUE(contains(ended.out, "simulator:" + device)) << ended.out;
      ++ran;
    }
  }
  EXPECT_GT(ran, 0);
}

TEST(Simulated, VerifyOnlyCountsNothing) {
  const Ended ended = run_program({"fused_norm", "--size", "40", "--verify-only", "--table-rows"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(contains(ended.out, " - ")) << ended.out;
  EXPECT_EQ(rows_that_passed(ended.out), 1) << ended.out;
}

TEST(Simulated, CountersByKindOfAccess) {
  const Ended ended = run_program({"gemm", "--size", "40", "--counters"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  for (const char* part : {"requests", "sectors", "per request", "PTX instructions"})
    EXPECT_TRUE(contains(ended.out, part)) << "'" << part << "' in: " << ended.out;
  // A and B come from global memory in one of three ways, C goes there in one of two.
  const bool in_boxes = contains(ended.out, "\n  bulk copy ");
  EXPECT_TRUE(in_boxes || contains(ended.out, "\n  global load ") || contains(ended.out, "\n  async copy "))
      << ended.out;
  EXPECT_TRUE(in_boxes || contains(ended.out, "\n  global store ")) << ended.out;
  expect_no_times(ended.out);
}

TEST(Simulated, SourceIsTheKernelsFile) {
  const Ended ended = run_program({"gemm", "--size", "40", "--source"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(contains(ended.out, "__global__")) << ended.out;
  EXPECT_FALSE(contains(ended.out, "cannot read")) << ended.out;
  expect_no_times(ended.out.substr(0, ended.out.find("__global__")));
}

TEST(Simulated, JsonHasCountersInPlaceOfTimes) {
  const std::string file = testing::TempDir() + "ladder_cli_test_" + std::to_string(getpid()) + ".jsonl";
  const Ended ended = run_program({"gemm", "--size", "40", "--json", file}, "SIMULATOR_SEED", "5");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  std::FILE* written = std::fopen(file.c_str(), "r");
  ASSERT_NE(written, nullptr);
  const std::string record = contents(written);
  std::remove(file.c_str());
  for (const std::string& part :
       {std::string(R"("record": "run")"), R"("rung": ")" + name_of_the_rung() + "\"",
        R"("device": "simulator:)" + default_device() + "\"", std::string(R"("verified": true)"),
        std::string(R"("counters": {"ptx_instructions": )"),
        std::string(R"("global_load_sectors_per_request": )"), std::string(R"("instruction_mix": {)"),
        std::string(R"("schedule_seed": 5)"), std::string(R"("checks": "fail")")})
    EXPECT_TRUE(contains(record, part)) << part << " in: " << record;
  expect_no_times(record);
}

// The simulator is deterministic: the same counts for the same seed, whatever else the CPU does.
TEST(Simulated, CountsRepeat) {
  const Arguments arguments{"--size", "72", "--table-rows"};
  const Ended first = run_program(arguments);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(run_program(arguments).out, first.out);
}

// --- Shapes that a rung does not take ------------------------------------------------------------

int count(const std::string& text, const std::string& part) {
  int times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++times;
  return times;
}

// One line with the rung's own reason, and no row of a table.
void expect_refused(const Arguments& arguments, const std::string& part) {
  const Ended ended = run_program(arguments);
  EXPECT_EQ(ended.exit_code, 2) << testing::PrintToString(arguments);
  expect_one_line(ended, part);
  EXPECT_FALSE(contains(ended.out, "not run")) << ended.out;
}

TEST(Refusing, AShapeThatIsAskedForIsBadUsage) {
  expect_refused({"gemm", "--size", "12"}, "rung does not take 12x12x12: n and k must be multiples of 8");
  expect_refused({"gemm", "--m", "8", "--n", "8", "--k", "9", "--verify-only"}, "does not take 8x8x9: ");
  expect_refused({"gemm", "--size", "24", "--variant", "whole_tiles"},
                 "whole_tiles does not take 24x24x24: ");
  expect_refused({"--size", "24"}, "rung does not take 24x24: not today");
}

TEST(Refusing, SoItIsIfNoVariantTakesIt) {
  expect_refused({"gemm", "--size", "12", "--ablate"}, "rung does not take 12x12x12: ");
}

TEST(Refusing, VariantsThatTakeItRun) {
  const Ended ended = run_program({"gemm", "--size", "24", "--ablate"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(count(ended.out, "not run: only whole tiles"), 1) << ended.out;
  EXPECT_EQ(count(ended.out, "  ok\n"), 1) << ended.out;
}

TEST(Refusing, OfAListTheOthersRun) {
  const Ended ended = run_program({"gemm", "--verify-only"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  EXPECT_GE(count(ended.out, "not run: n and k must be multiples of 8\n"), 5) << ended.out;
  EXPECT_GE(count(ended.out, "  ok\n"), 10) << ended.out;
}

TEST(Refusing, AReasonThatAllShareIsOneRow) {
  const Ended ended = run_program({"fused_norm", "--ablate", "--verify-only"});
  EXPECT_EQ(count(ended.out, " 3x7 "), 1) << ended.out;
  EXPECT_TRUE(contains(ended.out, " every variant ")) << ended.out;
}

TEST(Refusing, NothingCheckedIsNoPass) {
  const Ended ended = run_program({"fused_norm", "--verify-only"});
  EXPECT_EQ(ended.exit_code, 77);
  expect_one_line(ended, "nothing was checked");
}

TEST(Refusing, ASoakPassesOverWhatIsRefused) {
  const Ended ended = run_program({"gemm", "--soak", "100"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(contains(ended.out, "random shapes: ok\n")) << ended.out;
}

TEST(Refusing, ASoakFindsTheOneWrongLaunch) {
  const Ended ended = run_program({"gemm", "--variant", "slips", "--soak", "100"});
  EXPECT_EQ(ended.exit_code, 1);
  expect_one_line(ended, "pairs of bytes differ from those of the verified launch");
  EXPECT_TRUE(contains(ended.out, "random shapes: WRONG\n")) << ended.out;
}

// Five of the forty are small enough for the simulator: each comes up three times or four, and counts once.
TEST(Refusing, ASoakOfModelsCountsEachShapeOnce) {
  const Ended ended =
      run_program({"gemm", "--soak", "100", "--sweep", "models", "--shapes", "40", "--reference", "cpu"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(contains(ended.out, " 112 launches over 5 shapes that models have: ok\n")) << ended.out;
}

TEST(Refusing, ASoakIsOfTheType) {
  const Ended ended = run_program({"gemm", "--type", "f16", "--soak", "10"});
  EXPECT_EQ(ended.exit_code, 77);
  expect_one_line(ended, "typed takes none of the shapes");
}

TEST(Refusing, ASoakThatChecksNothingIsNoPass) {
  const Ended ended = run_program({"fused_norm", "--soak", "10"});
  EXPECT_EQ(ended.exit_code, 77);
  expect_one_line(ended, "nothing was checked");
}

// --- A benchmark ---------------------------------------------------------------------------------

TEST(Benchmark, HelpPasses) {
  const Ended ended = run_program({"--help"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(ended.out.starts_with("usage: " + name() + " [--only WORD]")) << ended.out;
}

TEST(Benchmark, BadOptionsAreBadUsage) {
  expect_bad_usage({"--nope"}, "'--nope'");
  expect_bad_usage({"gemm"}, "'gemm'");
  expect_bad_usage({"--only"}, "'--only'");
  expect_bad_usage({"--json"}, "'--json'");
}

TEST(Benchmark, UnwritableJsonIsBadUsageEvenWithoutAGpu) {
  expect_bad_usage({"--json", "/nowhere/at/all.jsonl"}, "'/nowhere/at/all.jsonl'");
}

TEST(Benchmark, WithoutAGpuCannotRun) {
  expect_no_gpu({});
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2 || access(argv[1], X_OK) != 0) {
    std::fprintf(stderr,
                 "usage: cli_test PROGRAM [--gtest_filter=Rung.*|Simulated.*|Refusing.*|Benchmark.*]\n");
    return 2;
  }
  program = argv[1];
  return RUN_ALL_TESTS();
}
