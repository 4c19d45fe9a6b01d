// What a launch costs the host. The driver reads a clock over PCIe: a query of it in each launch once made
// small products ten times as slow, and no result was wrong. So queries of the driver's attributes go through
// the functions below (the linker's --wrap), which count.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <map>

#include "common/rung.h"

namespace {

std::map<cudaDeviceAttr, int> asked;  // how often
int properties = 0;

}  // namespace

extern "C" {

cudaError_t __real_cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t __wrap_cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  ++asked[attribute];
  return __real_cudaDeviceGetAttribute(value, attribute, device);
}

cudaError_t __real_cudaGetDeviceProperties(cudaDeviceProp* all, int device);
cudaError_t __wrap_cudaGetDeviceProperties(cudaDeviceProp* all, int device) {
  ++properties;
  return __real_cudaGetDeviceProperties(all, device);
}

}  // extern "C"

namespace ladder {
namespace {

// 0, and as large as any operand below.
__nv_bfloat16* zeros() {
  static void* const memory = [] {
    void* allocated = nullptr;
    EXPECT_EQ(cudaMalloc(&allocated, 1 << 20), cudaSuccess);
    EXPECT_EQ(cudaMemset(allocated, 0, 1 << 20), cudaSuccess);
    return allocated;
  }();
  return static_cast<__nv_bfloat16*>(memory);
}

TEST(HostCost, OnlyTheFirstLaunchAsksForClocks) {
  const Gemm p{.m = 64, .n = 64, .k = 128, .a = zeros(), .b = zeros() + (1 << 17), .c = zeros() + (1 << 18)};
  for (const Variant<Gemm>& variant : rung().gemm) {
    if (variant.extension || !variant.unsupported(p).empty()) continue;
    EXPECT_EQ(variant.launch(p, nullptr), cudaSuccess) << variant.name;
    asked.clear();
    properties = 0;
    EXPECT_EQ(variant.launch(p, nullptr), cudaSuccess) << variant.name;
    EXPECT_EQ(asked[cudaDevAttrClockRate], 0) << variant.name;
    EXPECT_EQ(asked[cudaDevAttrMemoryClockRate], 0) << variant.name;
    EXPECT_EQ(properties, 0) << variant.name;
    int all = 0;
    for (const auto& [attribute, times] : asked) all += times;
    EXPECT_LE(all, 4) << variant.name;
  }
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

// The choice queries the number of SMs. A shape's second launch has nothing to choose, another shape's has.
TEST(HostCost, AChoiceIsMadeOnce) {
  const Variant<Gemm>& by_shape = rung().gemm.back();
  const auto queries = [&](int n) {
    const Gemm p{.m = 72, .n = n, .k = 128, .a = zeros(), .b = zeros() + (1 << 17), .c = zeros() + (1 << 18)};
    asked.clear();
    EXPECT_EQ(by_shape.launch(p, nullptr), cudaSuccess);
    return asked[cudaDevAttrMultiProcessorCount];
  };
  const int first = queries(64), again = queries(64), other = queries(72);
  EXPECT_EQ(first, again + 1);
  EXPECT_EQ(other, first);
  EXPECT_EQ(queries(64), again);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST(HostCost, QueriesAreCounted) {
  asked.clear();
  int khz = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0), cudaSuccess);
  EXPECT_EQ(asked[cudaDevAttrClockRate], 1);
}

}  // namespace
}  // namespace ladder
