#include "common/simulator/runtime/graph.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "common/simulator/context/state.h"
#include "common/simulator/memory/global_memory.h"

namespace simulator {
namespace {

std::map<cudaGraph_t, std::unique_ptr<Graph>>& graphs() {
  static auto* all = new std::map<cudaGraph_t, std::unique_ptr<Graph>>;
  return *all;
}

std::map<cudaGraph_t, std::weak_ptr<Graph>>& lent() {
  static auto* all = new std::map<cudaGraph_t, std::weak_ptr<Graph>>;
  return *all;
}

struct Condition {
  const Allocation* memory = nullptr;
  unsigned initial = 0;
  bool assigned_at_launch = false;
};

std::map<cudaGraphConditionalHandle, Condition>& conditions() {
  static auto* all = new std::map<cudaGraphConditionalHandle, Condition>;
  return *all;
}

unsigned value_of(cudaGraphConditionalHandle handle) {
  unsigned value = 0;
  const std::lock_guard lock(runtime_mutex());
  std::memcpy(&value, conditions().at(handle).memory->backing, sizeof value);
  return value;
}

void set_value(const Condition& condition, unsigned value) {
  std::memcpy(condition.memory->backing, &value, sizeof value);
  global_memory().mark_written(condition.memory->base, sizeof value);
}

// Runs what the condition chooses.
cudaError_t run_bodies(const GraphExec::Step& step) {
  const auto run = [&](size_t body) {
    return body < step.bodies.size() ? run_steps(step.bodies[body]) : cudaSuccess;
  };
  const cudaGraphConditionalHandle handle = step.condition.handle;
  switch (step.condition.type) {
    case cudaGraphCondTypeIf:
      return run(value_of(handle) != 0 ? 0 : 1);
    case cudaGraphCondTypeWhile:
      while (value_of(handle) != 0 && !context_is_broken()) {
        if (const cudaError_t error = run(0); error != cudaSuccess) return error;
      }
      return cudaSuccess;
    default:
      return run(value_of(handle));
  }
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
  copy->references = references;
  std::map<const GraphNode*, GraphNode*> twin;
  for (const auto& node : nodes) {
    GraphNode* made = copy->add(node->type, {}, node->work);
    if (node->child != nullptr) made->child = node->child->clone();
    made->condition = node->condition;
    for (const auto& body : node->bodies) made->bodies.push_back(body->clone());
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
  if (it != graphs().end()) return it->second.get();
  const auto inner = lent().find(handle);
  return inner != lent().end() ? inner->second.lock().get() : nullptr;
}

cudaGraph_t lend(const std::shared_ptr<Graph>& graph) {
  const auto handle = reinterpret_cast<cudaGraph_t>(graph.get());
  std::erase_if(lent(), [](const auto& entry) { return entry.second.expired(); });
  lent()[handle] = graph;
  return handle;
}

cudaGraphConditionalHandle new_condition(unsigned initial, bool assigned_at_launch) {
  const Allocation* memory =
      global_memory().allocate(sizeof initial, Allocation::Kind::variable, "a condition");
  if (memory == nullptr) return 0;
  const Condition& made = conditions()[memory->base] = {memory, initial, assigned_at_launch};
  set_value(made, initial);
  return memory->base;
}

bool is_condition(cudaGraphConditionalHandle handle) {
  return conditions().contains(handle);
}

void assign_conditions(const std::vector<GraphExec::Step>& steps) {
  for (const GraphExec::Step& step : steps) {
    assign_conditions(step.child);
    for (const auto& body : step.bodies) assign_conditions(body);
    const auto condition = conditions().find(step.condition.handle);
    if (condition != conditions().end() && condition->second.assigned_at_launch)
      set_value(condition->second, condition->second.initial);
  }
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
    step.condition = node->condition;
    for (const auto& body : node->bodies) {
      if (!steps_of(*body, step.bodies.emplace_back())) return false;
    }
  }
  return true;
}

cudaError_t run_steps(const std::vector<GraphExec::Step>& steps) {
  for (const GraphExec::Step& step : steps) {
    if (!step.enabled) continue;
    std::unique_lock lock(runtime_mutex());
    if (context_is_broken()) return cudaSuccess;
    const bool runs_others = step.type == cudaGraphNodeTypeGraph || step.type == cudaGraphNodeTypeConditional;
    if (step.type == cudaGraphNodeTypeHost || runs_others) lock.unlock();
    cudaError_t error = step.work.run ? step.work.run() : cudaSuccess;
    if (error == cudaSuccess) error = run_steps(step.child);
    if (error == cudaSuccess && !step.bodies.empty()) error = run_bodies(step);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace simulator
