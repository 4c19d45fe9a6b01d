// The names that lines of CUDA source have for what they initialise.
#include "common/simulator/naming/init_expression.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace simulator {
namespace {

class InitExpression : public testing::Test {
 protected:
  // Of a file that holds this text, from line 1 on, the lines named by number, the innermost first.
  static std::string named(const std::string& text, const std::vector<uint32_t>& numbers) {
    static int files = 0;
    const std::string path = testing::TempDir() + "init_expression_" + std::to_string(++files) + ".cu";
    std::ofstream(path) << text;
    std::vector<SourceLine> lines;
    for (const uint32_t number : numbers) lines.push_back({path, number});
    return initialised_expression(lines);
  }
  // In a loop over s from 0.
  static std::string in_loop(const std::string& statement) {
    return named("for (int s = 0; s < n; ++s) {\n  " + statement + "\n}\n", {2});
  }
};

TEST_F(InitExpression, WhatIsPassed) {
  EXPECT_EQ(named("ptx::mbarrier_init(ptx::shared_address(&shared.arrived), 1);\n", {1}), "shared.arrived");
  EXPECT_EQ(named("  if (threadIdx.x == 0) init(&barrier, 128);\n", {1}), "barrier");
  EXPECT_EQ(named("mbarrier_init(combined, 1);  // init(&other)\n", {1}), "combined");
  EXPECT_EQ(named("shared.full.init(1);\n", {1}), "shared.full");
  EXPECT_EQ(named("mbarrier_init(shared_address(&shared.empty[0]),\n              warps);\n", {1}),
            "shared.empty[0]");
}

TEST_F(InitExpression, IndicesThatAreCertain) {
  EXPECT_EQ(in_loop("mbarrier_init(shared_address(&shared.full[s]), 1);"), "shared.full[#]");
  EXPECT_EQ(in_loop("mbarrier_init(full(s), 1);"), "full(#)");
  EXPECT_EQ(in_loop("mbarrier_init(&stages[s].full, 1);"), "stages[#].full");
  EXPECT_EQ(named("for (int s = 0; s < n; s++) mbarrier_init(full(s), 1);\n", {1}), "full(#)");
  EXPECT_EQ(named("if (threadIdx.x < n) mbarrier_init(&full[threadIdx.x], 1);\n", {1}), "full[@]");
  EXPECT_EQ(named("for (auto& turn : shared.turn) mbarrier_init(shared_address(&turn), 4);\n", {1}),
            "shared.turn[#]");
  EXPECT_EQ(named("for (auto& stage : stages)\n  mbarrier_init(&stage.full, 4);\n", {2}), "stages[#].full");
}

TEST_F(InitExpression, IndicesThatAreNot) {
  for (const char* statement : {"mbarrier_init(&full[s + 1], 1);", "mbarrier_init(&full[s][2], 1);",
                                "mbarrier_init(&full[other], 1);", "mbarrier_init(base + 8 * s, 1);",
                                "mbarrier_init(&full[s], 1), mbarrier_init(&empty[s], 1);",
                                "setup(&full[s]);", "asm volatile(\"mbarrier.init.shared.b64 [%0], %1;\");"})
    EXPECT_EQ(in_loop(statement), "") << statement;
  EXPECT_EQ(named("for (int s = 1; s < n; ++s)\n  mbarrier_init(&full[s], 1);\n", {2}), "");
  EXPECT_EQ(named("for (int s = 0; s < n; s += 2)\n  mbarrier_init(&full[s], 1);\n", {2}), "");
  EXPECT_EQ(initialised_expression({{"/no/such/file.cu", 3}}), "");
  EXPECT_EQ(initialised_expression({}), "");
}

TEST_F(InitExpression, WrappersAndHelpers) {
  const std::string wrapper =
      "__device__ void mbarrier_init(unsigned barrier, int count) {\n"
      "  asm volatile(\"mbarrier.init.shared.b64 [%0], %1;\");\n"
      "}\n";
  EXPECT_EQ(named(wrapper + "mbarrier_init(address(&shared.full), 1);\n", {2, 4}), "shared.full");
  const std::string all = wrapper +
                          "template <int n>\n"
                          "__device__ void init_barriers(Barrier (&barriers)[n], int count) {\n"
                          "  for (Barrier& barrier : barriers) mbarrier_init(address(&barrier), count);\n"
                          "}\n"
                          "__global__ void kernel(Operands p) {\n"
                          "  init_barriers(shared.full, 1);\n"
                          "  init_barriers(shared.ring[k].empty, 1);\n"
                          "  init_barriers(empties(), 1);\n"
                          "}\n";
  EXPECT_EQ(named(all, {2, 6, 9}), "shared.full[#]");
  EXPECT_EQ(named(all, {2, 6, 10}), "");
  EXPECT_EQ(named(all, {2, 6, 11}), "");
  EXPECT_EQ(named(all, {2, 6}), "barriers[#]");
  const std::string pointers = wrapper +
                               "__device__ void prepare(Ring* ring, unsigned long long* done) {\n"
                               "  for (int i = 0; i < 4; ++i) mbarrier_init(address(&ring->full[i]), 1);\n"
                               "  mbarrier_init(done, 1);\n"
                               "  mbarrier_init(shared_address(done), 1);\n"
                               "}\n"
                               "prepare(&shared.ring, &shared.done);\n";
  EXPECT_EQ(named(pointers, {2, 5, 9}), "shared.ring.full[#]");
  EXPECT_EQ(named(pointers, {2, 6, 9}), "shared.done");
  EXPECT_EQ(named(pointers, {2, 7, 9}), "shared.done");
  // A function that is called by another name than that around the line: not the same call.
  EXPECT_EQ(named(wrapper + "init_all(&shared);\n", {2, 4}), "");
}

}  // namespace
}  // namespace simulator
