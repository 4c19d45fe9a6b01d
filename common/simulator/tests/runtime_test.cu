// Launches: what is refused and with which error, and what a kernel's fault does to later calls. The errors
// are those that an H200 gave with CUDA 13.0.
#include <cooperative_groups.h>

#include <cassert>
#include <cstdint>
#include <cstring>

#include "common/simulator/tests/runtime_fixture.h"

namespace {

__global__ void nothing() {}
__global__ void __launch_bounds__(128) bounded() {}
__global__ void __cluster_dims__(2, 1, 1) paired() {}
__global__ void __launch_bounds__(128, 1, 4) at_most_four() {}
__block_size__((64, 1, 1), (2, 1, 1)) __global__ void blocks_of_two(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(gridDim.x);
}
__global__ void static_shared(int* out) {
  __shared__ int values[256];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (out != nullptr) out[threadIdx.x] = values[255 - threadIdx.x];
}
__global__ void dynamic_shared(int* out, int last) {
  extern __shared__ int values[];
  if (out == nullptr) return;
  values[last] = 7;
  *out = values[last];
}
struct Mixed {
  char a;
  double b;
  short c[3];
};
__global__ void parameters(char a, short b, Mixed c, float d, double* out) {
  out[0] = a + b;
  out[1] = c.b + c.c[2] + c.a;
  out[2] = d;
}
__global__ void where(unsigned* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}
__global__ void store(int* at, int value) {
  *at = value;
}
__global__ void misalign(char* at) {
  *reinterpret_cast<volatile int*>(at + 1) = 1;
}
__global__ void trap() {
  asm volatile("trap;");
}
__global__ void check(int x) {
  assert(x == 0);
}
__global__ void shared_beyond(int i) {
  __shared__ volatile int values[32];
  values[i] = 1;
}
__global__ void local_beyond(int i, int* out) {
  volatile int values[32];
  values[0] = 1;
  values[i] = 2;
  *out = values[0];
}
__global__ void read_unwritten(const int* in, int* out) {
  *out = *in + 1;
}
__global__ void wait_for_ever(int* flag) {
  while (atomicAdd(flag, 0) == 0) {
  }
}
__global__ void grid_sum(int* total, int* result) {
  atomicAdd(total, 1);
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) *result = *total;
}

template <class... Parameters>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared = 0,
                   Parameters... arguments) {
  void* pointers[] = {&arguments..., nullptr};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, pointers, shared, nullptr);
}

template <class... Parameters>
cudaError_t launch_clusters(void (*kernel)(Parameters...), dim3 grid, dim3 cluster, size_t shared = 0,
                            Parameters... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(32);
  config.dynamicSmemBytes = shared;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster.x;
  attribute.val.clusterDim.y = cluster.y;
  attribute.val.clusterDim.z = cluster.z;
  config.attrs = &attribute;
  config.numAttrs = 1;
  void* pointers[] = {&arguments..., nullptr};
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), pointers);
}

template <class T>
T read(const T* device) {
  T value{};
  EXPECT_EQ(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
  return value;
}

template <class T>
T* allocate(size_t count = 1) {
  T* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, count * sizeof(T)), cudaSuccess);
  return pointer;
}

TEST_F(Runtime, ParametersArriveAsTheyWerePassed) {
  double* out = allocate<double>(3);
  parameters<<<1, 1>>>('a', 1000, Mixed{2, 0.5, {0, 0, 40}}, 0.25f, out);
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(read(out), 'a' + 1000);
  EXPECT_EQ(read(out + 1), 42.5);
  EXPECT_EQ(read(out + 2), 0.25);
}

TEST_F(Runtime, ThreadsKnowTheirPlaces) {
  unsigned* out = allocate<unsigned>(2 * 3 * 2 * 4 * 5 * 2);
  where<<<dim3(2, 3, 2), dim3(4, 5, 2)>>>(out);
  OK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < 12 * 40; ++i) ASSERT_EQ(read(out + i), i / 40 * 1000 + i % 40);
}

TEST_F(Runtime, DimensionsThatTheDeviceHasNot) {
  GIVES(launch(nothing, 0, 1), cudaErrorInvalidValue);
  GIVES(launch(nothing, dim3(1, 0), 1), cudaErrorInvalidValue);
  GIVES(launch(nothing, 1, 0), cudaErrorInvalidValue);
  GIVES(launch(nothing, 1, 1025), cudaErrorInvalidValue);
  GIVES(launch(nothing, 1, dim3(32, 33)), cudaErrorInvalidValue);
  GIVES(launch(nothing, 1, dim3(1, 1, 65)), cudaErrorInvalidValue);
  GIVES(launch(nothing, dim3(1, 65536), 1), cudaErrorInvalidValue);
  GIVES(launch(nothing, dim3(1, 1, 65536), 1), cudaErrorInvalidValue);
  GIVES(launch(nothing, 1u << 31, 1), cudaErrorInvalidValue);
  GIVES(launch(nothing, 1, dim3(1, 1024, 1)), cudaSuccess);
  nothing<<<1, 2048>>>();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Runtime, LaunchBounds) {
  GIVES(launch(bounded, 1, 128), cudaSuccess);
  GIVES(launch(bounded, 1, 129), cudaErrorInvalidValue);
}

TEST_F(Runtime, NotAKernel) {
  int not_a_kernel = 0;
  void* none[] = {nullptr};
  GIVES(cudaLaunchKernel(nullptr, 1, 1, none, 0, nullptr), cudaErrorInvalidDeviceFunction);
  GIVES(cudaLaunchKernel(&not_a_kernel, 1, 1, none, 0, nullptr), cudaErrorInvalidResourceHandle);
  cudaFuncAttributes attributes;
  GIVES(cudaFuncGetAttributes(&attributes, &not_a_kernel), cudaErrorInvalidResourceHandle);
  GIVES(cudaFuncSetAttribute(static_cast<void*>(nullptr), cudaFuncAttributePreferredSharedMemoryCarveout, 0),
        cudaErrorInvalidDeviceFunction);
}

TEST_F(Runtime, SharedMemoryNeedsOptingIn) {
  int* out = allocate<int>();
  const auto with = [&](size_t bytes) {
    return launch(dynamic_shared, 1, 1, bytes, out, static_cast<int>(bytes / 4) - 1);
  };
  const auto opt_in = [](int bytes) {
    return cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  GIVES(with(49152), cudaSuccess);
  GIVES(with(49156), cudaErrorInvalidValue);
  GIVES(opt_in(232449), cudaErrorInvalidValue);
  GIVES(opt_in(-1), cudaErrorInvalidValue);
  GIVES(opt_in(232448), cudaSuccess);
  GIVES(with(232448), cudaSuccess);
  EXPECT_EQ(read(out), 7);
  GIVES(with(232452), cudaErrorInvalidValue);
  GIVES(opt_in(65536), cudaSuccess);
  GIVES(with(65540), cudaErrorInvalidValue);
  GIVES(opt_in(1024), cudaSuccess);
  GIVES(with(2048), cudaErrorInvalidValue);
}

TEST_F(Runtime, StaticSharedMemoryCounts) {
  const auto with = [](size_t bytes) {
    return launch(static_shared, 1, 256, bytes, static_cast<int*>(nullptr));
  };
  GIVES(with(48 * 1024), cudaErrorInvalidValue);
  GIVES(with(47 * 1024), cudaSuccess);
  GIVES(cudaFuncSetAttribute(static_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024),
        cudaErrorInvalidValue);
  GIVES(cudaFuncSetAttribute(static_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 226 * 1024),
        cudaSuccess);
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, static_shared));
  EXPECT_EQ(attributes.sharedSizeBytes, 1024u);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 226 * 1024);
}

TEST_F(Runtime, Clusters) {
  GIVES(launch_clusters(nothing, 4, 2), cudaSuccess);
  GIVES(launch_clusters(nothing, 6, 3), cudaSuccess);
  GIVES(launch_clusters(nothing, dim3(4, 4, 4), dim3(2, 2, 2)), cudaSuccess);
  GIVES(launch_clusters(nothing, 4, dim3(0, 0, 0)), cudaSuccess);
  GIVES(launch_clusters(nothing, 4, dim3(2, 0, 1)), cudaErrorInvalidClusterSize);
  GIVES(launch_clusters(nothing, 4, 3), cudaErrorInvalidClusterSize);
  GIVES(launch_clusters(nothing, 18, 9), cudaErrorInvalidClusterSize);
  GIVES(launch_clusters(nothing, 16, 16), cudaErrorInvalidClusterSize);
  OK(cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  GIVES(launch_clusters(nothing, 16, 16), cudaSuccess);
  GIVES(launch_clusters(nothing, 17, 17), cudaErrorInvalidClusterSize);
}

TEST_F(Runtime, ClustersOfTheKernelItself) {
  GIVES(launch(paired, 4, 32), cudaSuccess);
  GIVES(launch(paired, 3, 32), cudaErrorInvalidClusterSize);
  GIVES(launch_clusters(paired, 4, 2), cudaSuccess);
  GIVES(launch_clusters(paired, 4, 4), cudaErrorInvalidClusterSize);
  GIVES(launch_clusters(at_most_four, 8, 4), cudaSuccess);
  GIVES(launch_clusters(at_most_four, 8, 8), cudaErrorInvalidClusterSize);
}

TEST_F(Runtime, ALaunchMayCountClusters) {
  int* out = allocate<int>(6 * 64);
  blocks_of_two<<<3, 1>>>(out);
  OK(cudaGetLastError());
  int got[6 * 64];
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  for (const int value : got) EXPECT_EQ(value, 6);
  OK(cudaFree(out));
}

TEST_F(Runtime, CooperativeLaunches) {
  int* total = allocate<int>(2);
  int* result = total + 1;
  OK(cudaMemset(total, 0, 8));
  void* arguments[] = {&total, &result};
  GIVES(cudaLaunchCooperativeKernel(grid_sum, 24, 64, arguments, 0, nullptr), cudaSuccess);
  EXPECT_EQ(read(result), 24 * 64);
  GIVES(cudaLaunchCooperativeKernel(nothing, 132 * 16, 128, nullptr, 0, nullptr), cudaSuccess);
  GIVES(cudaLaunchCooperativeKernel(nothing, 132 * 16 + 1, 128, nullptr, 0, nullptr),
        cudaErrorCooperativeLaunchTooLarge);
  GIVES(cudaLaunchCooperativeKernel(nothing, 132 * 32 + 1, 32, nullptr, 0, nullptr),
        cudaErrorCooperativeLaunchTooLarge);
}

TEST_F(Runtime, KernelHandlesLaunchToo) {
  cudaKernel_t kernel;
  cudaFunction_t function;
  OK(cudaGetKernel(&kernel, reinterpret_cast<const void*>(nothing)));
  OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(nothing)));
  GIVES(cudaLaunchKernel(kernel, 1, 1, nullptr, 0, nullptr), cudaSuccess);
  GIVES(cudaLaunchKernel(function, 1, 1, nullptr, 0, nullptr), cudaSuccess);
  const char* name = nullptr;
  OK(cudaFuncGetName(&name, reinterpret_cast<const void*>(bounded)));
  EXPECT_NE(std::strstr(name, "bounded"), nullptr);
  size_t offset = 0, size = 0;
  OK(cudaFuncGetParamInfo(reinterpret_cast<const void*>(parameters), 2, &offset, &size));
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(size, sizeof(Mixed));
  GIVES(cudaFuncGetParamInfo(reinterpret_cast<const void*>(parameters), 5, &offset, &size),
        cudaErrorInvalidValue);
}

// The launch of a kernel that faults succeeds; the error comes from the next wait, and from every call after
// it.
void expect_fault(cudaError_t error, const char* reported) {
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "of the launch itself";
  GIVES(cudaDeviceSynchronize(), error);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "cleared";
  GIVES(cudaDeviceSynchronize(), error);
  void* pointer = nullptr;
  cudaStream_t stream;
  GIVES(cudaMalloc(&pointer, 4), error);
  GIVES(cudaStreamCreate(&stream), error);
  GIVES(cudaFree(nullptr), error);
  int number = 0;
  GIVES(cudaGetDevice(&number), cudaSuccess);
  nothing<<<1, 1>>>();
  EXPECT_EQ(cudaGetLastError(), error);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find(reported), std::string::npos) << text;
  GIVES(cudaDeviceReset(), cudaSuccess);
  GIVES(cudaMalloc(&pointer, 4), cudaSuccess);
}

TEST_F(Runtime, IllegalAddress) {
  testing::internal::CaptureStderr();
  store<<<1, 1>>>(reinterpret_cast<int*>(0x12345678000), 1);
  expect_fault(cudaErrorIllegalAddress, "0x12345678000");
}

TEST_F(Runtime, UseAfterFree) {
  int* freed = allocate<int>();
  OK(cudaFree(freed));
  testing::internal::CaptureStderr();
  store<<<1, 1>>>(freed, 1);
  expect_fault(cudaErrorIllegalAddress, "freed");
}

TEST_F(Runtime, HostMemoryIsNotTheDevices) {
  int host = 0;
  testing::internal::CaptureStderr();
  store<<<1, 1>>>(&host, 1);
  expect_fault(cudaErrorIllegalAddress, "store of 4 bytes");
}

TEST_F(Runtime, Misaligned) {
  char* bytes = allocate<char>(16);
  testing::internal::CaptureStderr();
  misalign<<<1, 1>>>(bytes);
  expect_fault(cudaErrorMisalignedAddress, "misaligned");
}

TEST_F(Runtime, SharedMemoryOutOfBounds) {
  testing::internal::CaptureStderr();
  shared_beyond<<<1, 1>>>(1 << 20);
  expect_fault(cudaErrorIllegalAddress, "shared memory");
}

TEST_F(Runtime, LocalMemoryOutOfBounds) {
  int* out = allocate<int>();
  testing::internal::CaptureStderr();
  local_beyond<<<1, 1>>>(1 << 24, out);
  expect_fault(cudaErrorIllegalAddress, "local memory");
}

TEST_F(Runtime, Trap) {
  testing::internal::CaptureStderr();
  trap<<<1, 1>>>();
  expect_fault(cudaErrorLaunchFailure, "trap");
}

TEST_F(Runtime, Assertion) {
  testing::internal::CaptureStderr();
  check<<<1, 1>>>(1);
  expect_fault(cudaErrorAssert, "x == 0");
}

TEST_F(Runtime, Deadlock) {
  int* flag = allocate<int>();
  OK(cudaMemset(flag, 0, 4));
  testing::internal::CaptureStderr();
  wait_for_ever<<<1, 1>>>(flag);
  expect_fault(cudaErrorLaunchTimeout, "deadlock");
}

TEST_F(Runtime, FindingsFailTheLaunchWhereAskedTo) {
  int* pair = allocate<int>(2);
  testing::internal::CaptureStderr();
  read_unwritten<<<1, 1>>>(pair, pair + 1);
  expect_fault(cudaErrorLaunchFailure, "never written");
}

TEST_F(Runtime, FindingsAreOnlyToldWhereAskedTo) {
  int* pair = allocate<int>(2);
  simulator::settings().checks = simulator::Checks::report;
  EXPECT_NE(said([&] { read_unwritten<<<1, 1>>>(pair, pair + 1); }).find("never written"), std::string::npos);
  GIVES(cudaDeviceSynchronize(), cudaSuccess);
  simulator::settings().checks = simulator::Checks::off;
  EXPECT_EQ(said([&] { read_unwritten<<<1, 1>>>(pair, pair + 1); }), "");
}

TEST_F(Runtime, WorkAfterAFaultIsNotDone) {
  int* value = allocate<int>();
  OK(cudaMemset(value, 0, 4));
  said([&] {
    trap<<<1, 1>>>();
    bool called = false;
    GIVES(cudaLaunchHostFunc(
              nullptr, [](void* flag) { *static_cast<bool*>(flag) = true; }, &called),
          cudaSuccess);
    EXPECT_FALSE(called);
    cudaEvent_t event = nullptr;
    GIVES(cudaEventCreate(&event), cudaSuccess);
    GIVES(cudaEventRecord(event), cudaSuccess);
    GIVES(cudaEventSynchronize(event), cudaErrorLaunchFailure);
  });
}

TEST_F(Runtime, MemcpyReportsTheFault) {
  int* value = allocate<int>();
  int host = 0;
  said([&] {
    trap<<<1, 1>>>();
    GIVES(cudaMemcpy(&host, value, 4, cudaMemcpyDeviceToHost), cudaErrorLaunchFailure);
  });
}

TEST_F(Runtime, LastErrorIsPeekedAtOrTaken) {
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  OK(cudaSetDevice(0));
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "a success clears nothing";
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Runtime, ErrorsHaveNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorApiFailureBase), "cudaErrorApiFailureBase");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(9999)), "unrecognized error code");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(-1)), "unrecognized error code");
}

__global__ void fetches_texel(unsigned long long texture, float* out) {
  float x, y, z, w;
  asm volatile("tex.1d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5}];"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "l"(texture), "f"(0.5f));
  *out = x + y + z + w;
}

TEST_F(Runtime, AProgramThatIgnoresARefusedKernelHearsOfItAgain) {
  float* out = nullptr;
  float host = 0;
  OK(cudaMalloc(&out, sizeof(float)));
  const std::string words = said([&] {
    fetches_texel<<<1, 1>>>(0, out);
    EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  });
  EXPECT_NE(words.find("fetches_texel(unsigned long long, float*) cannot run: PTX line "), std::string::npos)
      << words;
  EXPECT_NE(words.find("tex.1d.v4.f32.f32"), std::string::npos) << words;
  GIVES(cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost), cudaErrorNotSupported);
  GIVES(cudaDeviceSynchronize(), cudaErrorNotSupported);
}

TEST_F(Runtime, WhatIsNotSupportedSaysSo) {
  static bool reported = false;  // once in a process
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  const auto call = [&] { GIVES(cudaMallocArray(&array, &format, 16), cudaErrorNotSupported); };
  EXPECT_EQ(said(call), reported ? "" : "simulator: cudaMallocArray() is not supported\n");
  reported = true;
  EXPECT_EQ(said(call), "");
}

}  // namespace
