// cli_test PROGRAM: runs a program of the course as a reader would, and reads its exit code and what it
// prints. Suite Rung is for a rung, suite Roofs for `roofs`; the caller picks one with --gtest_filter.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
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

// Runs the program where it finds no GPU, whatever the machine has.
Ended run_program(const Arguments& arguments) {
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

TEST(Rung, ListPassesAndMarksTheRungOncePerProblem) {
  const Ended ended = run_program({"--list"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  int marks = 0;
  for (std::size_t at = 0; (at = ended.out.find("(the rung)", at)) != std::string::npos; ++at) ++marks;
  EXPECT_EQ(marks, 2) << ended.out;
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

// --- roofs ---------------------------------------------------------------------------------------

TEST(Roofs, HelpPasses) {
  const Ended ended = run_program({"--help"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(ended.out.starts_with("usage: roofs")) << ended.out;
}

TEST(Roofs, BadOptionsAreBadUsage) {
  expect_bad_usage({"--nope"}, "'--nope'");
  expect_bad_usage({"gemm"}, "'gemm'");
  expect_bad_usage({"--json"}, "'--json'");
}

TEST(Roofs, UnwritableJsonIsBadUsageEvenWithoutAGpu) {
  expect_bad_usage({"--json", "/nowhere/at/all.jsonl"}, "'/nowhere/at/all.jsonl'");
}

TEST(Roofs, WithoutAGpuCannotRun) {
  expect_no_gpu({});
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2 || access(argv[1], X_OK) != 0) {
    std::fprintf(stderr, "usage: cli_test PROGRAM [--gtest_filter=Rung.*|Roofs.*]\n");
    return 2;
  }
  program = argv[1];
  return RUN_ALL_TESTS();
}
