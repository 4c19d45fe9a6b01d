// Streams, events, capture, graphs. The errors are those that an H200 gave with CUDA 13.0.
#include <vector>

#include "common/simulator/tests/runtime_fixture.h"

namespace stream_calls {
namespace {

__global__ void nothing() {}
__global__ void add(int* value, int n) {
  *value += n;
}
__global__ void twice(int* value) {
  *value *= 2;
}

class Capture : public Runtime {
 protected:
  void SetUp() override {
    Runtime::SetUp();
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreate(&other));
    OK(cudaEventCreate(&event));
    OK(cudaMalloc(&value, 4));
    OK(cudaMemset(value, 0, 4));
  }

  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    OK(cudaStreamBeginCapture(stream, mode));
  }
  cudaStreamCaptureStatus status() {
    cudaStreamCaptureStatus result;
    EXPECT_EQ(cudaStreamIsCapturing(stream, &result), cudaSuccess);
    return result;
  }
  // A call that a capture does not allow, and that ends it; or that it does allow.
  void refused(cudaError_t got, cudaError_t expected) {
    EXPECT_EQ(got, expected);
    cudaGetLastError();
    EXPECT_EQ(status(), cudaStreamCaptureStatusInvalidated);
    GIVES(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(status(), cudaStreamCaptureStatusNone);
  }
  void allowed(cudaError_t got) {
    EXPECT_EQ(got, cudaSuccess);
    EXPECT_EQ(status(), cudaStreamCaptureStatusActive);
    GIVES(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  }
  int read() {
    int host = -1;
    EXPECT_EQ(cudaMemcpy(&host, value, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    return host;
  }

  cudaStream_t stream = nullptr, other = nullptr;
  cudaEvent_t event = nullptr;
  cudaGraph_t graph = nullptr;
  int* value = nullptr;
  int host_value = 3;
};

TEST_F(Runtime, StreamsAndTheirErrors) {
  cudaStream_t stream;
  unsigned flags = 9;
  int priority = 9;
  GIVES(cudaStreamCreateWithFlags(&stream, 2), cudaErrorInvalidValue);
  GIVES(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100), cudaSuccess);
  OK(cudaStreamGetPriority(stream, &priority));
  EXPECT_EQ(priority, -5) << "clamped";
  OK(cudaStreamGetFlags(stream, &flags));
  EXPECT_EQ(flags, cudaStreamNonBlocking);
  nothing<<<1, 1, 0, stream>>>();
  GIVES(cudaStreamQuery(stream), cudaSuccess);
  GIVES(cudaStreamDestroy(stream), cudaSuccess);
  GIVES(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  nothing<<<1, 1, 0, stream>>>();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  GIVES(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  GIVES(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
  GIVES(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
  GIVES(cudaStreamSynchronize(cudaStreamLegacy), cudaSuccess);
}

// By the documentation, not tried on a GPU.
TEST_F(Runtime, WindowsOfPersistingMemoryAreChecked) {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  int most = 0;
  OK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxAccessPolicyWindowSize, 0));
  const cudaAccessPolicyWindow good{nullptr, size_t(most), 0.5f, cudaAccessPropertyPersisting,
                                    cudaAccessPropertyStreaming};
  auto set = [&](const cudaAccessPolicyWindow& window) {
    cudaStreamAttrValue value{};
    value.accessPolicyWindow = window;
    return cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
  };
  auto launch = [&](const cudaAccessPolicyWindow& window) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeAccessPolicyWindow;
    attribute.val.accessPolicyWindow = window;
    cudaLaunchConfig_t config{};
    config.gridDim = config.blockDim = 1;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, nothing);
  };
  GIVES(set(good), cudaSuccess);
  GIVES(launch(good), cudaSuccess);
  auto bad = [&](auto change) {
    cudaAccessPolicyWindow window = good;
    change(window);
    GIVES(set(window), cudaErrorInvalidValue);
    GIVES(launch(window), cudaErrorInvalidValue);
  };
  bad([](auto& w) { ++w.num_bytes; });
  bad([](auto& w) { w.hitRatio = 1.5f; });
  bad([](auto& w) { w.hitRatio = -0.1f; });
  bad([](auto& w) { w.hitProp = static_cast<cudaAccessProperty>(3); });
  bad([](auto& w) { w.missProp = cudaAccessPropertyPersisting; });
  cudaStreamAttrValue kept{};
  OK(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &kept));
  EXPECT_EQ(kept.accessPolicyWindow.num_bytes, size_t(most)) << "what was refused has changed nothing";
}

// A launch that is captured takes the window that its stream has then, or its own.
TEST_F(Capture, KernelNodesHaveTheirWindows) {
  auto set = [&](size_t bytes) {
    cudaStreamAttrValue value{};
    value.accessPolicyWindow = {this->value, bytes, 1, cudaAccessPropertyPersisting,
                                cudaAccessPropertyNormal};
    return cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
  };
  cudaLaunchAttribute own{};
  own.id = cudaLaunchAttributeAccessPolicyWindow;
  own.val.accessPolicyWindow = {value, 2, 1, cudaAccessPropertyPersisting, cudaAccessPropertyNormal};
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = 1;
  config.stream = stream;
  config.attrs = &own;
  config.numAttrs = 1;
  begin();
  OK(set(4));
  add<<<1, 1, 0, stream>>>(value, 1);
  OK(cudaLaunchKernelEx(&config, nothing));
  OK(set(0));
  add<<<1, 1, 0, stream>>>(value, 1);
  OK(cudaStreamEndCapture(stream, &graph));
  size_t count = 3;
  const size_t bytes[3] = {4, 2, 0};
  cudaGraphNode_t nodes[3];
  OK(cudaGraphGetNodes(graph, nodes, &count));
  ASSERT_EQ(count, 3u);
  cudaKernelNodeAttrValue window{};
  for (size_t i = 0; i < 3; ++i) {
    OK(cudaGraphKernelNodeGetAttribute(nodes[i], cudaKernelNodeAttributeAccessPolicyWindow, &window));
    EXPECT_EQ(window.accessPolicyWindow.num_bytes, bytes[i]);
  }
  window.accessPolicyWindow.num_bytes = 1;
  OK(cudaGraphKernelNodeSetAttribute(nodes[0], cudaKernelNodeAttributeAccessPolicyWindow, &window));
  OK(cudaGraphKernelNodeGetAttribute(nodes[0], cudaKernelNodeAttributeAccessPolicyWindow, &window));
  EXPECT_EQ(window.accessPolicyWindow.num_bytes, 1u);
  window.accessPolicyWindow.hitRatio = 2;
  GIVES(cudaGraphKernelNodeSetAttribute(nodes[0], cudaKernelNodeAttributeAccessPolicyWindow, &window),
        cudaErrorInvalidValue);
  cudaGraphNode_t empty;
  OK(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
  GIVES(cudaGraphKernelNodeGetAttribute(empty, cudaKernelNodeAttributeAccessPolicyWindow, &window),
        cudaErrorInvalidValue);
  cudaGraph_t clone;
  cudaGraphNode_t twin;
  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphNodeFindInClone(&twin, nodes[1], clone));
  OK(cudaGraphKernelNodeGetAttribute(twin, cudaKernelNodeAttributeAccessPolicyWindow, &window));
  EXPECT_EQ(window.accessPolicyWindow.num_bytes, 2u);
}

TEST_F(Runtime, EventsAndTheirErrors) {
  cudaEvent_t a, b, untimed;
  float milliseconds = -1;
  OK(cudaEventCreate(&a));
  OK(cudaEventCreate(&b));
  GIVES(cudaEventQuery(a), cudaSuccess);
  GIVES(cudaEventElapsedTime(&milliseconds, a, b), cudaErrorInvalidResourceHandle);
  OK(cudaEventRecord(a));
  GIVES(cudaEventElapsedTime(&milliseconds, a, b), cudaErrorInvalidResourceHandle);
  nothing<<<100, 100>>>();
  OK(cudaEventRecord(b));
  OK(cudaEventElapsedTime(&milliseconds, a, b));
  EXPECT_GT(milliseconds, 0);
  OK(cudaEventElapsedTime(&milliseconds, b, a));
  EXPECT_LT(milliseconds, 0);
  OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  OK(cudaEventRecord(untimed));
  GIVES(cudaEventElapsedTime(&milliseconds, untimed, b), cudaErrorInvalidResourceHandle);
  GIVES(cudaEventCreateWithFlags(&a, 8), cudaErrorInvalidValue);
  GIVES(cudaEventCreateWithFlags(&a, cudaEventInterprocess), cudaErrorInvalidValue);
  GIVES(cudaEventRecord(nullptr), cudaErrorInvalidResourceHandle);
  GIVES(cudaStreamWaitEvent(nullptr, b, 9), cudaErrorInvalidValue);
  GIVES(cudaStreamWaitEvent(nullptr, nullptr, 0), cudaErrorInvalidResourceHandle);
  GIVES(cudaEventDestroy(b), cudaSuccess);
  GIVES(cudaEventDestroy(b), cudaErrorInvalidResourceHandle);
}

TEST_F(Runtime, HostFunctionsAndCallbacks) {
  std::vector<int> calls;
  const auto first = [](void* to) { static_cast<std::vector<int>*>(to)->push_back(1); };
  const auto second = [](cudaStream_t, cudaError_t error, void* to) {
    static_cast<std::vector<int>*>(to)->push_back(error == cudaSuccess ? 2 : -1);
  };
  OK(cudaLaunchHostFunc(nullptr, first, &calls));
  OK(cudaStreamAddCallback(nullptr, second, &calls, 0));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(calls, (std::vector<int>{1, 2}));
  GIVES(cudaLaunchHostFunc(nullptr, nullptr, nullptr), cudaErrorInvalidValue);
}

TEST_F(Capture, WhatIsCapturedRunsWhenLaunched) {
  begin();
  add<<<1, 1, 0, stream>>>(value, 5);
  OK(cudaMemcpyAsync(value, &host_value, 4, cudaMemcpyHostToDevice, stream));
  twice<<<1, 1, 0, stream>>>(value);
  OK(cudaLaunchHostFunc(
      stream, [](void* n) { ++*static_cast<int*>(n); }, &host_value));
  OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_EQ(read(), 0) << "nothing has run";
  size_t count = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 4u);
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(count, 3u);
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphUpload(executable, stream));
  OK(cudaGraphLaunch(executable, stream));
  EXPECT_EQ(read(), 6);
  EXPECT_EQ(host_value, 4);
  OK(cudaGraphLaunch(executable, nullptr));
  EXPECT_EQ(read(), 8);
  OK(cudaGraphExecDestroy(executable));
  GIVES(cudaGraphLaunch(executable, stream), cudaErrorInvalidValue);
}

TEST_F(Capture, ArgumentsAreThoseOfTheCapture) {
  int n = 5;
  begin();
  add<<<1, 1, 0, stream>>>(value, n);
  OK(cudaStreamEndCapture(stream, &graph));
  n = 1000;
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(executable, stream));
  EXPECT_EQ(read(), 15);
}

TEST_F(Capture, ForkAndJoin) {
  begin();
  add<<<1, 1, 0, stream>>>(value, 1);
  OK(cudaEventRecord(event, stream));
  OK(cudaStreamWaitEvent(other, event, 0));
  add<<<1, 1, 0, other>>>(value, 10);
  OK(cudaEventRecord(event, other));
  add<<<1, 1, 0, stream>>>(value, 100);
  OK(cudaStreamWaitEvent(stream, event, 0));
  twice<<<1, 1, 0, stream>>>(value);
  OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, stream));
  EXPECT_EQ(read(), 222);
  GIVES(cudaStreamSynchronize(other), cudaSuccess);  // it captures no more
}

TEST_F(Capture, AStreamThatHasBeenJoinedMayBeDestroyed) {
  begin();
  add<<<1, 1, 0, stream>>>(value, 1);
  OK(cudaEventRecord(event, stream));
  OK(cudaStreamWaitEvent(other, event, 0));
  add<<<1, 1, 0, other>>>(value, 10);
  OK(cudaEventRecord(event, other));
  OK(cudaStreamWaitEvent(stream, event, 0));
  OK(cudaStreamDestroy(other));
  allowed(cudaEventDestroy(event));
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, stream));
  EXPECT_EQ(read(), 11);
  OK(cudaEventCreate(&event));
  OK(cudaStreamCreate(&other));
  begin();
  OK(cudaEventRecord(event, stream));
  OK(cudaStreamWaitEvent(other, event, 0));
  nothing<<<1, 1, 0, other>>>();
  OK(cudaStreamDestroy(other));
  GIVES(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
  OK(cudaStreamCreate(&other));
}

TEST_F(Capture, BeginAndEnd) {
  GIVES(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  GIVES(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  begin();
  GIVES(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  OK(cudaEventRecord(event, stream));
  OK(cudaStreamWaitEvent(other, event, 0));
  refused(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
  begin();
  OK(cudaEventRecord(event, stream));
  OK(cudaStreamWaitEvent(other, event, 0));
  nothing<<<1, 1, 0, other>>>();
  GIVES(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
}

TEST_F(Capture, WhatItDoesNotAllow) {
  void* pointer = nullptr;
  float milliseconds = 0;
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal}) {
    begin(mode), refused(cudaMalloc(&pointer, 16), cudaErrorStreamCaptureUnsupported);
    begin(mode), refused(cudaMallocHost(&pointer, 16), cudaErrorStreamCaptureUnsupported);
    begin(mode), refused(cudaFree(nullptr), cudaErrorStreamCaptureUnsupported);
    begin(mode), refused(cudaStreamSynchronize(other), cudaErrorStreamCaptureUnsupported);
    begin(mode), refused(cudaStreamQuery(other), cudaErrorStreamCaptureUnsupported);
  }
  for (const auto mode :
       {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
    begin(mode), refused(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    begin(mode), refused(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    begin(mode),
        refused(cudaMemcpy(value, &host_value, 4, cudaMemcpyHostToDevice), cudaErrorStreamCaptureImplicit);
    begin(mode), refused(cudaMemset(value, 0, 4), cudaErrorStreamCaptureImplicit);
    begin(mode), refused((nothing<<<1, 1>>>(), cudaGetLastError()), cudaErrorStreamCaptureImplicit);
    begin(mode), refused((nothing<<<1, 2048, 0, stream>>>(), cudaGetLastError()), cudaErrorInvalidValue);
    begin(mode), refused(cudaEventRecord(event, nullptr), cudaErrorStreamCaptureImplicit);
    OK(cudaEventRecord(event, other));
    begin(mode), refused(cudaStreamWaitEvent(stream, event, 0), cudaErrorStreamCaptureIsolation);
    begin(mode);
    OK(cudaEventRecord(event, stream));
    GIVES(cudaEventElapsedTime(&milliseconds, event, event), cudaErrorCapturedEvent);
    refused(cudaEventSynchronize(event), cudaErrorCapturedEvent);
  }
}

TEST_F(Capture, WhatItAllows) {
  void* pointer = nullptr;
  cudaFuncAttributes attributes;
  begin(), allowed((nothing<<<1, 1, 0, other>>>(), cudaGetLastError()));
  begin(), allowed(cudaFuncGetAttributes(&attributes, nothing));
  begin(), allowed(cudaMallocAsync(&pointer, 16, stream));
  begin(cudaStreamCaptureModeRelaxed), allowed(cudaMalloc(&pointer, 16));
  begin(cudaStreamCaptureModeRelaxed), allowed(cudaStreamSynchronize(other));
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  begin(), allowed(cudaMalloc(&pointer, 16));
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  cudaStream_t independent;
  OK(cudaStreamCreateWithFlags(&independent, cudaStreamNonBlocking));
  OK(cudaStreamBeginCapture(independent, cudaStreamCaptureModeRelaxed));
  GIVES(cudaMemset(value, 0, 4), cudaSuccess);
  OK(cudaStreamEndCapture(independent, &graph));
}

TEST_F(Capture, GraphsBuiltByHand) {
  int n = 4;
  void* add_arguments[] = {&value, &n};
  void* twice_arguments[] = {&value};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(add);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = add_arguments;
  cudaGraphNode_t first, second, third;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &params));
  params.func = reinterpret_cast<void*>(twice);
  params.kernelParams = twice_arguments;
  OK(cudaGraphAddKernelNode(&second, graph, nullptr, 0, &params));
  cudaMemsetParams zero{};
  zero.dst = value;
  zero.value = 1;
  zero.elementSize = 4;
  zero.width = 1;
  zero.height = 1;
  OK(cudaGraphAddMemsetNode(&third, graph, nullptr, 0, &zero));
  OK(cudaGraphAddDependencies(graph, &third, &first, nullptr, 1));
  OK(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, stream));
  EXPECT_EQ(read(), 10);
  n = 9;
  params.func = reinterpret_cast<void*>(add);
  params.kernelParams = add_arguments;
  OK(cudaGraphExecKernelNodeSetParams(executable, first, &params));
  OK(cudaGraphNodeSetEnabled(executable, second, 0));
  OK(cudaGraphLaunch(executable, stream));
  EXPECT_EQ(read(), 10);
  size_t roots = 0;
  OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  EXPECT_EQ(roots, 1u);
  OK(cudaGraphAddDependencies(graph, &second, &third, nullptr, 1));
  GIVES(cudaGraphInstantiate(&executable, graph, 0), cudaErrorInvalidValue);  // a cycle
}

TEST_F(Capture, AnInstantiatedGraphIsUpdated) {
  const auto capture = [&](int n) {
    begin();
    add<<<1, 1, 0, stream>>>(value, n);
    OK(cudaStreamEndCapture(stream, &graph));
  };
  cudaGraphExec_t executable;
  cudaGraphExecUpdateResultInfo result;
  capture(1);
  OK(cudaGraphInstantiate(&executable, graph, 0));
  capture(100);
  OK(cudaGraphExecUpdate(executable, graph, &result));
  OK(cudaGraphLaunch(executable, stream));
  EXPECT_EQ(read(), 100);
  begin();
  OK(cudaMemsetAsync(value, 0, 4, stream));
  OK(cudaStreamEndCapture(stream, &graph));
  GIVES(cudaGraphExecUpdate(executable, graph, &result), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorTopologyChanged);
}

TEST_F(Capture, GraphsInGraphs) {
  begin();
  add<<<1, 1, 0, stream>>>(value, 3);
  OK(cudaStreamEndCapture(stream, &graph));
  cudaGraph_t outer;
  cudaGraphNode_t one, two;
  OK(cudaGraphCreate(&outer, 0));
  OK(cudaGraphAddChildGraphNode(&one, outer, nullptr, 0, graph));
  OK(cudaGraphAddChildGraphNode(&two, outer, &one, 1, graph));
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, outer, 0));
  OK(cudaGraphLaunch(executable, stream));
  EXPECT_EQ(read(), 6);
}

}  // namespace
}  // namespace stream_calls
