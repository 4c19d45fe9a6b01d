// Memory that nodes of graphs allocate and free. A graph's addresses stay its own for as long as it, or what
// was instantiated from it, lives: the memory is allocated with the node, and what is freed meanwhile is only
// marked.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "common/simulator/api/graph_nodes.h"
#include "common/simulator/context/memory.h"
#include "common/simulator/context/state.h"

using namespace simulator;

namespace {

struct Usage {
  uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;  // bytes
};

Usage& usage() {
  static Usage all;
  return all;
}

class GraphMemory;
std::map<void*, GraphMemory*>& graph_memory() {
  static auto* all = new std::map<void*, GraphMemory*>;
  return *all;
}

// What the nodes' work holds. When the last of it is gone, what was freed goes, and what was not is the
// program's.
class GraphMemory {
 public:
  GraphMemory(void* pointer, size_t bytes) : pointer_(pointer), bytes_(bytes) {
    graph_memory()[pointer] = this;
    usage().reserved += bytes;
    usage().reserved_high = std::max(usage().reserved_high, usage().reserved);
  }
  ~GraphMemory() {
    const std::lock_guard lock(runtime_mutex());
    if (graph_memory().erase(pointer_) == 0) return;  // cudaDeviceReset()
    usage().reserved -= bytes_;
    if (!in_use_) release(pointer_);
    set_in_use(false);
  }
  GraphMemory(const GraphMemory&) = delete;

  void set_in_use(bool in_use) {
    if (in_use == in_use_) return;
    in_use_ = in_use;
    usage().used += in_use ? bytes_ : uint64_t{0} - bytes_;
    usage().used_high = std::max(usage().used_high, usage().used);
  }

 private:
  void* pointer_;
  uint64_t bytes_;
  bool in_use_ = false;
};

uint64_t* value_of(cudaGraphMemAttributeType attribute) {
  switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent:
      return &usage().used;
    case cudaGraphMemAttrUsedMemHigh:
      return &usage().used_high;
    case cudaGraphMemAttrReservedMemCurrent:
      return &usage().reserved;
    case cudaGraphMemAttrReservedMemHigh:
      return &usage().reserved_high;
    default:
      return nullptr;
  }
}

}  // namespace

cudaError_t simulator::work_of_allocation(cudaMemAllocNodeParams& params, Work& work) {
  params.dptr = nullptr;
  if (params.bytesize == 0) return cudaErrorInvalidValue;
  if (const cudaError_t error = allocate(&params.dptr, params.bytesize, Allocation::Kind::device);
      error != cudaSuccess) {
    return error;
  }
  const auto memory = std::make_shared<GraphMemory>(params.dptr, params.bytesize);
  const auto run = [memory] {
    memory->set_in_use(true);
    return cudaSuccess;
  };
  work = {run, params};
  return cudaSuccess;
}

cudaError_t simulator::work_of_free(void* pointer, Work& work) {
  if (!graph_memory().contains(pointer)) return cudaErrorInvalidValue;
  const auto run = [pointer] {
    keep_for_graph(pointer);
    return cudaSuccess;
  };
  work = {run, cudaMemFreeNodeParams{pointer}};
  return cudaSuccess;
}

bool simulator::keep_for_graph(void* pointer) {
  const auto it = graph_memory().find(pointer);
  if (it == graph_memory().end()) return false;
  it->second->set_in_use(false);
  return true;
}

void simulator::forget_graph_memory() {
  graph_memory().clear();
  usage() = {};
}

extern "C" cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* dependencies, size_t count,
                                                cudaMemAllocNodeParams* params) {
  return add_node(node, graph, dependencies, count, cudaGraphNodeTypeMemAlloc, [&](Work& work) {
    return params == nullptr ? cudaErrorInvalidValue : work_of_allocation(*params, work);
  });
}

extern "C" cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                               const cudaGraphNode_t* dependencies, size_t count,
                                               void* pointer) {
  return add_node(node, graph, dependencies, count, cudaGraphNodeTypeMemFree,
                  [&](Work& work) { return work_of_free(pointer, work); });
}

extern "C" cudaError_t cudaDeviceGetGraphMemAttribute(int number, cudaGraphMemAttributeType attribute,
                                                      void* value) {
  return call([&] {
    const uint64_t* known = value_of(attribute);
    if (number != 0) return cudaErrorInvalidDevice;
    if (known == nullptr || value == nullptr) return cudaErrorInvalidValue;
    *static_cast<uint64_t*>(value) = *known;
    return cudaSuccess;
  });
}

// The high-water marks can be set back, to 0.
extern "C" cudaError_t cudaDeviceSetGraphMemAttribute(int number, cudaGraphMemAttributeType attribute,
                                                      void* value) {
  return call([&] {
    if (number != 0) return cudaErrorInvalidDevice;
    if (value == nullptr || *static_cast<uint64_t*>(value) != 0) return cudaErrorInvalidValue;
    if (attribute == cudaGraphMemAttrUsedMemHigh) {
      usage().used_high = usage().used;
    } else if (attribute == cudaGraphMemAttrReservedMemHigh) {
      usage().reserved_high = usage().reserved;
    } else {
      return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaDeviceGraphMemTrim(int number) {
  return call([&] { return number == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}
