#include "common/simulator/runtime/graph.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "common/simulator/runtime/copy.h"
#include "common/simulator/runtime/copy_params.h"
#include "common/simulator/runtime/event.h"
#include "common/simulator/runtime/launch.h"
#include "common/simulator/runtime/state.h"

namespace simulator {
namespace {

std::map<cudaGraph_t, std::unique_ptr<Graph>>& graphs() {
  static auto* all = new std::map<cudaGraph_t, std::unique_ptr<Graph>>;
  return *all;
}

}  // namespace

GraphNode* Graph::add(cudaGraphNodeType type, std::vector<GraphNode*> dependencies, Work work) {
  auto node = std::make_unique<GraphNode>();
  node->graph = this;
  node->type = type;
  node->dependencies = std::move(dependencies);
  node->work = std::move(work);
  return nodes.emplace_back(std::move(node)).get();
}

std::vector<const GraphNode*> Graph::order() const {
  std::vector<const GraphNode*> sorted;
  std::map<const GraphNode*, size_t> waits_for;  // how many of its dependencies are not yet sorted
  std::map<const GraphNode*, std::vector<const GraphNode*>> dependents;
  for (const auto& node : nodes) {
    waits_for[node.get()] = node->dependencies.size();
    for (const GraphNode* before : node->dependencies) dependents[before].push_back(node.get());
    if (node->dependencies.empty()) sorted.push_back(node.get());
  }
  for (size_t i = 0; i < sorted.size(); ++i) {
    for (const GraphNode* next : dependents[sorted[i]]) {
      if (--waits_for[next] == 0) sorted.push_back(next);
    }
  }
  if (sorted.size() != nodes.size()) sorted.clear();
  return sorted;
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  std::map<const GraphNode*, GraphNode*> twin;
  for (const auto& node : nodes) {
    GraphNode* made = copy->add(node->type, {}, node->work);
    made->child = node->child;
    made->original = node.get();
    made->attributes = node->attributes;
    twin[node.get()] = made;
  }
  for (const auto& node : nodes) {
    for (const GraphNode* before : node->dependencies) twin[node.get()]->dependencies.push_back(twin[before]);
  }
  return copy;
}

Graph* find_graph(cudaGraph_t handle) {
  const auto it = graphs().find(handle);
  return it != graphs().end() ? it->second.get() : nullptr;
}

cudaGraph_t own(std::unique_ptr<Graph> graph) {
  const auto handle = reinterpret_cast<cudaGraph_t>(graph.get());
  graphs()[handle] = std::move(graph);
  return handle;
}

bool disown(cudaGraph_t handle) {
  return graphs().erase(handle) != 0;
}

bool steps_of(const Graph& graph, std::vector<GraphExec::Step>& steps) {
  const std::vector<const GraphNode*> order = graph.order();
  if (order.size() != graph.nodes.size()) return false;
  steps.clear();
  for (const GraphNode* node : order) {
    GraphExec::Step& step = steps.emplace_back();
    step.node = node;
    step.type = node->type;
    step.work = node->work;
    if (node->child != nullptr && !steps_of(*node->child, step.child)) return false;
  }
  return true;
}

cudaError_t run_steps(const std::vector<GraphExec::Step>& steps) {
  for (const GraphExec::Step& step : steps) {
    if (!step.enabled) continue;
    std::unique_lock lock(runtime_mutex());
    if (context_is_broken()) return cudaSuccess;
    if (step.type == cudaGraphNodeTypeHost || step.type == cudaGraphNodeTypeGraph) lock.unlock();
    cudaError_t error = step.work ? step.work() : cudaSuccess;
    if (error == cudaSuccess) error = run_steps(step.child);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t work_of(const cudaKernelNodeParams& params, Work& work) {
  Function* function = params.func != nullptr ? find_function(params.func) : nullptr;
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  if (params.extra != nullptr) return cudaErrorNotSupported;
  LaunchRequest request;
  request.grid = params.gridDim;
  request.block = params.blockDim;
  request.dynamic_shared = params.sharedMemBytes;
  auto prepared = std::make_shared<PreparedLaunch>();
  if (const cudaError_t error = prepare(*function, request, params.kernelParams, *prepared);
      error != cudaSuccess) {
    return error;
  }
  work = [prepared] { return execute(*prepared); };
  return cudaSuccess;
}

namespace {

template <class Box>
cudaError_t work_of_box(const Box& box, Work& work) {
  if (const cudaError_t error = check(box); error != cudaSuccess) return error;
  work = [box] { return run(box); };
  return cudaSuccess;
}

}  // namespace

cudaError_t work_of(const cudaMemcpy3DParms& params, Work& work) {
  CopyBox box;
  const cudaError_t error = box_of(&params, box);
  return error != cudaSuccess ? error : work_of_box(box, work);
}

cudaError_t work_of(const cudaMemsetParams& params, Work& work) {
  FillBox box;
  box.to = static_cast<std::byte*>(params.dst);
  box.value = params.value;
  box.element = params.elementSize;
  box.width = params.width * params.elementSize;
  box.height = params.height;
  box.pitch = params.pitch;
  return work_of_box(box, work);
}

cudaError_t work_of(const cudaHostNodeParams& params, Work& work) {
  if (params.fn == nullptr) return cudaErrorInvalidValue;
  work = [params] {
    params.fn(params.userData);
    return cudaSuccess;
  };
  return cudaSuccess;
}

cudaError_t work_of_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, Work& work) {
  return work_of_box(CopyBox(to, from, bytes, kind), work);
}

cudaError_t work_of_record(cudaEvent_t event, Work& work) {
  if (find_event(event) == nullptr) return cudaErrorInvalidResourceHandle;
  work = [event] {
    return find_event(event) != nullptr ? record_event(event, cudaStreamPerThread) : cudaSuccess;
  };
  return cudaSuccess;
}

}  // namespace simulator
