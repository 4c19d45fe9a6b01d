// Questions to the device and about kernels. The values are those that an H200 gave with CUDA 13.0.
#include <cstring>

#include "common/simulator/settings/device.h"
#include "common/simulator/tests/runtime_fixture.h"

namespace device_calls {
namespace {

__global__ void nothing() {}
__global__ void __launch_bounds__(128) bounded() {}
__global__ void __cluster_dims__(2, 1, 1) paired() {}
__global__ void kilobyte(int* out) {
  __shared__ int values[256];
  values[threadIdx.x] = 1;
  __syncthreads();
  *out = values[0];
}

int attribute(cudaDeviceAttr which) {
  int value = -1;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, which, 0), cudaSuccess);
  return value;
}

TEST_F(Runtime, TheDevice) {
  int count = 0, number = -1;
  OK(cudaGetDeviceCount(&count));
  OK(cudaGetDevice(&number));
  EXPECT_EQ(count, 1);
  EXPECT_EQ(number, 0);
  GIVES(cudaSetDevice(1), cudaErrorInvalidDevice);
  GIVES(cudaSetDevice(-1), cudaErrorInvalidDevice);
  cudaDeviceProp properties;
  GIVES(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice);
  OK(cudaGetDeviceProperties(&properties, 0));
  EXPECT_STREQ(properties.name, "simulator:h200");
  EXPECT_EQ(properties.major * 10 + properties.minor, 90);
  EXPECT_EQ(properties.totalGlobalMem, simulator::device().global_bytes);
  EXPECT_EQ(properties.sharedMemPerBlockOptin, 232448u);
  EXPECT_EQ(properties.maxGridSize[1], 65535);
  EXPECT_EQ(properties.maxThreadsDim[2], 64);
  EXPECT_EQ(properties.maxTexture3DAlt[2], 32768);
}

TEST_F(Runtime, DeviceAttributes) {
  EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount), 132);
  EXPECT_EQ(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor), 233472);
  EXPECT_EQ(attribute(cudaDevAttrL2CacheSize), 62914560);
  EXPECT_EQ(attribute(cudaDevAttrMaxPersistingL2CacheSize), 39321600);
  EXPECT_EQ(attribute(cudaDevAttrClusterLaunch), 1);
  EXPECT_EQ(attribute(cudaDevAttrCooperativeLaunch), 1);
  EXPECT_EQ(attribute(cudaDevAttrKernelExecTimeout), 0);
  EXPECT_EQ(attribute(cudaDevAttrNumaId), -1);
  int value = 0;
  GIVES(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(0), 0), cudaErrorInvalidValue);
  GIVES(cudaDeviceGetAttribute(&value, cudaDevAttrMax, 0), cudaErrorInvalidValue);
  GIVES(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0), cudaErrorInvalidValue);
  GIVES(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice);
}

TEST_F(Runtime, VersionsLimitsAndPeers) {
  int version = 0, can = -1, least = 0, greatest = 0;
  OK(cudaRuntimeGetVersion(&version));
  EXPECT_EQ(version, CUDART_VERSION);
  OK(cudaDriverGetVersion(&version));
  EXPECT_GE(version, CUDART_VERSION);
  size_t limit = 0;
  OK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
  EXPECT_EQ(limit, 1024u);
  OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
  OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  EXPECT_EQ(limit, 64u << 20);
  GIVES(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimeSyncDepth), cudaErrorUnsupportedLimit);
  GIVES(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1), cudaErrorInvalidValue);
  const int most = attribute(cudaDevAttrMaxPersistingL2CacheSize);
  OK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most));
  GIVES(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, size_t(most) + 1), cudaErrorInvalidValue);
  OK(cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize));
  EXPECT_EQ(limit, size_t(most));
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, -5);
  OK(cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  GIVES(cudaDeviceCanAccessPeer(&can, 0, 1), cudaErrorInvalidDevice);
  GIVES(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
  char bus[32];
  OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  EXPECT_EQ(std::strlen(bus), 12u);
  int number = -1;
  OK(cudaDeviceGetByPCIBusId(&number, bus));
  EXPECT_EQ(number, 0);
  GIVES(cudaDeviceGetPCIBusId(bus, 4, 0), cudaErrorInvalidValue);
}

TEST_F(Runtime, FunctionAttributes) {
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, nothing));
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 49152);
  EXPECT_EQ(attributes.preferredShmemCarveout, -1);
  EXPECT_EQ(attributes.ptxVersion, 90);
  EXPECT_EQ(attributes.clusterDimMustBeSet, 0);
  EXPECT_GT(attributes.numRegs, 0);
  OK(cudaFuncGetAttributes(&attributes, bounded));
  EXPECT_EQ(attributes.maxThreadsPerBlock, 128);
  OK(cudaFuncGetAttributes(&attributes, paired));
  EXPECT_EQ(attributes.clusterDimMustBeSet, 1);
  EXPECT_EQ(attributes.requiredClusterWidth, 2);
  GIVES(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 101),
        cudaErrorInvalidValue);
  GIVES(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 50), cudaSuccess);
  GIVES(cudaFuncSetAttribute(nothing, static_cast<cudaFuncAttribute>(3), 1), cudaErrorInvalidValue);
  GIVES(cudaFuncSetAttribute(nothing, cudaFuncAttributeClusterDimMustBeSet, 1), cudaErrorInvalidValue);
}

TEST_F(Runtime, Occupancy) {
  int blocks = -1;
  const auto of = [&](int threads, size_t shared) {
    EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, threads, shared), cudaSuccess);
    return blocks;
  };
  EXPECT_EQ(of(1, 0), 32);
  EXPECT_EQ(of(96, 0), 21);
  EXPECT_EQ(of(128, 0), 16);
  EXPECT_EQ(of(768, 0), 2);
  EXPECT_EQ(of(1024, 0), 2);
  EXPECT_EQ(of(1025, 0), 0);
  EXPECT_EQ(of(128, 50000), 0) << "not opted in";
  OK(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  EXPECT_EQ(of(128, 232448), 1);
  EXPECT_EQ(of(128, 100000), 2);
  OK(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 50));  // 132 KiB
  EXPECT_EQ(of(128, 100000), 1);
  EXPECT_EQ(of(128, 10000), 12);
  EXPECT_EQ(of(128, 49152), 2);
  GIVES(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 0, 0), cudaErrorInvalidValue);
}

TEST_F(Runtime, OccupancyOfTheWholeDevice) {
  size_t bytes = 0;
  const auto available = [&](int blocks) {
    EXPECT_EQ(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kilobyte, blocks, 128), cudaSuccess);
    return bytes;
  };
  EXPECT_EQ(available(1), 231424u);
  EXPECT_EQ(available(2), 115712u);
  EXPECT_EQ(available(16), 13568u);
  GIVES(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kilobyte, 33, 128), cudaErrorInvalidValue);
  int grid = 0, block = 0;
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing));
  EXPECT_EQ(grid, 264);
  EXPECT_EQ(block, 1024);
  cudaLaunchConfig_t config{};
  config.gridDim = 16;
  config.blockDim = 128;
  cudaLaunchAttribute cluster;
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {2, 1, 1};
  config.attrs = &cluster;
  config.numAttrs = 1;
  int clusters = 0;
  OK(cudaOccupancyMaxActiveClusters(&clusters, nothing, &config));
  EXPECT_EQ(clusters, 528);
  config.numAttrs = 0;
  OK(cudaOccupancyMaxActiveClusters(&clusters, nothing, &config));
  EXPECT_EQ(clusters, 0);
  OK(cudaOccupancyMaxActiveClusters(&clusters, paired, &config));
  EXPECT_EQ(clusters, 528);
  config.numAttrs = 1;
  cluster.val.clusterDim.x = 16;
  GIVES(cudaOccupancyMaxActiveClusters(&clusters, nothing, &config), cudaErrorInvalidClusterSize);
  int size = 0;
  OK(cudaOccupancyMaxPotentialClusterSize(&size, nothing, &config));
  EXPECT_EQ(size, 8);
  OK(cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  OK(cudaOccupancyMaxPotentialClusterSize(&size, nothing, &config));
  EXPECT_EQ(size, 16);
}

TEST_F(Runtime, DriverEntryPoints) {
  void* function = &function;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSuccess;
  OK(cudaGetDriverEntryPointByVersion("noSuchFunction", &function, 12000, cudaEnableDefault, &result));
  EXPECT_EQ(result, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(function, nullptr);
  GIVES(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 99000, cudaEnableDefault, &result),
        cudaErrorInvalidValue);
}

TEST_F(Runtime, LibrariesOfPtx) {
  const char ptx[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 number = 7;\n"
      ".visible .entry answer(.param .u64 out) {\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\nld.param.u64 %rd1, "
      "[out];\n"
      "cvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, 42;\nst.global.u32 [%rd2], %r1;\nret;\n}\n";
  cudaLibrary_t library;
  cudaKernel_t kernel;
  OK(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cudaLibraryGetKernel(&kernel, library, "answer"));
  GIVES(cudaLibraryGetKernel(&kernel, library, "question"), cudaErrorSymbolNotFound);
  OK(cudaLibraryGetKernel(&kernel, library, "answer"));
  void* out = nullptr;
  size_t bytes = 0;
  OK(cudaLibraryGetGlobal(&out, &bytes, library, "number"));
  EXPECT_EQ(bytes, 4u);
  void* arguments[] = {&out};
  OK(cudaLaunchKernel(kernel, 1, 1, arguments, 0, nullptr));
  int value = 0;
  OK(cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(value, 42);
  OK(cudaLibraryUnload(library));
  said([&] {
    GIVES(cudaLibraryLoadData(&library, "no PTX at all", nullptr, nullptr, 0, nullptr, nullptr, 0),
          cudaErrorInvalidPtx);
    GIVES(cudaLibraryLoadFromFile(&library, "/no/such/file", nullptr, nullptr, 0, nullptr, nullptr, 0),
          cudaErrorFileNotFound);
  });
}

}  // namespace
TEST_F(Runtime, LaunchesFromTheDeviceAreRefusedAsSuch) {
  const char ptx[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 a);\n"
      ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a, .param .b64 b);\n"
      ".visible .entry parent() {\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\n"
      "{ .param .b64 a; .param .b64 r; st.param.b64 [a], 0; call.uni (r), __cudaCDP2GetParameterBufferV2, "
      "(a);\n"
      "ld.param.b64 %rd1, [r]; }\n"
      "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd1; st.param.b64 [b], 0;\n"
      "call.uni (r), __cudaCDP2LaunchDeviceV2, (a, b); ld.param.b32 %r1, [r]; }\nret;\n}\n";
  cudaLibrary_t library;
  cudaKernel_t kernel;
  OK(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  const std::string line = said([&] {
    OK(cudaLibraryGetKernel(&kernel, library, "parent"));
    GIVES(cudaLaunchKernel(kernel, 1, 1, nullptr, 0, nullptr), cudaErrorNotSupported);
  });
  EXPECT_NE(line.find("parent cannot run"), std::string::npos) << line;
  EXPECT_NE(line.find("launches from the device (dynamic parallelism) are not supported"), std::string::npos)
      << line;
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
}

}  // namespace device_calls
