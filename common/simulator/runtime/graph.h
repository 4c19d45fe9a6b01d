// Graphs: operations as closures, and what they depend on. Called with runtime_mutex() held.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/simulator/context/cuda_api.h"

namespace simulator {

struct Graph;

// The parameters of a kernel node, with its arguments.
struct KernelNode {
  cudaKernelNodeParams params = {};
  std::vector<std::byte> bytes;
  std::vector<void*> arguments;  // into bytes: what params.kernelParams points to
};

// What a node was made of, for cudaGraph…NodeGetParams(). Nothing: it was captured, or has no parameters.
using NodeParams =
    std::variant<std::monostate, std::shared_ptr<const KernelNode>, cudaMemcpy3DParms, cudaMemsetParams,
                 cudaHostNodeParams, cudaMemAllocNodeParams, cudaMemFreeNodeParams, cudaEvent_t>;

// What a node does.
struct Work {
  std::function<cudaError_t()> run;  // empty: nothing to do
  NodeParams params;

  Work() = default;
  template <class F, class = std::enable_if_t<std::is_invocable_r_v<cudaError_t, F&>>>
  Work(F function) : run(std::move(function)) {}  // NOLINT(google-explicit-constructor): a lambda is one
  template <class F>
  Work(F function, NodeParams made_of) : run(std::move(function)), params(std::move(made_of)) {}
};

// A conditional node: which of its bodies runs, a value says that kernels may set
// (cudaGraphSetConditional()).
struct Conditional {
  cudaGraphConditionalHandle handle = 0;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
};

// A reference to an object of the program's (cudaUserObjectCreate()).
struct UserReference;

struct GraphNode {
  Graph* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  Work work;
  std::vector<GraphNode*> dependencies;
  std::shared_ptr<Graph> child;  // of a child graph node
  Conditional condition;         // of a conditional node, with
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<cudaGraph_t> body_handles;                               // as the program sees them
  const GraphNode* original = nullptr;                                 // of a clone
  std::map<cudaKernelNodeAttrID, cudaKernelNodeAttrValue> attributes;  // of a kernel node; none has an effect
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
  std::vector<std::shared_ptr<UserReference>> references;

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
    Conditional condition;
    std::vector<std::vector<Step>> bodies;
    bool enabled = true;
  };
  std::vector<Step> steps;
  std::vector<std::shared_ptr<UserReference>> references;
  unsigned long long flags = 0;
};

// Handles that are valid. Null: this one is not.
Graph* find_graph(cudaGraph_t handle);
cudaGraph_t own(std::unique_ptr<Graph> graph);
bool disown(cudaGraph_t handle);                        // destroys it
cudaGraph_t lend(const std::shared_ptr<Graph>& graph);  // valid for as long as its node lives

// Values of conditional nodes: in the device's memory, where kernels set them; the handle is their address.
cudaGraphConditionalHandle new_condition(unsigned initial, bool assigned_at_launch);  // 0: no memory left
bool is_condition(cudaGraphConditionalHandle handle);
void assign_conditions(const std::vector<GraphExec::Step>& steps);  // at a launch

// The steps of a graph. False: it has a cycle.
bool steps_of(const Graph& graph, std::vector<GraphExec::Step>& steps);

// Runs the steps, host functions without the lock; so call it without.
cudaError_t run_steps(const std::vector<GraphExec::Step>& steps);

}  // namespace simulator
