// Running graphs: instantiation, launch, changes to an instantiated graph.
#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/simulator/api/graph_nodes.h"
#include "common/simulator/context/state.h"
#include "common/simulator/runtime/graph.h"
#include "common/simulator/runtime/graph_work.h"
#include "common/simulator/runtime/stream.h"

using namespace simulator;

namespace {

using Steps = std::vector<GraphExec::Step>;

std::unordered_map<cudaGraphExec_t, std::shared_ptr<GraphExec>>& executables() {
  static auto* all = new std::unordered_map<cudaGraphExec_t, std::shared_ptr<GraphExec>>;
  return *all;
}

std::shared_ptr<GraphExec> find_executable(cudaGraphExec_t handle) {
  const auto it = executables().find(handle);
  return it != executables().end() ? it->second : nullptr;
}

cudaError_t instantiate(cudaGraphExec_t* handle, cudaGraph_t graph_handle, unsigned long long flags) {
  const Graph* graph = find_graph(graph_handle);
  if (handle == nullptr || graph == nullptr) return cudaErrorInvalidValue;
  auto executable = std::make_shared<GraphExec>();
  executable->flags = flags;
  executable->references = graph->references;
  if (!steps_of(*graph, executable->steps)) return cudaErrorInvalidValue;
  *handle = reinterpret_cast<cudaGraphExec_t>(executable.get());
  executables()[*handle] = std::move(executable);
  return cudaSuccess;
}

GraphExec::Step* step_of(cudaGraphExec_t handle, cudaGraphNode_t node) {
  const std::shared_ptr<GraphExec> executable = find_executable(handle);
  if (executable == nullptr) return nullptr;
  for (GraphExec::Step& step : executable->steps) {
    if (step.node == reinterpret_cast<const GraphNode*>(node)) return &step;
  }
  return nullptr;
}

template <class Params>
cudaError_t set_params(cudaGraphExec_t handle, cudaGraphNode_t node, const Params* params,
                       cudaGraphNodeType type) noexcept {
  return call([&] {
    GraphExec::Step* step = step_of(handle, node);
    if (step == nullptr || params == nullptr || step->type != type) return cudaErrorInvalidValue;
    return work_of(*params, step->work);
  });
}

bool same_shape(const Steps& a, const Steps& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].type != b[i].type || !same_shape(a[i].child, b[i].child) ||
        !std::equal(a[i].bodies.begin(), a[i].bodies.end(), b[i].bodies.begin(), b[i].bodies.end(),
                    same_shape)) {
      return false;
    }
  }
  return true;
}

// The nodes keep the names that they had when the graph was instantiated.
void take_work(Steps& to, Steps& from) {
  for (size_t i = 0; i < to.size(); ++i) {
    to[i].work = std::move(from[i].work);
    take_work(to[i].child, from[i].child);
    for (size_t body = 0; body < to[i].bodies.size(); ++body)
      take_work(to[i].bodies[body], from[i].bodies[body]);
  }
}

template <class F>
cudaError_t set_work(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraphNodeType type,
                     F&& make) noexcept {
  return call([&] {
    GraphExec::Step* step = step_of(executable, node);
    if (step == nullptr || step->type != type) return cudaErrorInvalidValue;
    return make(*step);
  });
}

}  // namespace

extern "C" cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                            unsigned long long flags) {
  return call([&] { return instantiate(executable, graph, flags); });
}

extern "C" cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                     unsigned long long flags) {
  return call([&] { return instantiate(executable, graph, flags); });
}

extern "C" cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                      cudaGraphInstantiateParams* params) {
  return call([&] {
    if (params == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = instantiate(executable, graph, params->flags);
    params->errNode_out = nullptr;
    params->result_out = error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    return error;
  });
}

extern "C" cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
  return call([&] {
    const std::shared_ptr<GraphExec> executable = find_executable(handle);
    if (executable == nullptr || flags == nullptr) return cudaErrorInvalidValue;
    *flags = executable->flags;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  return call([&] { return executables().erase(handle) != 0 ? cudaSuccess : cudaErrorInvalidValue; });
}

extern "C" cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t stream) {
  return call([&] {
    if (find_executable(handle) == nullptr) return cudaErrorInvalidValue;
    return find_stream(stream) != nullptr ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

// The launch works on a copy: the program may change or destroy the graph meanwhile.
extern "C" cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  std::shared_ptr<const Steps> steps;
  cudaError_t error = call([&] {
    const std::shared_ptr<GraphExec> executable = find_executable(handle);
    if (executable == nullptr) return cudaErrorInvalidValue;
    Stream* stream = find_stream(stream_handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t refused = check_submission(*stream); refused != cudaSuccess) return refused;
    auto copy = std::make_shared<const Steps>(executable->steps);
    const auto run = [copy] {
      assign_conditions(*copy);
      return run_steps(*copy);
    };
    if (stream->capture != nullptr) {
      add_captured(*stream, cudaGraphNodeTypeGraph, run);
    } else {
      assign_conditions(*copy);
      steps = std::move(copy);
    }
    return cudaSuccess;
  });
  if (steps == nullptr) return error;
  try {
    error = run_steps(*steps);
  } catch (...) {
    error = error_of_exception();
  }
  set_last_error(error);
  return error;
}

extern "C" cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                        const cudaKernelNodeParams* params) {
  return set_params(executable, node, params, cudaGraphNodeTypeKernel);
}

extern "C" cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                        const cudaMemcpy3DParms* params) {
  return set_params(executable, node, params, cudaGraphNodeTypeMemcpy);
}

extern "C" cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                        const cudaMemsetParams* params) {
  return set_params(executable, node, params, cudaGraphNodeTypeMemset);
}

extern "C" cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                      const cudaHostNodeParams* params) {
  return set_params(executable, node, params, cudaGraphNodeTypeHost);
}

extern "C" cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                          void* to, const void* from, size_t bytes,
                                                          cudaMemcpyKind kind) {
  return set_work(executable, node, cudaGraphNodeTypeMemcpy,
                  [&](GraphExec::Step& step) { return work_of_copy(to, from, bytes, kind, step.work); });
}

extern "C" cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable,
                                                                cudaGraphNode_t node, const void* symbol,
                                                                const void* from, size_t bytes, size_t offset,
                                                                cudaMemcpyKind kind) {
  return set_work(executable, node, cudaGraphNodeTypeMemcpy, [&](GraphExec::Step& step) {
    void* to = nullptr;
    const cudaError_t error = address_in(symbol, bytes, offset, to);
    return error != cudaSuccess ? error : work_of_copy(to, from, bytes, kind, step.work);
  });
}

extern "C" cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable,
                                                                  cudaGraphNode_t node, void* to,
                                                                  const void* symbol, size_t bytes,
                                                                  size_t offset, cudaMemcpyKind kind) {
  return set_work(executable, node, cudaGraphNodeTypeMemcpy, [&](GraphExec::Step& step) {
    void* from = nullptr;
    const cudaError_t error = address_in(symbol, bytes, offset, from);
    return error != cudaSuccess ? error : work_of_copy(to, from, bytes, kind, step.work);
  });
}

extern "C" cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                            cudaEvent_t event) {
  return set_work(executable, node, cudaGraphNodeTypeEventRecord,
                  [&](GraphExec::Step& step) { return work_of_record(event, step.work); });
}

extern "C" cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                          cudaEvent_t event) {
  return set_work(executable, node, cudaGraphNodeTypeWaitEvent,
                  [&](GraphExec::Step& step) { return work_of_wait(event, step.work); });
}

extern "C" cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                            cudaGraph_t child) {
  return set_work(executable, node, cudaGraphNodeTypeGraph, [&](GraphExec::Step& step) {
    const Graph* graph = find_graph(child);
    Steps steps;
    if (graph == nullptr || !steps_of(*graph, steps) || !same_shape(step.child, steps))
      return cudaErrorInvalidValue;
    take_work(step.child, steps);
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                  cudaGraphNodeParams* params) {
  if (params != nullptr && params->type == cudaGraphNodeTypeGraph)
    return cudaGraphExecChildGraphNodeSetParams(executable, node, params->graph.graph);
  return call([&] {
    GraphExec::Step* step = step_of(executable, node);
    if (step == nullptr || params == nullptr || step->type != params->type) return cudaErrorInvalidValue;
    return work_of(*params, step->work);
  });
}

extern "C" cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               unsigned enabled) {
  return call([&] {
    GraphExec::Step* step = step_of(executable, node);
    if (step == nullptr) return cudaErrorInvalidValue;
    step->enabled = enabled != 0;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               unsigned* enabled) {
  return call([&] {
    const GraphExec::Step* step = step_of(executable, node);
    if (step == nullptr || enabled == nullptr) return cudaErrorInvalidValue;
    *enabled = step->enabled;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph_handle,
                                           cudaGraphExecUpdateResultInfo* result) {
  return call([&] {
    const std::shared_ptr<GraphExec> executable = find_executable(handle);
    const Graph* graph = find_graph(graph_handle);
    if (executable == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    Steps steps;
    const bool fits = steps_of(*graph, steps) && same_shape(executable->steps, steps);
    if (result != nullptr) {
      *result = {};
      result->result = fits ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    }
    if (!fits) return cudaErrorGraphExecUpdateFailure;
    take_work(executable->steps, steps);
    return cudaSuccess;
  });
}

SIMULATOR_ALIAS(cudaGraphUpload_ptsz, cudaGraphUpload);
SIMULATOR_ALIAS(cudaGraphLaunch_ptsz, cudaGraphLaunch);
SIMULATOR_ALIAS(cudaGraphInstantiateWithParams_ptsz, cudaGraphInstantiateWithParams);
