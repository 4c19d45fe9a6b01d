// The system, and what it makes of errors. Nothing here launches a kernel.
#include "common/harness/backend/system.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "common/harness/base/failure.h"

namespace ladder {
namespace {

constexpr std::uint64_t gibibyte = 1 << 30;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
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

System gpu(int major, int minor) {
  System system;
  system.device = "GPU Z";
  system.major = major;
  system.minor = minor;
  return system;
}

// Why the machine cannot run such code; empty where it can.
std::string obstacle(const System& system, const ComputeCapability& needs) {
  try {
    require(system, needs);
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
TEST(ThisSystem, WithoutAGpuCannotRun) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  try {
    this_system();
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

}  // namespace
}  // namespace ladder
