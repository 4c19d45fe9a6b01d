// A window is on the launch that it is meant for and on no other: not on what the stream launches next, and
// still on the kernel when a graph launches it again. On a GPU this holds what the variants say of capture.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "common/every_shape/estimate/estimate.h"
#include "common/harness/tests/device_operands.h"
#include "common/rung.h"

namespace ladder {
namespace {

struct Stream {
  cudaStream_t stream = nullptr;
  Stream() { EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess); }
  ~Stream() { cudaStreamDestroy(stream); }
  cudaAccessPolicyWindow window() const {
    cudaStreamAttrValue value{};
    EXPECT_EQ(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value), cudaSuccess);
    return value.accessPolicyWindow;
  }
};

template <class Problem>
const Variant<Problem>& named(const Variants<Problem>& variants, std::string_view name) {
  return *std::find_if(variants.begin(), variants.end(), [&](const auto& v) { return v.name == name; });
}

cudaError_t launch_128x256(const Gemm& p, cudaStream_t stream) {
  return every_shape::straight_candidates().back().launch(p, {}, stream, false);
}
const Variant<Gemm> plain_product{
    .name = "128x256", .what = "persisting_b without its window", .launch = launch_128x256};

// The windows of the kernels of a graph in which `variant` and then `plain` were captured; runs it, too.
template <class Problem>
std::vector<cudaAccessPolicyWindow> captured(const Problem& p, const Variant<Problem>& variant,
                                             const Variant<Problem>& plain) {
  const Stream s;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  EXPECT_EQ(plain.launch(p, s.stream), cudaSuccess);  // the module is loaded before the capture
  EXPECT_EQ(cudaStreamSynchronize(s.stream), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(plain.launch(p, s.stream), cudaSuccess);
  EXPECT_EQ(variant.launch(p, s.stream), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(s.stream, &graph), cudaSuccess);
  EXPECT_EQ(s.window().num_bytes, 0u) << "the stream has no window left";
  std::vector<cudaGraphNode_t> nodes(8);
  std::size_t count = nodes.size();
  EXPECT_EQ(cudaGraphGetNodes(graph, nodes.data(), &count), cudaSuccess);
  std::vector<cudaAccessPolicyWindow> windows;
  for (std::size_t i = 0; i < count; ++i) {
    cudaKernelNodeAttrValue value{};
    EXPECT_EQ(cudaGraphKernelNodeGetAttribute(nodes[i], cudaKernelNodeAttributeAccessPolicyWindow, &value),
              cudaSuccess);
    windows.push_back(value.accessPolicyWindow);
  }
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, s.stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(s.stream), cudaSuccess);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return windows;
}

// The first kernel has none, the second one over these bytes.
void expect_on_second(const std::vector<cudaAccessPolicyWindow>& windows, const void* base, std::size_t bytes,
                      float share) {
  ASSERT_EQ(windows.size(), 2u);
  const bool second = windows[1].num_bytes != 0;  // nodes come in any order
  EXPECT_EQ(windows[!second].num_bytes, 0u);
  EXPECT_EQ(windows[second].base_ptr, base);
  EXPECT_EQ(windows[second].num_bytes, bytes);
  EXPECT_FLOAT_EQ(windows[second].hitRatio, share);
  EXPECT_EQ(windows[second].hitProp, cudaAccessPropertyPersisting);
  EXPECT_EQ(windows[second].missProp, cudaAccessPropertyNormal);
}

TEST(PersistingL2, GammaOfACapturedNorm) {
  const int rows = 3, cols = 1024;
  const OnDevice x(numbers(rows * cols, 1)), residual(numbers(rows * cols, 2)), gamma(numbers(cols, 3));
  const Bits unwritten(rows * cols, 0xFFFF);
  const OnDevice h(unwritten), y(unwritten), plain_h(unwritten), plain_y(unwritten);
  FusedNorm p{.rows = rows,
              .cols = cols,
              .x = x.get(),
              .residual = residual.get(),
              .gamma = gamma.get(),
              .h = plain_h.get(),
              .y = plain_y.get(),
              .eps = 1e-6f};
  const auto& plain = rung().fused_norm.back();
  ASSERT_EQ(plain.launch(p, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  p.h = h.get(), p.y = y.get();
  const auto windows = captured(p, named(rung().fused_norm, "persisting_gamma"), plain);
  expect_on_second(windows, gamma.get(), cols * 2, 1);
  EXPECT_EQ(h.read(rows * cols), plain_h.read(rows * cols));
  EXPECT_EQ(y.read(rows * cols), plain_y.read(rows * cols));
}

TEST(PersistingL2, BOfACapturedProduct) {
  const int m = 136, n = 264, k = 72;
  const Bits unwritten(m * n, 0xFFFF);
  const OnDevice a(numbers(m * k, 1)), b(numbers(k * n, 2)), c(unwritten), plain_c(unwritten);
  Gemm p{.m = m, .n = n, .k = k, .a = a.get(), .b = b.get(), .c = plain_c.get()};
  ASSERT_EQ(plain_product.launch(p, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  p.c = c.get();
  expect_on_second(captured(p, named(rung().gemm, "persisting_b"), plain_product), b.get(),
                   std::size_t(k) * n * 2, 1);
  EXPECT_EQ(c.read(m * n), plain_c.read(m * n));
}

// Of what does not fit the part of L2 that is set aside, a share is to persist.
TEST(PersistingL2, ShareOfALargeB) {
  std::size_t set_aside = 0, before = 0;
  ASSERT_EQ(cudaDeviceGetLimit(&before, cudaLimitPersistingL2CacheSize), cudaSuccess);
  ASSERT_EQ(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetLimit(&set_aside, cudaLimitPersistingL2CacheSize), cudaSuccess);  // may be rounded
  const int m = 8, n = 2048, k = 1024;                                                     // B: 4 MiB
  const OnDevice a(numbers(m * k, 1)), b(numbers(std::size_t(k) * n, 2)), c(Bits(m * n, 0xFFFF));
  const Gemm p{.m = m, .n = n, .k = k, .a = a.get(), .b = b.get(), .c = c.get()};
  const auto windows = captured(p, named(rung().gemm, "persisting_b"), plain_product);
  expect_on_second(windows, b.get(), 4 << 20, float(set_aside) / (4 << 20));
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, before), cudaSuccess);
}

}  // namespace
}  // namespace ladder
