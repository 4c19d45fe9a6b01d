// Parameters of nodes: what they were made of, and new ones, of graphs and of instantiated graphs' nodes.
#include <memory>
#include <utility>
#include <variant>

#include "common/simulator/api/graph_nodes.h"
#include "common/simulator/context/access_policy.h"
#include "common/simulator/context/state.h"
#include "common/simulator/runtime/graph_work.h"

using namespace simulator;

namespace {

template <class Params>
cudaError_t set_params(cudaGraphNode_t handle, const Params* params, cudaGraphNodeType type) noexcept {
  return call([&] {
    GraphNode* node = node_of(handle);
    if (node == nullptr || params == nullptr || node->type != type) return cudaErrorInvalidValue;
    return work_of(*params, node->work);
  });
}

// What the node was made of. A node that was captured from a copy or a fill does not know.
template <class Params, class F>
cudaError_t get_params(cudaGraphNode_t handle, cudaGraphNodeType type, F&& give) noexcept {
  return call([&] {
    const GraphNode* node = node_of(handle);
    if (node == nullptr || node->type != type) return cudaErrorInvalidValue;
    const auto* params = std::get_if<Params>(&node->work.params);
    if (params == nullptr) {
      say("the parameters of a node that was captured are not known: cudaGraph…GetParams() is not supported "
          "for it");
      return cudaErrorNotSupported;
    }
    give(*params);
    return cudaSuccess;
  });
}

template <class Params>
cudaError_t copy_params(cudaGraphNode_t handle, cudaGraphNodeType type, Params* result) noexcept {
  if (result == nullptr) return call([] { return cudaErrorInvalidValue; });
  return get_params<Params>(handle, type, [&](const Params& params) { *result = params; });
}

template <class F>
cudaError_t set_work(cudaGraphNode_t handle, cudaGraphNodeType type, F&& make) noexcept {
  return call([&] {
    GraphNode* node = node_of(handle);
    if (node == nullptr || node->type != type) return cudaErrorInvalidValue;
    return make(node->work);
  });
}

}  // namespace

extern "C" cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                    const cudaKernelNodeParams* params) {
  return set_params(node, params, cudaGraphNodeTypeKernel);
}

// Of a launch's shape (cluster, cooperative, …) a node keeps no attribute.
extern "C" cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t handle, cudaKernelNodeAttrID attribute,
                                                       cudaKernelNodeAttrValue* value) {
  return call([&] {
    const GraphNode* node = node_of(handle);
    if (node == nullptr || value == nullptr || node->type != cudaGraphNodeTypeKernel)
      return cudaErrorInvalidValue;
    if (attribute != cudaLaunchAttributeAccessPolicyWindow) return cudaErrorNotSupported;
    const auto it = node->attributes.find(attribute);
    *value = it != node->attributes.end() ? it->second : cudaKernelNodeAttrValue{};
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t handle, cudaKernelNodeAttrID attribute,
                                                       const cudaKernelNodeAttrValue* value) {
  return call([&] {
    GraphNode* node = node_of(handle);
    if (node == nullptr || value == nullptr || node->type != cudaGraphNodeTypeKernel)
      return cudaErrorInvalidValue;
    if (attribute != cudaLaunchAttributeAccessPolicyWindow) return cudaErrorNotSupported;
    if (const cudaError_t error = check_window(value->accessPolicyWindow); error != cudaSuccess) return error;
    node->attributes[attribute] = *value;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* params) {
  return set_params(node, params, cudaGraphNodeTypeMemcpy);
}

extern "C" cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* params) {
  return set_params(node, params, cudaGraphNodeTypeMemset);
}

extern "C" cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* params) {
  return set_params(node, params, cudaGraphNodeTypeHost);
}

extern "C" cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t handle, void* to, const void* from,
                                                      size_t bytes, cudaMemcpyKind kind) {
  return call([&] {
    GraphNode* node = node_of(handle);
    if (node == nullptr || node->type != cudaGraphNodeTypeMemcpy) return cudaErrorInvalidValue;
    return work_of_copy(to, from, bytes, kind, node->work);
  });
}

// ---- What a node was made of

extern "C" cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
  if (params == nullptr) return call([] { return cudaErrorInvalidValue; });
  return get_params<std::shared_ptr<const KernelNode>>(node, cudaGraphNodeTypeKernel,
                                                       [&](const auto& kernel) { *params = kernel->params; });
}

extern "C" cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
  return copy_params(node, cudaGraphNodeTypeMemcpy, params);
}

extern "C" cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* params) {
  return copy_params(node, cudaGraphNodeTypeMemset, params);
}

extern "C" cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* params) {
  return copy_params(node, cudaGraphNodeTypeHost, params);
}

extern "C" cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return copy_params(node, cudaGraphNodeTypeEventRecord, event);
}

extern "C" cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return copy_params(node, cudaGraphNodeTypeWaitEvent, event);
}

extern "C" cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* params) {
  return copy_params(node, cudaGraphNodeTypeMemAlloc, params);
}

extern "C" cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  if (pointer == nullptr) return call([] { return cudaErrorInvalidValue; });
  return get_params<cudaMemFreeNodeParams>(node, cudaGraphNodeTypeMemFree, [&](const auto& params) {
    *static_cast<void**>(pointer) = params.dptr;
  });
}

// ---- Others to set

extern "C" cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set_work(node, cudaGraphNodeTypeEventRecord,
                  [&](Work& work) { return work_of_record(event, work); });
}

extern "C" cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set_work(node, cudaGraphNodeTypeWaitEvent, [&](Work& work) { return work_of_wait(event, work); });
}

extern "C" cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                            const void* from, size_t bytes, size_t offset,
                                                            cudaMemcpyKind kind) {
  return set_work(node, cudaGraphNodeTypeMemcpy, [&](Work& work) {
    void* to = nullptr;
    const cudaError_t error = address_in(symbol, bytes, offset, to);
    return error != cudaSuccess ? error : work_of_copy(to, from, bytes, kind, work);
  });
}

extern "C" cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                              const void* symbol, size_t bytes, size_t offset,
                                                              cudaMemcpyKind kind) {
  return set_work(node, cudaGraphNodeTypeMemcpy, [&](Work& work) {
    void* from = nullptr;
    const cudaError_t error = address_in(symbol, bytes, offset, from);
    return error != cudaSuccess ? error : work_of_copy(to, from, bytes, kind, work);
  });
}

extern "C" cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return call([&] {
    GraphNode* target = node_of(to);
    const GraphNode* source = node_of(from);
    if (target == nullptr || source == nullptr || target->type != cudaGraphNodeTypeKernel ||
        source->type != cudaGraphNodeTypeKernel) {
      return cudaErrorInvalidValue;
    }
    target->attributes = source->attributes;
    return cudaSuccess;
  });
}

// ---- Nodes of any type

extern "C" cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* params) {
  return call([&] {
    if (node == nullptr || params == nullptr || params->type != node_of(node)->type)
      return cudaErrorInvalidValue;
    Work& work = node_of(node)->work;
    return work_of(*params, work);
  });
}
