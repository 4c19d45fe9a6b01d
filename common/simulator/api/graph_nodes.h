// What the functions that make nodes of graphs share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/simulator/context/state.h"
#include "common/simulator/runtime/graph.h"

namespace simulator {

inline GraphNode* node_of(cudaGraphNode_t handle) {
  return reinterpret_cast<GraphNode*>(handle);
}
inline cudaGraphNode_t handle_of(const GraphNode* node) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<GraphNode*>(node));
}

// A new node. make: sets the node's work, or says why not.
template <class F>
cudaError_t add_node(cudaGraphNode_t* result, cudaGraph_t handle, const cudaGraphNode_t* dependencies,
                     size_t count, cudaGraphNodeType type, F&& make) noexcept {
  return call([&] {
    Graph* graph = find_graph(handle);
    if (result == nullptr || graph == nullptr || (dependencies == nullptr && count != 0))
      return cudaErrorInvalidValue;
    std::vector<GraphNode*> before;
    for (size_t i = 0; i < count; ++i) {
      GraphNode* node = node_of(dependencies[i]);
      if (node == nullptr || node->graph != graph) return cudaErrorInvalidValue;
      if (std::find(before.begin(), before.end(), node) != before.end()) return cudaErrorInvalidValue;
      before.push_back(node);
    }
    Work work;
    if (const cudaError_t error = make(work); error != cudaSuccess) return error;
    *result = handle_of(graph->add(type, std::move(before), std::move(work)));
    return cudaSuccess;
  });
}

// What a copy to or from a symbol copies.
cudaError_t address_in(const void* symbol, size_t bytes, size_t offset, void*& address);

// Nodes that allocate, and give params.dptr, and that free what they allocated. (graph_memory_api.cc)
cudaError_t work_of_allocation(cudaMemAllocNodeParams& params, Work& work);
cudaError_t work_of_free(void* pointer, Work& work);

}  // namespace simulator
