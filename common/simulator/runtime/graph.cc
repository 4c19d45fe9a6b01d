#include "common/simulator/runtime/graph.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "common/simulator/context/state.h"

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

}  // namespace simulator
