// SIMULATOR_PTX.
#include "common/simulator/context/replacement.h"

#include <gtest/gtest.h>

#include <string>

namespace simulator {
namespace {

// Of a file compiled under two paths, that is with two hashes.
std::string module(const std::string& hash, const std::string& body, const std::string& file = "7_gemm_cu") {
  const std::string unnamed = "_GLOBAL__N__" + hash + "_" + file + "_" + hash;
  const std::string name = "_ZN" + std::to_string(unnamed.size()) + unnamed + "6kernelEPf";
  return ".version 9.0\n.visible .entry " + name + "(\n)\n{\n" + body +
         "}\n.visible .entry plain(\n)\n{\nret;\n}\n";
}

TEST(Replacement, TakesTheSameKernelsUnderTheirNames) {
  const std::string own = module("5098aae6", "ret;\n");
  EXPECT_EQ(replacement(own, module("0123abcd", "trap;\n")), module("5098aae6", "trap;\n"));
  EXPECT_EQ(replacement(own, own), own);
}

TEST(Replacement, TakesSomeOfTheKernels) {
  const std::string own = module("5098aae6", "ret;\n"),
                    one = ".version 9.0\n.visible .entry plain(\n)\n{\n}\n";
  EXPECT_EQ(replacement(own, one), one);
  EXPECT_EQ(replacement(one, own), "");
}

TEST(Replacement, TakesKernelsThatTheModuleHasNotAsWell) {
  const std::string own = module("5098aae6", "ret;\n"),
                    more = own + ".visible .entry another(\n)\n{\nret;\n}\n";
  EXPECT_EQ(replacement(own, more), more);
}

// A function that other files see, `f(float)`, is in the names instead of the second hash; and digits before
// the length belong to the namespace, rung_00.
TEST(Replacement, TakesKernelsByWhatTheyAreCalled) {
  const auto named = [](const std::string& unnamed, const std::string& parameters = "i") {
    return ".entry _ZN6ladder7rung_00" + unnamed + "11gemm_kernelENS_4GemmE" + parameters +
           "(\n)\n{\nret;\n}\n";
  };
  const std::string own = named("39_GLOBAL__N__3c71feb9_7_gemm_cu_ab733396");
  EXPECT_EQ(replacement(own, named("36_GLOBAL__N__5c0643ee_7_gemm_cu__Z1ff")), own);
  EXPECT_EQ(replacement(own, named("36_GLOBAL__N__5c0643ee_7_gemm_cu__Z1ff", "ii")), "");
  EXPECT_EQ(replacement(own, named("39_GLOBAL__N__5c0643ee_7_norm_cu_ab733396")), "") << "another file";
  EXPECT_EQ(
      shown_names(
          {"_ZN6ladder7rung_0039_GLOBAL__N__3c71feb9_7_gemm_cu_ab73339611gemm_kernelENS_4GemmEi", "plain"}),
      "ladder::rung_00::(anonymous namespace)::gemm_kernel(ladder::Gemm, int); plain");
}

TEST(Replacement, LeavesOtherModulesAlone) {
  const std::string own = module("5098aae6", "ret;\n"),
                    of_a_header = ".visible .entry plain(\n)\n{\nret;\n}\n";
  EXPECT_EQ(replacement(of_a_header, own), "") << "the file's own kernels are in another";
  EXPECT_EQ(replacement(own, module("5098aae6", "ret;\n", "13_fused_norm_cu")), "");
  EXPECT_EQ(replacement(own, ".version 9.0\n"), "");
  EXPECT_EQ(replacement(".version 9.0\n", ".version 9.0\n"), "") << "nothing to replace";
}

TEST(Replacement, TakesNamesThatAreCutOffAsTheyAre) {
  const std::string own = ".visible .entry k_GLOBAL__N__5098aae6_7_gemm_c(\n)\n{\nret;\n}\n";
  EXPECT_EQ(replacement(own, own), own);
  EXPECT_EQ(replacement(own, ".visible .entry k_GLOBAL__N__5098aae7_7_gemm_c(\n)\n{\nret;\n}\n"), "");
}

}  // namespace
}  // namespace simulator
