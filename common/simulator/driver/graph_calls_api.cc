// Graphs: what has the runtime's parameters exactly; running them.
#include "common/simulator/driver/call.h"

using namespace simulator;

namespace {

const cudaHostNodeParams* host_params(const CUDA_HOST_NODE_PARAMS* params) {
  return reinterpret_cast<const cudaHostNodeParams*>(params);
}
static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(cudaGraphInstantiateParams));
static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(cudaGraphExecUpdateResultInfo));

// The log of an instantiation: nothing is written there.
void clear_log(CUgraphNode* node, char* log, size_t bytes) {
  if (node != nullptr) *node = nullptr;
  if (log != nullptr && bytes != 0) *log = '\0';
}

}  // namespace

extern "C" CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                             size_t count, CUgraph child) {
  return driver_call([&] { return cudaGraphAddChildGraphNode(node, graph, before, count, child); });
}

extern "C" CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  return driver_call([&] { return cudaGraphChildGraphNodeGetGraph(node, graph); });
}

extern "C" CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                        size_t count) {
  return driver_call([&] { return cudaGraphAddEmptyNode(node, graph, before, count); });
}

extern "C" CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                       size_t count, const CUDA_HOST_NODE_PARAMS* params) {
  return driver_call([&] { return cudaGraphAddHostNode(node, graph, before, count, host_params(params)); });
}

extern "C" CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* params) {
  return driver_call(
      [&] { return cudaGraphHostNodeGetParams(node, reinterpret_cast<cudaHostNodeParams*>(params)); });
}

extern "C" CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  return driver_call([&] { return cudaGraphHostNodeSetParams(node, host_params(params)); });
}

extern "C" CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                 const CUDA_HOST_NODE_PARAMS* params) {
  return driver_call([&] { return cudaGraphExecHostNodeSetParams(executable, node, host_params(params)); });
}

extern "C" CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                              size_t count, CUevent event) {
  return driver_call([&] { return cudaGraphAddEventRecordNode(node, graph, before, count, event); });
}

extern "C" CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return driver_call([&] { return cudaGraphEventRecordNodeGetEvent(node, event); });
}

extern "C" CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return driver_call([&] { return cudaGraphEventRecordNodeSetEvent(node, event); });
}

extern "C" CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable, CUgraphNode node,
                                                       CUevent event) {
  return driver_call([&] { return cudaGraphExecEventRecordNodeSetEvent(executable, node, event); });
}

extern "C" CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                            size_t count, CUevent event) {
  return driver_call([&] { return cudaGraphAddEventWaitNode(node, graph, before, count, event); });
}

extern "C" CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return driver_call([&] { return cudaGraphEventWaitNodeGetEvent(node, event); });
}

extern "C" CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return driver_call([&] { return cudaGraphEventWaitNodeSetEvent(node, event); });
}

extern "C" CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable, CUgraphNode node,
                                                     CUevent event) {
  return driver_call([&] { return cudaGraphExecEventWaitNodeSetEvent(executable, node, event); });
}

extern "C" CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return driver_call([&] { return cudaGraphNodeGetType(node, reinterpret_cast<cudaGraphNodeType*>(type)); });
}

extern "C" CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return driver_call([&] { return cudaGraphGetNodes(graph, nodes, count); });
}

extern "C" CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return driver_call([&] { return cudaGraphGetRootNodes(graph, nodes, count); });
}

extern "C" CUresult cuGraphDestroyNode(CUgraphNode node) {
  return driver_call([&] { return cudaGraphDestroyNode(node); });
}

extern "C" CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned flags) {
  return driver_call([&] { return cudaGraphDebugDotPrint(graph, path, flags); });
}

extern "C" CUresult cuUserObjectCreate(CUuserObject* object, void* pointer, CUhostFn destroy,
                                       unsigned references, unsigned flags) {
  return driver_call([&] { return cudaUserObjectCreate(object, pointer, destroy, references, flags); });
}

extern "C" CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return driver_call([&] { return cudaUserObjectRetain(object, count); });
}

extern "C" CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return driver_call([&] { return cudaUserObjectRelease(object, count); });
}

extern "C" CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count,
                                            unsigned flags) {
  return driver_call([&] { return cudaGraphRetainUserObject(graph, object, count, flags); });
}

extern "C" CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return driver_call([&] { return cudaGraphReleaseUserObject(graph, object, count); });
}

extern "C" CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return driver_call([&] { return cudaDeviceGraphMemTrim(device); });
}

extern "C" CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                                 void* value) {
  return driver_call([&] {
    return cudaDeviceGetGraphMemAttribute(device, static_cast<cudaGraphMemAttributeType>(attribute), value);
  });
}

extern "C" CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                                 void* value) {
  return driver_call([&] {
    return cudaDeviceSetGraphMemAttribute(device, static_cast<cudaGraphMemAttributeType>(attribute), value);
  });
}

extern "C" CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph,
                                                unsigned long long flags) {
  return driver_call([&] { return cudaGraphInstantiate(executable, graph, flags); });
}

extern "C" CUresult cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph graph,
                                                 CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  return driver_call([&] {
    return cudaGraphInstantiateWithParams(executable, graph,
                                          reinterpret_cast<cudaGraphInstantiateParams*>(params));
  });
}

extern "C" CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return driver_call([&] { return cudaGraphExecDestroy(executable); });
}

extern "C" CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return driver_call([&] { return cudaGraphLaunch(executable, stream); });
}

extern "C" CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) {
  return driver_call([&] { return cudaGraphUpload(executable, stream); });
}

extern "C" CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned enabled) {
  return driver_call([&] { return cudaGraphNodeSetEnabled(executable, node, enabled); });
}

extern "C" CUresult cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode node, unsigned* enabled) {
  return driver_call([&] { return cudaGraphNodeGetEnabled(executable, node, enabled); });
}

extern "C" CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                       CUgraph child) {
  return driver_call([&] { return cudaGraphExecChildGraphNodeSetParams(executable, node, child); });
}

extern "C" CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph,
                                         CUgraphExecUpdateResultInfo* result) {
  return driver_call([&] {
    return cudaGraphExecUpdate(executable, graph, reinterpret_cast<cudaGraphExecUpdateResultInfo*>(result));
  });
}

extern "C" CUresult cuGraphExecGetFlags(CUgraphExec executable, cuuint64_t* flags) {
  return driver_call([&] {
    unsigned long long found = 0;
    const cudaError_t error = cudaGraphExecGetFlags(executable, flags != nullptr ? &found : nullptr);
    if (flags != nullptr) *flags = found;
    return error;
  });
}

extern "C" CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, CUgraphNode* node, char* log,
                                       size_t bytes) {
  clear_log(node, log, bytes);
  return cuGraphInstantiateWithFlags(executable, graph, 0);
}

extern "C" CUresult cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode* node,
                                          char* log, size_t bytes) {
  return cuGraphInstantiate(executable, graph, node, log, bytes);
}

extern "C" CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode* node,
                                      CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo info = {};
  const CUresult error = cuGraphExecUpdate_v2(executable, graph, &info);
  if (node != nullptr) *node = info.errorNode;
  if (result != nullptr) *result = info.result;
  return error;
}

SIMULATOR_ALIAS(cuGraphLaunch_ptsz, cuGraphLaunch);
SIMULATOR_ALIAS(cuGraphUpload_ptsz, cuGraphUpload);
SIMULATOR_ALIAS(cuGraphInstantiateWithParams_ptsz, cuGraphInstantiateWithParams);
