// Building graphs: nodes and what they depend on. (Running them: graph_exec_api.cc.)
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "common/simulator/api/graph_nodes.h"
#include "common/simulator/context/access_policy.h"
#include "common/simulator/context/registration.h"
#include "common/simulator/context/state.h"
#include "common/simulator/runtime/copy.h"
#include "common/simulator/runtime/graph.h"
#include "common/simulator/runtime/graph_work.h"

using namespace simulator;

cudaError_t simulator::address_in(const void* symbol, size_t bytes, size_t offset, void*& address) {
  Variable* variable = symbol != nullptr ? find_variable(symbol) : nullptr;
  const Allocation* memory = nullptr;
  if (variable == nullptr) return cudaErrorInvalidSymbol;
  if (const cudaError_t error = load(*variable, memory); error != cudaSuccess) return error;
  if (offset > memory->size || bytes > memory->size - offset) return cudaErrorInvalidValue;
  address = reinterpret_cast<void*>(memory->base + offset);
  return cudaSuccess;
}

namespace {

// Handles into an array of *count, or only their number where there is no array.
cudaError_t give(const std::vector<const GraphNode*>& nodes, cudaGraphNode_t* handles, size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (handles == nullptr) {
    *count = nodes.size();
    return cudaSuccess;
  }
  for (size_t i = 0; i < *count; ++i) handles[i] = i < nodes.size() ? handle_of(nodes[i]) : nullptr;
  *count = std::min(*count, nodes.size());
  return cudaSuccess;
}

void clear(cudaGraphEdgeData* edges, size_t count) {
  if (edges != nullptr) std::fill(edges, edges + count, cudaGraphEdgeData{});
}

}  // namespace

extern "C" cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call([&] {
    if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    *graph = own(std::make_unique<Graph>());
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&] { return disown(graph) ? cudaSuccess : cudaErrorInvalidValue; });
}

extern "C" cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return call([&] {
    const Graph* graph = find_graph(original);
    if (clone == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    *clone = own(graph->clone());
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* result, cudaGraphNode_t original,
                                                cudaGraph_t clone) {
  return call([&] {
    const Graph* graph = find_graph(clone);
    if (result == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    for (const auto& node : graph->nodes) {
      if (node->original != node_of(original)) continue;
      *result = handle_of(node.get());
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

extern "C" cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* dependencies, size_t count,
                                              const cudaKernelNodeParams* params) {
  return add_node(node, graph, dependencies, count, cudaGraphNodeTypeKernel, [&](Work& work) {
    return params == nullptr ? cudaErrorInvalidValue : work_of(*params, work);
  });
}

extern "C" cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* dependencies, size_t count,
                                              const cudaMemcpy3DParms* params) {
  return add_node(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy, [&](Work& work) {
    return params == nullptr ? cudaErrorInvalidValue : work_of(*params, work);
  });
}

extern "C" cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* dependencies, size_t count, void* to,
                                                const void* from, size_t bytes, cudaMemcpyKind kind) {
  return add_node(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy,
                  [&](Work& work) { return work_of_copy(to, from, bytes, kind, work); });
}

extern "C" cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                      const cudaGraphNode_t* dependencies, size_t count,
                                                      const void* symbol, const void* from, size_t bytes,
                                                      size_t offset, cudaMemcpyKind kind) {
  return add_node(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy, [&](Work& work) {
    void* to = nullptr;
    const cudaError_t error = address_in(symbol, bytes, offset, to);
    return error != cudaSuccess ? error : work_of_copy(to, from, bytes, kind, work);
  });
}

extern "C" cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                        const cudaGraphNode_t* dependencies, size_t count,
                                                        void* to, const void* symbol, size_t bytes,
                                                        size_t offset, cudaMemcpyKind kind) {
  return add_node(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy, [&](Work& work) {
    void* from = nullptr;
    const cudaError_t error = address_in(symbol, bytes, offset, from);
    return error != cudaSuccess ? error : work_of_copy(to, from, bytes, kind, work);
  });
}

extern "C" cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* dependencies, size_t count,
                                              const cudaMemsetParams* params) {
  return add_node(node, graph, dependencies, count, cudaGraphNodeTypeMemset, [&](Work& work) {
    return params == nullptr ? cudaErrorInvalidValue : work_of(*params, work);
  });
}

extern "C" cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                            const cudaGraphNode_t* dependencies, size_t count,
                                            const cudaHostNodeParams* params) {
  return add_node(node, graph, dependencies, count, cudaGraphNodeTypeHost, [&](Work& work) {
    return params == nullptr ? cudaErrorInvalidValue : work_of(*params, work);
  });
}

extern "C" cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, size_t count) {
  return add_node(node, graph, dependencies, count, cudaGraphNodeTypeEmpty,
                  [](Work&) { return cudaSuccess; });
}

extern "C" cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                   const cudaGraphNode_t* dependencies, size_t count,
                                                   cudaEvent_t event) {
  return add_node(node, graph, dependencies, count, cudaGraphNodeTypeEventRecord,
                  [&](Work& work) { return work_of_record(event, work); });
}

extern "C" cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                 const cudaGraphNode_t* dependencies, size_t count,
                                                 cudaEvent_t event) {
  return add_node(node, graph, dependencies, count, cudaGraphNodeTypeWaitEvent,
                  [&](Work& work) { return work_of_wait(event, work); });
}

extern "C" cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                  const cudaGraphNode_t* dependencies, size_t count,
                                                  cudaGraph_t child) {
  return call([&] {
    const Graph* inner = find_graph(child);
    if (inner == nullptr || child == graph) return cudaErrorInvalidValue;
    const cudaError_t error =
        add_node(node, graph, dependencies, count, cudaGraphNodeTypeGraph, [](Work&) { return cudaSuccess; });
    if (error == cudaSuccess) node_of(*node)->child = inner->clone();
    return error;
  });
}

extern "C" cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t handle, cudaGraph_t* graph) {
  return call([&] {
    const GraphNode* node = node_of(handle);
    if (node == nullptr || graph == nullptr || node->child == nullptr) return cudaErrorInvalidValue;
    *graph = lend(node->child);
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  return call([&] {
    if (handle == nullptr || type == nullptr) return cudaErrorInvalidValue;
    *type = node_of(handle)->type;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  return call([&] {
    const Graph* graph = find_graph(handle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    std::vector<const GraphNode*> all;
    for (const auto& node : graph->nodes) all.push_back(node.get());
    return give(all, nodes, count);
  });
}

extern "C" cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  return call([&] {
    const Graph* graph = find_graph(handle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    std::vector<const GraphNode*> roots;
    for (const auto& node : graph->nodes) {
      if (node->dependencies.empty()) roots.push_back(node.get());
    }
    return give(roots, nodes, count);
  });
}

extern "C" cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                         cudaGraphEdgeData* edges, size_t* count) {
  return call([&] {
    const Graph* graph = find_graph(handle);
    if (graph == nullptr || count == nullptr || (from == nullptr) != (to == nullptr))
      return cudaErrorInvalidValue;
    std::vector<const GraphNode*> sources, targets;
    for (const auto& node : graph->nodes) {
      for (const GraphNode* before : node->dependencies) {
        sources.push_back(before);
        targets.push_back(node.get());
      }
    }
    size_t again = *count;
    if (from != nullptr) clear(edges, *count);
    const cudaError_t error = give(sources, from, count);
    return error != cudaSuccess || from == nullptr ? error : give(targets, to, &again);
  });
}

extern "C" cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t handle, cudaGraphNode_t* nodes,
                                                    cudaGraphEdgeData* edges, size_t* count) {
  return call([&] {
    const GraphNode* node = node_of(handle);
    if (node == nullptr || count == nullptr) return cudaErrorInvalidValue;
    if (nodes != nullptr) clear(edges, *count);
    return give({node->dependencies.begin(), node->dependencies.end()}, nodes, count);
  });
}

extern "C" cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle, cudaGraphNode_t* nodes,
                                                      cudaGraphEdgeData* edges, size_t* count) {
  return call([&] {
    const GraphNode* node = node_of(handle);
    if (node == nullptr || count == nullptr) return cudaErrorInvalidValue;
    if (nodes != nullptr) clear(edges, *count);
    std::vector<const GraphNode*> dependents;
    for (const auto& other : node->graph->nodes) {
      const auto& before = other->dependencies;
      if (std::find(before.begin(), before.end(), node) != before.end()) dependents.push_back(other.get());
    }
    return give(dependents, nodes, count);
  });
}

extern "C" cudaError_t cudaGraphAddDependencies(cudaGraph_t handle, const cudaGraphNode_t* from,
                                                const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                                size_t count) {
  return call([&] {
    if (find_graph(handle) == nullptr || (count != 0 && (from == nullptr || to == nullptr)))
      return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      auto& before = node_of(to[i])->dependencies;
      if (std::find(before.begin(), before.end(), node_of(from[i])) != before.end())
        return cudaErrorInvalidValue;
      before.push_back(node_of(from[i]));
    }
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGraphRemoveDependencies(cudaGraph_t handle, const cudaGraphNode_t* from,
                                                   const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                                   size_t count) {
  return call([&] {
    if (find_graph(handle) == nullptr || (count != 0 && (from == nullptr || to == nullptr)))
      return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      if (std::erase(node_of(to[i])->dependencies, node_of(from[i])) == 0) return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return call([&] {
    GraphNode* node = node_of(handle);
    if (node == nullptr) return cudaErrorInvalidValue;
    Graph& graph = *node->graph;
    for (const auto& other : graph.nodes) std::erase(other->dependencies, node);
    std::erase_if(graph.nodes, [&](const auto& one) { return one.get() == node; });
    return cudaSuccess;
  });
}
