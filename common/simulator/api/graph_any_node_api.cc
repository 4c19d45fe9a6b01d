// Nodes of any type by one call, conditional nodes, a picture of a graph.
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "common/simulator/api/graph_nodes.h"
#include "common/simulator/context/state.h"
#include "common/simulator/runtime/graph_work.h"

using namespace simulator;

namespace {

bool has_size(const cudaConditionalNodeParams& params) {
  switch (params.type) {
    case cudaGraphCondTypeIf:
      return params.size == 1 || params.size == 2;
    case cudaGraphCondTypeWhile:
      return params.size == 1;
    case cudaGraphCondTypeSwitch:
      return params.size > 0;
    default:
      return false;
  }
}

// The bodies are empty graphs, which the program fills.
cudaError_t add_conditional(cudaGraphNode_t* result, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                            size_t count, cudaConditionalNodeParams& params) {
  if (!has_size(params) || !is_condition(params.handle)) return cudaErrorInvalidValue;
  const cudaError_t error = add_node(result, graph, dependencies, count, cudaGraphNodeTypeConditional,
                                     [](Work&) { return cudaSuccess; });
  if (error != cudaSuccess) return error;
  GraphNode& node = *node_of(*result);
  node.condition = {params.handle, params.type};
  for (unsigned i = 0; i < params.size; ++i)
    node.body_handles.push_back(lend(node.bodies.emplace_back(std::make_shared<Graph>())));
  params.phGraph_out = node.body_handles.data();
  return cudaSuccess;
}

cudaError_t add_allocation(cudaGraphNode_t* result, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                           size_t count, cudaMemAllocNodeParamsV2& params) {
  cudaMemAllocNodeParams made = {};
  made.poolProps = params.poolProps;
  made.accessDescs = params.accessDescs;
  made.accessDescCount = params.accessDescCount;
  made.bytesize = params.bytesize;
  const cudaError_t error = cudaGraphAddMemAllocNode(result, graph, dependencies, count, &made);
  params.dptr = made.dptr;
  return error;
}

const char* name_of(cudaGraphNodeType type) {
  constexpr const char* names[] = {
      "kernel",       "memcpy",       "memset",           "host",           "graph",     "empty",
      "event wait",   "event record", "semaphore signal", "semaphore wait", "mem alloc", "mem free",
      "batch mem op", "conditional"};
  return static_cast<size_t>(type) < std::size(names) ? names[type] : "node";
}

void write_dot(std::ostream& out, const Graph& graph, const std::string& prefix) {
  size_t number = 0;
  std::map<const GraphNode*, std::string> names;
  for (const auto& node : graph.nodes) {
    const std::string& name = names[node.get()] = prefix + std::to_string(number++);
    out << "  \"" << name << "\" [label=\"" << name << "\\n" << name_of(node->type) << "\"];\n";
    std::vector<std::shared_ptr<Graph>> inner = node->bodies;
    if (node->child != nullptr) inner.push_back(node->child);
    for (size_t i = 0; i < inner.size(); ++i) {
      const std::string path = name + '.' + std::to_string(i);
      out << "  subgraph \"cluster_" << path << "\" { label=\"" << path << "\";\n";
      write_dot(out, *inner[i], path + '.');
      out << "  }\n";
    }
  }
  for (const auto& node : graph.nodes) {
    for (const GraphNode* before : node->dependencies)
      out << "  \"" << names[before] << "\" -> \"" << names[node.get()] << "\";\n";
  }
}

}  // namespace

extern "C" cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                                        unsigned initial, unsigned flags) {
  return call([&] {
    if (handle == nullptr || find_graph(graph) == nullptr ||
        (flags & ~unsigned{cudaGraphCondAssignDefault}) != 0)
      return cudaErrorInvalidValue;
    *handle = new_condition(initial, flags == cudaGraphCondAssignDefault);
    return *handle != 0 ? cudaSuccess : cudaErrorMemoryAllocation;
  });
}

extern "C" cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, const cudaGraphEdgeData*,
                                        size_t count, cudaGraphNodeParams* params) {
  return call([&] {
    if (params == nullptr) return cudaErrorInvalidValue;
    switch (params->type) {
      case cudaGraphNodeTypeEmpty:
        return cudaGraphAddEmptyNode(node, graph, dependencies, count);
      case cudaGraphNodeTypeGraph:
        return cudaGraphAddChildGraphNode(node, graph, dependencies, count, params->graph.graph);
      case cudaGraphNodeTypeMemAlloc:
        return add_allocation(node, graph, dependencies, count, params->alloc);
      case cudaGraphNodeTypeMemFree:
        return cudaGraphAddMemFreeNode(node, graph, dependencies, count, params->free.dptr);
      case cudaGraphNodeTypeConditional:
        return add_conditional(node, graph, dependencies, count, params->conditional);
      default:
        return add_node(node, graph, dependencies, count, params->type,
                        [&](Work& work) { return work_of(*params, work); });
    }
  });
}

extern "C" cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char* path, unsigned) {
  return call([&] {
    const Graph* graph = find_graph(handle);
    if (graph == nullptr || path == nullptr) return cudaErrorInvalidValue;
    std::ofstream file(path);
    file << "digraph dot {\n";
    write_dot(file, *graph, "");
    file << "}\n";
    file.close();
    return file ? cudaSuccess : cudaErrorOperatingSystem;
  });
}
