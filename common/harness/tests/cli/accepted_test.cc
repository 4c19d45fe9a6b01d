// The command line: what is accepted, and what it chooses.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "common/harness/tests/cli/fake_rungs.h"

namespace ladder {
namespace {

TEST(Options, Defaults) {
  const Options o = parse({});
  EXPECT_FALSE(o.help || o.list || o.ablate || o.sweep || o.verify_only || o.rows);
  EXPECT_TRUE(o.runs<Gemm>() && o.runs<FusedNorm>());
  EXPECT_FALSE(o.shape<Gemm>() || o.shape<FusedNorm>());
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
  ASSERT_TRUE(o.shape<Gemm>());
  EXPECT_EQ(o.shape<Gemm>()->k, 3);
}

TEST(Options, Problems) {
  EXPECT_TRUE(parse({"gemm"}).runs<Gemm>());
  EXPECT_FALSE(parse({"gemm"}).runs<FusedNorm>());
  EXPECT_TRUE(parse({"fused_norm"}).runs<FusedNorm>());
  EXPECT_FALSE(parse({"fused_norm"}).runs<Gemm>());
  EXPECT_FALSE(parse({"--verify-only", "gemm"}).runs<FusedNorm>()) << "the problem may stand anywhere";
}

TEST(Options, TheThirdProblemRunsWhereItIsNamed) {
  EXPECT_FALSE(parse_three({}).runs<NormGemm>());
  EXPECT_FALSE(parse_three({"gemm"}).runs<NormGemm>());
  const Options o = parse_three({"norm_gemm"});
  EXPECT_TRUE(o.runs<NormGemm>());
  EXPECT_FALSE(o.runs<Gemm>() || o.runs<FusedNorm>() || o.shape<NormGemm>());
  EXPECT_TRUE(parse_three({"norm_gemm", "--variant", "two_kernels"}).runs<NormGemm>());
}

TEST(Options, ItsSizesCompletedByTheCourses) {
  const Options o = parse_three({"norm_gemm", "--rows", "3", "--n", "24"});
  ASSERT_TRUE(o.shape<NormGemm>());
  EXPECT_EQ(o.shape<NormGemm>()->rows, 3);
  EXPECT_EQ(o.shape<NormGemm>()->cols, 4096);
  EXPECT_EQ(o.shape<NormGemm>()->n, 24);
  EXPECT_FALSE(o.shape<Gemm>() || o.shape<FusedNorm>());
  EXPECT_EQ(parse_three({"norm_gemm", "--cols", "8"}).shape<NormGemm>()->cols, 8);
  const Options all = parse_three({"norm_gemm", "--size", "256"});
  ASSERT_TRUE(all.shape<NormGemm>());
  EXPECT_EQ(all.shape<NormGemm>()->rows + all.shape<NormGemm>()->cols + all.shape<NormGemm>()->n, 3 * 256);
}

TEST(Options, TheFourthProblemAndItsSizes) {
  const auto parsed = [](const Arguments& arguments) {
    return parse(arguments, DeviceKind::gpu, fake_of_groups());
  };
  EXPECT_FALSE(parsed({}).runs<GroupedGemm>());
  const Options o = parsed({"grouped_gemm"});
  EXPECT_TRUE(o.runs<GroupedGemm>());
  EXPECT_FALSE(o.runs<Gemm>() || o.runs<FusedNorm>() || o.runs<NormGemm>() || o.shape<GroupedGemm>() ||
               o.even);
  const Options given =
      parsed({"grouped_gemm", "--groups", "3", "--m", "70", "--even", "--variant", "looped"});
  ASSERT_TRUE(given.shape<GroupedGemm>());
  EXPECT_EQ(shape_text(*given.shape<GroupedGemm>()), "3x70x14336x4096");
  EXPECT_TRUE(given.even);
  EXPECT_FALSE(given.shape<Gemm>() || given.shape<NormGemm>());
  EXPECT_EQ(shape_text(*parsed({"grouped_gemm", "--size", "64"}).shape<GroupedGemm>()), "8x64x64x64");
}

TEST(Options, GemmSizesCompletedByTheCourses) {
  const Options o = parse({"gemm", "--m", "100", "--k", "1073741824"});
  ASSERT_TRUE(o.shape<Gemm>());
  EXPECT_EQ(o.shape<Gemm>()->m, 100);
  EXPECT_EQ(o.shape<Gemm>()->n, 4096);
  EXPECT_EQ(o.shape<Gemm>()->k, max_dimension);
  EXPECT_EQ(o.shape<Gemm>()->a, nullptr);
}

TEST(Options, NormSizesCompletedByTheCourses) {
  const Options o = parse({"fused_norm", "--rows", "3"});
  ASSERT_TRUE(o.shape<FusedNorm>());
  EXPECT_EQ(o.shape<FusedNorm>()->rows, 3);
  EXPECT_EQ(o.shape<FusedNorm>()->cols, 8192);
  EXPECT_FLOAT_EQ(o.shape<FusedNorm>()->eps, 1e-5f);
  EXPECT_EQ(parse({"fused_norm", "--cols", "1"}).shape<FusedNorm>()->rows, 16384);
}

TEST(Options, SizesChooseTheProblem) {
  EXPECT_FALSE(parse({"--m", "8"}).runs<FusedNorm>());
  EXPECT_FALSE(parse({"--cols", "8"}).runs<Gemm>());
}

TEST(Options, SizeSetsEveryDimension) {
  const Options o = parse({"--size", "256"});
  ASSERT_TRUE(o.shape<Gemm>() && o.shape<FusedNorm>());
  EXPECT_EQ(o.shape<Gemm>()->m + o.shape<Gemm>()->n + o.shape<Gemm>()->k, 3 * 256);
  EXPECT_EQ(o.shape<FusedNorm>()->rows + o.shape<FusedNorm>()->cols, 2 * 256);
  EXPECT_FALSE(parse({"gemm", "--size", "256"}).shape<FusedNorm>());
}

TEST(Options, AVariantChoosesTheProblemsThatHaveIt) {
  EXPECT_TRUE(parse({"--variant", "fast"}).runs<Gemm>() && parse({"--variant", "fast"}).runs<FusedNorm>());
  EXPECT_FALSE(parse({"--variant", "padded"}).runs<FusedNorm>());
  EXPECT_FALSE(parse({"--variant", "two_pass"}).runs<Gemm>());
}

TEST(Options, ATypeChoosesTheProblemsThatHaveIt) {
  const Options tf32 = parse({"--type", "tf32", "--ablate", "--pad"}, DeviceKind::gpu, fake_of_types());
  EXPECT_EQ(tf32.type, Precision::tf32);
  EXPECT_TRUE(tf32.runs<Gemm>() && tf32.ablate && tf32.pad);
  EXPECT_FALSE(tf32.runs<FusedNorm>());
  EXPECT_TRUE(parse({"--type", "bf16"}).runs<FusedNorm>());
}

TEST(Simulator, HasSmallSizesAndTheCpuAsReference) {
  const Options o = parse({}, DeviceKind::simulator);
  EXPECT_EQ(o.device, DeviceKind::simulator);
  EXPECT_EQ(o.reference, Reference::cpu);
  EXPECT_FALSE(o.counters || o.source);
  EXPECT_EQ(parse({"--m", "100"}, DeviceKind::simulator).shape<Gemm>()->k, 256);
  EXPECT_EQ(parse({"--rows", "3"}, DeviceKind::simulator).shape<FusedNorm>()->cols, 8192);
  EXPECT_EQ(parse({"--reference", "cpu"}, DeviceKind::simulator).reference, Reference::cpu);
}

TEST(Simulator, Flags) {
  EXPECT_TRUE(parse({"--counters"}, DeviceKind::simulator).counters);
  EXPECT_TRUE(parse({"--source"}, DeviceKind::simulator).source);
  EXPECT_TRUE(parse({"--verify-only", "--ablate"}, DeviceKind::simulator).verify_only);
  EXPECT_EQ(parse({"--seed", "7"}, DeviceKind::simulator).seed, 7u);
  const Options few =
      parse({"--m", "70000", "--ctas", "5", "--verify-only", "--ablate"}, DeviceKind::simulator);
  EXPECT_EQ(few.ctas, 5);
  EXPECT_TRUE(few.runs<Gemm>() && !few.runs<FusedNorm>());
}

TEST(ProgramName, SaysWhichOfTheTwo) {
  EXPECT_EQ(program_name(fake(), DeviceKind::gpu), "42_fake");
  EXPECT_EQ(program_name(fake(), DeviceKind::simulator), "42_fake_sim");
}

TEST(RowOperator, IsAProblemOfTheRungsThatHaveIt) {
  Rung with_rows = fake();
  with_rows.row_operator = {variant<RowOperator>("layer_norm", "one"),
                            variant<RowOperator>("softmax", "two")};
  const auto parse = [&](const std::vector<std::string>& arguments) {
    return parse_options(arguments, with_rows, DeviceKind::gpu);
  };
  EXPECT_FALSE(parse({}).runs<RowOperator>());
  const Options o = parse({"row_operator", "--rows", "3", "--variant", "layer_norm"});
  EXPECT_TRUE(o.runs<RowOperator>());
  EXPECT_FALSE(o.runs<Gemm>() || o.runs<FusedNorm>() || o.shape<FusedNorm>());
  ASSERT_TRUE(o.shape<RowOperator>());
  EXPECT_EQ(o.shape<RowOperator>()->rows, 3);
  EXPECT_EQ(o.shape<RowOperator>()->cols, 8192);
  EXPECT_THROW(parse({"row_operator", "--m", "8"}), Failure);
  EXPECT_THROW(parse({"row_operator", "--sweep", "--cols", "8"}), Failure);
  EXPECT_THROW(parse({"row_operator", "--variant", "fast"}), Failure);
  EXPECT_THROW(parse_options({"row_operator"}, fake(), DeviceKind::gpu), Failure);
  EXPECT_NE(list_text(with_rows).find("row_operator  softmax"), std::string::npos);
  EXPECT_NE(help_text(with_rows, DeviceKind::gpu).find("\n  row_operator "), std::string::npos);
}

}  // namespace
}  // namespace ladder
