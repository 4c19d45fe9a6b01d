// Graphs: operations as closures, and what they depend on. Called with runtime_mutex() held.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "common/simulator/context/cuda_api.h"

namespace simulator {

struct Graph;

using Work = std::function<cudaError_t()>;

struct GraphNode {
  Graph* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  Work work;  // empty: nothing to do
  std::vector<GraphNode*> dependencies;
  std::shared_ptr<Graph> child;                                        // of a child graph node
  const GraphNode* original = nullptr;                                 // of a clone
  std::map<cudaKernelNodeAttrID, cudaKernelNodeAttrValue> attributes;  // of a kernel node; none has an effect
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;

  GraphNode* add(cudaGraphNodeType type, std::vector<GraphNode*> dependencies, Work work);
  // Every node after those it depends on, else as they were added. Empty, of a graph with nodes: they form a
  // cycle.
  std::vector<const GraphNode*> order() const;
  // A copy whose nodes know their originals.
  std::unique_ptr<Graph> clone() const;
};

// An instantiated graph: independent of the graph it came from.
struct GraphExec {
  struct Step {
    const GraphNode* node = nullptr;  // a name only: it may be gone
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    Work work;
    std::vector<Step> child;
    bool enabled = true;
  };
  std::vector<Step> steps;
  unsigned long long flags = 0;
};

// Handles that are valid. Null: this one is not.
Graph* find_graph(cudaGraph_t handle);
cudaGraph_t own(std::unique_ptr<Graph> graph);
bool disown(cudaGraph_t handle);  // destroys it

// The steps of a graph. False: it has a cycle.
bool steps_of(const Graph& graph, std::vector<GraphExec::Step>& steps);

// Runs the steps, host functions without the lock; so call it without.
cudaError_t run_steps(const std::vector<GraphExec::Step>& steps);

}  // namespace simulator
