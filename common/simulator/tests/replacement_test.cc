// SIMULATOR_PTX.
#include "common/simulator/context/replacement.h"

#include <gtest/gtest.h>

#include <string>

namespace simulator {
namespace {

// Of a file compiled under two paths, that is with two hashes.
std::string module(const std::string& hash, const std::string& body, const std::string& file = "7_gemm_cu") {
  const std::string name = "_ZN40_GLOBAL__N__" + hash + "_" + file + "_" + hash + "6kernelEPf";
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

TEST(Replacement, LeavesOtherModulesAlone) {
  const std::string own = module("5098aae6", "ret;\n");
  EXPECT_EQ(replacement(own, module("5098aae6", "ret;\n", "13_fused_norm_cu")), "");
  EXPECT_EQ(replacement(own, own + ".visible .entry another(\n)\n{\nret;\n}\n"), "");
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
