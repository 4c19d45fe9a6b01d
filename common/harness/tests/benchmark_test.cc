// What surrounds a measurement: statistics, buffer sets, the card's state, the machine, exit codes, and the
// problems. Nothing here launches a kernel.
#include "common/harness/measure/benchmark.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "common/harness/backend/system.h"
#include "common/harness/base/failure.h"
#include "common/harness/measure/nvml.h"
#include "common/harness/measure/rotation.h"
#include "common/harness/problems/problems.h"

namespace ladder {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20, gibibyte = 1 << 30;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// --- Statistics ----------------------------------------------------------------------------------

TEST(L2Text, SaysWhetherTheRotationLeavesTheCacheCold) {
  constexpr std::uint64_t l2 = 60 * mebibyte;
  EXPECT_EQ(l2_text(121 * mebibyte, 1, l2), "cold: one buffer set, over twice the L2");
  EXPECT_EQ(l2_text(6 * mebibyte, sets_to_rotate(6 * mebibyte, l2), l2), "cold: rotates over 21 buffer sets");
  EXPECT_EQ(l2_text(24 << 10, sets_to_rotate(24 << 10, l2), l2), "warm: rotates over 256 buffer sets");
}

TEST(Quantile, OfOneSampleIsThatSample) {
  for (const double p : {0.0, 0.1, 0.5, 1.0}) EXPECT_EQ(quantile({7}, p), 7);
}

TEST(Quantile, SortsItself) {
  EXPECT_EQ(quantile({9, 1, 5}, 0), 1);
  EXPECT_EQ(quantile({9, 1, 5}, 0.5), 5);
  EXPECT_EQ(quantile({9, 1, 5}, 1), 9);
}

TEST(Quantile, InterpolatesLinearly) {
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({0, 10, 20, 30, 40}, 0.1), 4);
  EXPECT_DOUBLE_EQ(quantile({0, 10, 20, 30, 40}, 0.9), 36);
}

TEST(Quantile, OneSlowSampleDoesNotMoveTheMedian) {
  EXPECT_EQ(quantile({1, 1, 1, 1, 1e6}, 0.5), 1);
}

// --- Buffer sets ---------------------------------------------------------------------------------

TEST(SetsToRotate, OneWhereASetIsOverTwiceTheCache) {
  EXPECT_EQ(sets_to_rotate(100 * mebibyte + 1, 50 * mebibyte), 1);
  EXPECT_EQ(sets_to_rotate(100 * gibibyte, 50 * mebibyte), 1);
}

// Between two uses of a set all others are used: together at least twice the cache.
TEST(SetsToRotate, TheOtherSetsFillTheCacheTwice) {
  for (const std::uint64_t footprint : {3 * mebibyte, 25 * mebibyte, 50 * mebibyte, 100 * mebibyte}) {
    const std::uint64_t sets = std::uint64_t(sets_to_rotate(footprint, 50 * mebibyte));
    EXPECT_GE((sets - 1) * footprint, (100 - footprint / mebibyte) * mebibyte) << footprint;
    EXPECT_GT(sets * footprint, 100 * mebibyte) << footprint;
  }
}

TEST(SetsToRotate, NeverWithoutEnd) {
  EXPECT_EQ(sets_to_rotate(2, 50 * mebibyte), 256);
  EXPECT_EQ(sets_to_rotate(0, 50 * mebibyte), 1);
  EXPECT_EQ(sets_to_rotate(mebibyte, 0), 1) << "a device that does not say how large its cache is";
}

// --- The card's state ----------------------------------------------------------------------------

TEST(ThrottleText, NoneAndIdle) {
  EXPECT_EQ(throttle_text(0), "none");
  EXPECT_EQ(throttle_text(0x1), "none");
}

TEST(ThrottleText, EveryReasonHasItsOwnName) {
  std::set<std::string> names;
  for (std::uint64_t bit = 0x2; bit <= 0x100; bit *= 2) names.insert(throttle_text(bit));
  EXPECT_EQ(names.size(), 8u);
  EXPECT_FALSE(names.contains("none"));
  EXPECT_EQ(throttle_text(0x4), "power_cap");
  EXPECT_EQ(throttle_text(0x40), "hw_thermal");
}

TEST(ThrottleText, SeveralAreJoined) {
  EXPECT_EQ(throttle_text(0x1 | 0x4 | 0x20), "power_cap+sw_thermal");
}

// --- The machine ---------------------------------------------------------------------------------

TEST(MemoryShortage, NothingToSayWhereItFits) {
  EXPECT_EQ(memory_shortage("GPU", 0, 0), "");
  EXPECT_EQ(memory_shortage("GPU", gibibyte, gibibyte), "");
}

TEST(MemoryShortage, NamesBothFigures) {
  const std::string line = memory_shortage("GPU", 3 * gibibyte, gibibyte / 2);
  EXPECT_TRUE(contains(line, "3.0 GiB") && contains(line, "0.5 GiB")) << line;
  EXPECT_FALSE(memory_shortage("GPU", gibibyte + 1, gibibyte).empty());
}

Machine gpu(int major, int minor) {
  Machine machine;
  machine.device = "GPU Z";
  machine.major = major;
  machine.minor = minor;
  return machine;
}

// Why the machine cannot run such code; empty where it can.
std::string obstacle(const Machine& machine, const ComputeCapability& needs) {
  try {
    require(machine, needs);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, Exit::cannot_run);
    return failure.what();
  }
  return {};
}

constexpr ComputeCapability ampere = {8, 0, Compatibility::newer}, hopper = {9, 0, Compatibility::exact},
                            blackwell = {10, 0, Compatibility::family};

TEST(Require, PortableCodeRunsOnNewerGpus) {
  EXPECT_EQ(obstacle(gpu(8, 0), ampere), "");
  EXPECT_EQ(obstacle(gpu(8, 9), ampere), "");
  EXPECT_EQ(obstacle(gpu(12, 0), {8, 6, Compatibility::newer}), "");
  EXPECT_NE(obstacle(gpu(7, 5), ampere), "");
}

TEST(Require, FamilySpecificCodeRunsOnNewerGpusOfTheFamily) {
  EXPECT_EQ(obstacle(gpu(10, 0), blackwell), "");
  EXPECT_EQ(obstacle(gpu(10, 3), blackwell), "");
  EXPECT_NE(obstacle(gpu(12, 0), blackwell), "");
  EXPECT_NE(obstacle(gpu(9, 0), blackwell), "");
  EXPECT_NE(obstacle(gpu(10, 0), {10, 3, Compatibility::family}), "");
}

TEST(Require, ArchitectureSpecificCodeRunsOnItsOwnOnly) {
  EXPECT_EQ(obstacle(gpu(9, 0), hopper), "");
  EXPECT_NE(obstacle(gpu(10, 0), hopper), "");
  EXPECT_NE(obstacle(gpu(10, 3), {10, 0, Compatibility::exact}), "");
  EXPECT_NE(obstacle(gpu(8, 9), hopper), "");
}

TEST(Require, SaysWhatIsNeededAndWhatIsThere) {
  const std::string exact = obstacle(gpu(12, 0), hopper), newer = obstacle(gpu(7, 5), ampere),
                    family = obstacle(gpu(12, 0), blackwell);
  EXPECT_TRUE(contains(exact, "9.0 exactly") && contains(exact, "GPU Z has 12.0")) << exact;
  EXPECT_TRUE(contains(family, "10.0 or newer of the same family, 10.x; GPU Z has 12.0")) << family;
  EXPECT_TRUE(contains(newer, "8.0 or newer") && contains(newer, "GPU Z has 7.5")) << newer;
}

// The environment is read with the first CUDA call of the process, which is why no other test here makes one.
TEST(ThisMachine, WithoutAGpuCannotRun) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  try {
    this_machine();
    FAIL() << "found a GPU";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, Exit::cannot_run);
    EXPECT_TRUE(contains(failure.what(), "no usable CUDA GPU: ")) << failure.what();
  }
}

// --- Exit codes ----------------------------------------------------------------------------------

TEST(ExitFor, NoDeviceNoCodeAndNoMemoryCannotRun) {
  for (const cudaError_t error :
       {cudaErrorNoDevice, cudaErrorInsufficientDriver, cudaErrorInitializationError, cudaErrorSystemNotReady,
        cudaErrorSystemDriverMismatch, cudaErrorCompatNotSupportedOnDevice, cudaErrorDevicesUnavailable,
        cudaErrorStubLibrary, cudaErrorNoKernelImageForDevice, cudaErrorUnsupportedPtxVersion,
        cudaErrorJitCompilerNotFound, cudaErrorMemoryAllocation})
    EXPECT_EQ(exit_for(error), Exit::cannot_run) << error;
}

TEST(ExitFor, FaultsOfAKernelAreWrongResults) {
  for (const cudaError_t error :
       {cudaErrorIllegalAddress, cudaErrorMisalignedAddress, cudaErrorLaunchFailure, cudaErrorLaunchTimeout,
        cudaErrorInvalidValue, cudaErrorInvalidConfiguration, cudaErrorLaunchOutOfResources,
        cudaErrorIllegalInstruction, cudaErrorUnknown})
    EXPECT_EQ(exit_for(error), Exit::wrong_result) << error;
}

TEST(ExitCodes, AreWhatTheHelpSays) {
  EXPECT_EQ(int(Exit::passed), 0);
  EXPECT_EQ(int(Exit::wrong_result), 1);
  EXPECT_EQ(int(Exit::bad_usage), 2);
  EXPECT_EQ(int(Exit::cannot_run), 77);
}

TEST(Check, ThrowsWhatWasUnderWayAndWhatWentWrong) {
  EXPECT_NO_THROW(check(cudaSuccess, "nothing"));
  try {
    check(cudaErrorIllegalAddress, "gemm naive at 1x1x1");
    FAIL() << "did not throw";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, Exit::wrong_result);
    EXPECT_TRUE(contains(failure.what(), "gemm naive at 1x1x1: ")) << failure.what();
    EXPECT_TRUE(contains(failure.what(), cudaGetErrorString(cudaErrorIllegalAddress))) << failure.what();
  }
}

// --- The problems --------------------------------------------------------------------------------

TEST(Problems, ShapeTexts) {
  EXPECT_EQ(shape_text(gemm_shape(1, 22, 333)), "1x22x333");
  EXPECT_EQ(shape_text(norm_shape(4096, 5)), "4096x5");
  EXPECT_EQ(shape_text(norm_gemm_shape(1, 22, 333)), "1x22x333");
  EXPECT_EQ(shape_text(grouped_shape(4, 1, 22, 333)), "4x1x22x333");
}

TEST(Problems, Footprints) {
  EXPECT_EQ(footprint_bytes(gemm_shape(2, 3, 5)), 2u * (2 * 5 + 5 * 3 + 2 * 3));
  EXPECT_EQ(footprint_bytes(norm_shape(3, 7)), 2u * (4 * 3 * 7 + 7));
  EXPECT_EQ(footprint_bytes(norm_gemm_shape(2, 5, 3)), 2u * (3 * 2 * 5 + 5 + 5 * 3 + 2 * 3));
  EXPECT_EQ(footprint_bytes(grouped_shape(3, 2, 7, 5)), 2u * (2 * 5 + 3 * 5 * 7 + 2 * 7) + 4 * 4);
}

TEST(Problems, FootprintsBeyondThirtyTwoBits) {
  EXPECT_EQ(footprint_bytes(gemm_shape(65536, 65536, 1)), 2u * (65536 + 65536 + 0x1'0000'0000u));
  EXPECT_EQ(footprint_bytes(norm_shape(65536, 65536)), 0x8'0000'0000u + 2 * 65536);
  EXPECT_EQ(footprint_bytes(gemm_shape(max_dimension, max_dimension, max_dimension)),
            6 * (std::uint64_t(1) << 60));
  EXPECT_EQ(footprint_bytes(norm_shape(max_dimension, max_dimension)), (std::uint64_t(1) << 63) + (1u << 31));
}

TEST(Problems, Scores) {
  EXPECT_DOUBLE_EQ(score(gemm_shape(1000, 1000, 1000), Precision::bf16, 1000),
                   2);  // 2 GFLOP in a millisecond: 2 TFLOPS
  EXPECT_DOUBLE_EQ(score(norm_shape(1000, 1000), Precision::bf16, 1.0),
                   8002);  // 8.002 MB in a microsecond: 8002 GB/s
  EXPECT_DOUBLE_EQ(score(row_operator_shape(1000, 500), RowOperation::softmax, 1), 2000);
  EXPECT_DOUBLE_EQ(score(row_operator_shape(1000, 500), RowOperation::layer_norm, 1), 2002);  // gamma, beta
  EXPECT_DOUBLE_EQ(score(norm_gemm_shape(500, 1000, 2000), Precision::bf16, 1000), 2);  // the product alone
  EXPECT_DOUBLE_EQ(score(grouped_shape(64, 500, 1000, 2000), Precision::bf16, 1000), 2);
  EXPECT_NEAR(score(gemm_shape(65536, 65536, 65536), Precision::bf16, 1e6), 562.9,
              0.1);  // products past 2^31
  EXPECT_NEAR(score(norm_shape(65536, 65536), Precision::bf16, 1e6), 34.36, 0.01);
}

TEST(Problems, NamesUnitsAndDefaults) {
  EXPECT_STREQ(ProblemInfo<Gemm>::name, "gemm");
  EXPECT_STREQ(ProblemInfo<FusedNorm>::name, "fused_norm");
  EXPECT_STREQ(ProblemInfo<NormGemm>::name, "norm_gemm");
  EXPECT_STREQ(ProblemInfo<GroupedGemm>::name, "grouped_gemm");
  EXPECT_EQ(shape_text(ProblemInfo<GroupedGemm>::default_shape(DeviceKind::gpu)), "8x4096x14336x4096");
  EXPECT_EQ(shape_text(ProblemInfo<NormGemm>::default_shape(DeviceKind::gpu)), "8192x4096x4096");
  EXPECT_EQ(shape_text(ProblemInfo<Gemm>::default_shape(DeviceKind::gpu)), "4096x4096x4096");
  EXPECT_EQ(shape_text(ProblemInfo<FusedNorm>::default_shape(DeviceKind::gpu)), "16384x8192");
  EXPECT_FLOAT_EQ(ProblemInfo<FusedNorm>::default_shape(DeviceKind::gpu).eps, 1e-5f);
}

template <class Problem>
std::set<std::string> texts(const std::vector<Problem>& shapes) {
  std::set<std::string> all;
  for (const Problem& p : shapes) all.insert(shape_text(p));
  EXPECT_EQ(all.size(), shapes.size()) << "a shape stands twice";
  return all;
}

// What --verify-only is for: single rows, columns and terms, odd sizes, and the course's own.
TEST(Problems, VerifyShapesHoldTheAwkwardOnes) {
  const auto gemm = texts(ProblemInfo<Gemm>::verify_shapes());
  const auto norm = texts(ProblemInfo<FusedNorm>::verify_shapes());
  EXPECT_TRUE(gemm.contains("1x1x1") && gemm.contains("4096x4096x4096"));
  EXPECT_TRUE(norm.contains("1x1") && norm.contains("16384x8192"));
  bool odd_k = false, odd_cols = false;
  for (const Gemm& p : ProblemInfo<Gemm>::verify_shapes()) odd_k |= p.k > 64 && p.k % 2 == 1;
  for (const FusedNorm& p : ProblemInfo<FusedNorm>::verify_shapes())
    odd_cols |= p.cols > 1024 && p.cols % 2 == 1;
  EXPECT_TRUE(odd_k && odd_cols);
}

TEST(Problems, SweepsHoldTheDefaults) {
  EXPECT_TRUE(texts(ProblemInfo<Gemm>::sweep_shapes()).contains("4096x4096x4096"));
  EXPECT_TRUE(texts(ProblemInfo<FusedNorm>::sweep_shapes()).contains("16384x8192"));
}

TEST(Problems, TheCpuKeepsToSmallShapesAndHasSome) {
  EXPECT_TRUE(quick_on_cpu(gemm_shape(1, 1, 1)) && quick_on_cpu(norm_shape(1, 1)));
  EXPECT_FALSE(quick_on_cpu(ProblemInfo<Gemm>::default_shape(DeviceKind::gpu)));
  EXPECT_FALSE(quick_on_cpu(ProblemInfo<FusedNorm>::default_shape(DeviceKind::gpu)));
  EXPECT_FALSE(quick_on_cpu(gemm_shape(max_dimension, max_dimension, max_dimension)));
}

// What the simulator keeps of --verify-only: tails of every dimension on both sides of a tile, one term, one
// row, one column, and rows wider than any kernel holds in registers.
TEST(Problems, TheSimulatorKeepsToSmallShapesThatAreStillAwkward) {
  std::vector<Gemm> gemm = ProblemInfo<Gemm>::verify_shapes();
  std::vector<FusedNorm> norm = ProblemInfo<FusedNorm>::verify_shapes();
  std::erase_if(gemm, [](const Gemm& p) { return !quick_on_simulator(p); });
  std::erase_if(norm, [](const FusedNorm& p) { return !quick_on_simulator(p); });
  const auto any = [](const auto& shapes, auto&& test) {
    return std::any_of(shapes.begin(), shapes.end(), test);
  };
  EXPECT_TRUE(any(gemm, [](const Gemm& p) { return p.m * p.n * p.k == 1; }));
  EXPECT_TRUE(any(gemm, [](const Gemm& p) { return p.k == 1 && p.m > 128 && p.n > 1; }));
  EXPECT_TRUE(any(gemm, [](const Gemm& p) { return p.m == 1 && p.n > 256; }));
  EXPECT_TRUE(any(gemm, [](const Gemm& p) { return p.n == 1 && p.m > 256; }));
  EXPECT_TRUE(
      any(gemm, [](const Gemm& p) { return p.m > 128 && p.n > 128 && p.k % 16 != 0 && p.n % 8 == 0; }));
  EXPECT_TRUE(any(norm, [](const FusedNorm& p) { return p.rows == 1 && p.cols == 1; }));
  EXPECT_TRUE(any(norm, [](const FusedNorm& p) { return p.cols > 65536; }));
  EXPECT_TRUE(any(norm, [](const FusedNorm& p) { return p.rows > 100; }));
  EXPECT_FALSE(quick_on_simulator(ProblemInfo<Gemm>::default_shape(DeviceKind::gpu)));
  EXPECT_FALSE(quick_on_simulator(ProblemInfo<FusedNorm>::default_shape(DeviceKind::gpu)));
}

TEST(Problems, TheSimulatorsDefaultsAreSmall) {
  EXPECT_EQ(shape_text(ProblemInfo<Gemm>::default_shape(DeviceKind::simulator)), "256x256x256");
  EXPECT_EQ(shape_text(ProblemInfo<FusedNorm>::default_shape(DeviceKind::simulator)), "64x8192");
}

}  // namespace
}  // namespace ladder
