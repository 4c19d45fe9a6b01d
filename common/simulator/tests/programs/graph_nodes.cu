// Nodes of graphs that allocate, that decide, and what nodes say of themselves.
#include <string>
#include <vector>

#include "program.h"

namespace {

__global__ void fill(int* out, int value) {
  out[threadIdx.x] = value;
}

__global__ void add(int* out, const int* terms) {
  out[threadIdx.x] += terms[threadIdx.x];
}

// Counts down, and says whether anything is left.
__global__ void count_down(int* left, int* steps, cudaGraphConditionalHandle handle) {
  *steps += 1;
  *left -= 1;
  cudaGraphSetConditional(handle, *left > 0);
}

__global__ void choose(const int* which, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, *which);
}

constexpr int n = 32;

cudaGraphNode_t add_kernel(cudaGraph_t graph, std::vector<cudaGraphNode_t> before, void* kernel, int threads,
                           std::vector<void*> arguments) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeKernel;
  params.kernel.func = kernel;
  params.kernel.gridDim = {1, 1, 1};
  params.kernel.blockDim = {static_cast<unsigned>(threads), 1, 1};
  params.kernel.kernelParams = arguments.data();
  cudaGraphNode_t node = nullptr;
  CUDA(cudaGraphAddNode(&node, graph, before.data(), nullptr, before.size(), &params));
  return node;
}

std::vector<cudaGraph_t> add_condition(cudaGraph_t graph, std::vector<cudaGraphNode_t> before,
                                       cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                                       unsigned bodies) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = bodies;
  cudaGraphNode_t node = nullptr;
  CUDA(cudaGraphAddNode(&node, graph, before.data(), nullptr, before.size(), &params));
  return {params.conditional.phGraph_out, params.conditional.phGraph_out + bodies};
}

void launch(cudaGraph_t graph, int times = 1) {
  cudaGraphExec_t executable = nullptr;
  CUDA(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < times; ++i) CUDA(cudaGraphLaunch(executable, nullptr));
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaGraphExecDestroy(executable));
}

void conditions() {
  Buffer<int> state(std::vector<int>{5, 0});
  int *left = state, *steps = state + 1;
  cudaGraph_t graph = nullptr;
  cudaGraphConditionalHandle handle = 0;
  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraph_t body = add_condition(graph, {}, handle, cudaGraphCondTypeWhile, 1)[0];
  add_kernel(body, {}, reinterpret_cast<void*>(count_down), 1, {&left, &steps, &handle});
  launch(graph);
  expect(state.download() == std::vector<int>({0, 5}), "while");
  launch(graph);  // the handle's default lets it in once
  expect(state.download() == std::vector<int>({-1, 6}), "while, again");
  CUDA(cudaGraphDestroy(graph));

  for (const auto& [type, bodies] :
       {std::pair{cudaGraphCondTypeIf, 1u}, {cudaGraphCondTypeIf, 2u}, {cudaGraphCondTypeSwitch, 3u}}) {
    std::string taken;
    for (int which = 0; which < 4; ++which) {
      Buffer<int> input(std::vector<int>{which});
      Buffer<int> out(1);
      CUDA(cudaGraphCreate(&graph, 0));
      CUDA(cudaGraphConditionalHandleCreate(&handle, graph));
      int *in = input, *to = out;
      const cudaGraphNode_t chooses =
          add_kernel(graph, {}, reinterpret_cast<void*>(choose), 1, {&in, &handle});
      int number = 1;
      for (cudaGraph_t each : add_condition(graph, {chooses}, handle, type, bodies)) {
        add_kernel(each, {}, reinterpret_cast<void*>(fill), 1, {&to, &number});
        ++number;
      }
      launch(graph);
      taken += std::to_string(out.download()[0]);
      CUDA(cudaGraphDestroy(graph));
    }
    const std::string right = type == cudaGraphCondTypeSwitch ? "1230" : bodies == 2 ? "2111" : "0111";
    expect(taken == right, type == cudaGraphCondTypeSwitch ? "switch" : bodies == 2 ? "if, else" : "if");
  }
}

void memory() {
  Buffer<int> out(n);
  int* to = out;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t allocates = nullptr, frees = nullptr;
  CUDA(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams params = {};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location = {cudaMemLocationTypeDevice, 0};
  params.bytesize = n * sizeof(int);
  CUDA(cudaGraphAddMemAllocNode(&allocates, graph, nullptr, 0, &params));
  int value = 3;
  const cudaGraphNode_t fills =
      add_kernel(graph, {allocates}, reinterpret_cast<void*>(fill), n, {&params.dptr, &value});
  const cudaGraphNode_t adds =
      add_kernel(graph, {fills}, reinterpret_cast<void*>(add), n, {&to, &params.dptr});
  CUDA(cudaGraphAddMemFreeNode(&frees, graph, &adds, 1, params.dptr));
  launch(graph, 2);
  expect(out.download() == std::vector<int>(n, 6), "a graph with memory of its own, twice");
  void* freed = nullptr;
  CUDA(cudaGraphMemFreeNodeGetParams(frees, &freed));
  expect(freed == params.dptr, "what a node frees");
  CUDA(cudaGraphDestroy(graph));

  cudaStream_t stream = nullptr;
  int* temporary = nullptr;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA(cudaMallocAsync(&temporary, n * sizeof(int), stream));
  fill<<<1, n, 0, stream>>>(temporary, 4);
  add<<<1, n, 0, stream>>>(to, temporary);
  CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  CUDA(cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  CUDA(cudaGraphLaunch(executable, stream));
  CUDA(cudaFreeAsync(temporary, stream));
  CUDA(cudaGraphLaunch(executable, stream));
  CUDA(cudaStreamSynchronize(stream));
  CUDA(cudaFree(temporary));
  expect(out.download() == std::vector<int>(n, 14), "freed by the program, launched again");
  CUDA(cudaGraphExecDestroy(executable));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(stream));
  uint64_t used = 1;
  CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  expect(used == 0, "nothing is left");
}

void parameters() {
  Buffer<int> out(n);
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  size_t count = 1;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  fill<<<1, n, 0, stream>>>(out, 1);
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaGraphGetNodes(graph, &node, &count));
  cudaKernelNodeParams params = {};
  CUDA(cudaGraphKernelNodeGetParams(node, &params));
  expect(params.func != nullptr && params.blockDim.x == n && *static_cast<int*>(params.kernelParams[1]) == 1,
         "a launch that was captured");
  int two = 2;
  void* arguments[] = {params.kernelParams[0], &two};
  params.kernelParams = arguments;
  CUDA(cudaGraphKernelNodeSetParams(node, &params));
  launch(graph);
  expect(out.download() == std::vector<int>(n, 2), "with another argument");

  int destroyed = 0;
  cudaUserObject_t object = nullptr;
  CUDA(cudaUserObjectCreate(
      &object, &destroyed, [](void* data) { *static_cast<int*>(data) += 1; }, 1,
      cudaUserObjectNoDestructorSync));
  CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  cudaGraphExec_t executable = nullptr;
  CUDA(cudaGraphInstantiate(&executable, graph, 0));
  CUDA(cudaGraphDestroy(graph));
  expect(destroyed == 0, "an object that a graph keeps");
  CUDA(cudaGraphExecDestroy(executable));
  expect(destroyed == 1, "and no longer");
  CUDA(cudaStreamDestroy(stream));
}

}  // namespace

int main() {
  conditions();
  memory();
  parameters();
  return finish();
}
