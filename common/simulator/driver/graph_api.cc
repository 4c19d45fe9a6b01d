// Graphs: nodes, and what depends on what. The handles are those of the runtime.
#include "common/simulator/context/registration.h"
#include "common/simulator/driver/call.h"
#include "common/simulator/driver/copy_params.h"
#include "common/simulator/driver/parameters.h"

using namespace simulator;

namespace {

static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));
const cudaGraphEdgeData* runtime_edges(const CUgraphEdgeData* edges) {
  return reinterpret_cast<const cudaGraphEdgeData*>(edges);
}
cudaGraphEdgeData* runtime_edges(CUgraphEdgeData* edges) {
  return reinterpret_cast<cudaGraphEdgeData*>(edges);
}

static_assert(sizeof(CUDA_HOST_NODE_PARAMS) == sizeof(cudaHostNodeParams));
static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(cudaMemAllocNodeParams));
static_assert(sizeof(CUgraphNodeParams) == sizeof(cudaGraphNodeParams));
static_assert(sizeof(CUkernelNodeAttrValue) == sizeof(cudaKernelNodeAttrValue));

cudaMemsetParams params_of(const CUDA_MEMSET_NODE_PARAMS& fill) {
  return {pointer(fill.dst), fill.pitch, fill.value, fill.elementSize, fill.width, fill.height};
}

// use: of the runtime's parameters. The older version of the structure is the newer one's beginning.
template <class Params, class F>
CUresult with_kernel(const Params* params, F&& use) noexcept {
  return driver_call([&] {
    if (params == nullptr) return cudaErrorInvalidValue;
    CUfunction function = params->func;
    if constexpr (std::is_same_v<Params, CUDA_KERNEL_NODE_PARAMS_v2>) {
      if (function == nullptr) function = reinterpret_cast<CUfunction>(params->kern);
    }
    Parameters all(function, params->kernelParams, params->extra);
    if (!all.valid()) return cudaErrorInvalidValue;
    const cudaKernelNodeParams made{function,
                                    {params->gridDimX, params->gridDimY, params->gridDimZ},
                                    {params->blockDimX, params->blockDimY, params->blockDimZ},
                                    params->sharedMemBytes,
                                    all.each(),
                                    nullptr};
    return use(&made);
  });
}

template <class Params>
CUresult get_kernel(CUgraphNode node, Params* params) noexcept {
  return driver_call([&] {
    cudaKernelNodeParams made;
    if (params == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = cudaGraphKernelNodeGetParams(node, &made); error != cudaSuccess)
      return error;
    *params = {};
    params->func = reinterpret_cast<CUfunction>(find_function(made.func));
    params->gridDimX = made.gridDim.x;
    params->gridDimY = made.gridDim.y;
    params->gridDimZ = made.gridDim.z;
    params->blockDimX = made.blockDim.x;
    params->blockDimY = made.blockDim.y;
    params->blockDimZ = made.blockDim.z;
    params->sharedMemBytes = made.sharedMemBytes;
    params->kernelParams = made.kernelParams;
    return cudaSuccess;
  });
}

CUDA_MEMCPY3D copy_of(const cudaMemcpy3DParms& params) {
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(params.srcPtr.ptr);
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(params.dstPtr.ptr);
  copy.srcXInBytes = params.srcPos.x;
  copy.srcY = params.srcPos.y;
  copy.srcZ = params.srcPos.z;
  copy.dstXInBytes = params.dstPos.x;
  copy.dstY = params.dstPos.y;
  copy.dstZ = params.dstPos.z;
  copy.srcPitch = params.srcPtr.pitch;
  copy.dstPitch = params.dstPtr.pitch;
  copy.srcHeight = params.srcPtr.ysize;
  copy.dstHeight = params.dstPtr.ysize;
  copy.WidthInBytes = params.extent.width;
  copy.Height = params.extent.height;
  copy.Depth = params.extent.depth;
  return copy;
}

// A node's parameters of any type: the runtime's have the same layout but for copies and kernels.
template <class F>
CUresult with_node(CUgraphNodeParams* params, F&& use) noexcept {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto type = static_cast<cudaGraphNodeType>(params->type);
  if (type == cudaGraphNodeTypeKernel) {
    const CUDA_KERNEL_NODE_PARAMS_v3& kernel = params->kernel;
    const CUDA_KERNEL_NODE_PARAMS_v2 older{kernel.func,      kernel.gridDimX,       kernel.gridDimY,
                                           kernel.gridDimZ,  kernel.blockDimX,      kernel.blockDimY,
                                           kernel.blockDimZ, kernel.sharedMemBytes, kernel.kernelParams,
                                           kernel.extra,     kernel.kern,           kernel.ctx};
    return with_kernel(&older, [&](const cudaKernelNodeParams* made) {
      cudaGraphNodeParams all = {};
      all.type = type;
      all.kernel.func = made->func;
      all.kernel.gridDim = made->gridDim;
      all.kernel.blockDim = made->blockDim;
      all.kernel.sharedMemBytes = made->sharedMemBytes;
      all.kernel.kernelParams = made->kernelParams;
      return use(&all);
    });
  }
  return driver_call([&] {
    if (type != cudaGraphNodeTypeMemcpy) return use(reinterpret_cast<cudaGraphNodeParams*>(params));
    cudaGraphNodeParams all = {};
    all.type = type;
    all.memcpy.copyParams = simulator::params_of(params->memcpy.copyParams);
    return use(&all);
  });
}

}  // namespace

extern "C" CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return driver_call([&] { return cudaGraphCreate(graph, flags); });
}

extern "C" CUresult cuGraphDestroy(CUgraph graph) {
  return driver_call([&] { return cudaGraphDestroy(graph); });
}

extern "C" CUresult cuGraphClone(CUgraph* clone, CUgraph graph) {
  return driver_call([&] { return cudaGraphClone(clone, graph); });
}

extern "C" CUresult cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode node, CUgraph clone) {
  return driver_call([&] { return cudaGraphNodeFindInClone(found, node, clone); });
}

// ---- Nodes

extern "C" CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                            size_t count, const CUDA_KERNEL_NODE_PARAMS_v2* params) {
  return with_kernel(params,
                     [&](auto* made) { return cudaGraphAddKernelNode(node, graph, before, count, made); });
}

extern "C" CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                         size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return with_kernel(params,
                     [&](auto* made) { return cudaGraphAddKernelNode(node, graph, before, count, made); });
}

extern "C" CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2* params) {
  return get_kernel(node, params);
}

extern "C" CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return get_kernel(node, params);
}

extern "C" CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node,
                                                  const CUDA_KERNEL_NODE_PARAMS_v2* params) {
  return with_kernel(params, [&](auto* made) { return cudaGraphKernelNodeSetParams(node, made); });
}

extern "C" CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return with_kernel(params, [&](auto* made) { return cudaGraphKernelNodeSetParams(node, made); });
}

extern "C" CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                                      const CUDA_KERNEL_NODE_PARAMS_v2* params) {
  return with_kernel(params,
                     [&](auto* made) { return cudaGraphExecKernelNodeSetParams(executable, node, made); });
}

extern "C" CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                   const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return with_kernel(params,
                     [&](auto* made) { return cudaGraphExecKernelNodeSetParams(executable, node, made); });
}

extern "C" CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return driver_call([&] { return cudaGraphKernelNodeCopyAttributes(to, from); });
}

extern "C" CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                                  CUkernelNodeAttrValue* value) {
  return driver_call([&] {
    return cudaGraphKernelNodeGetAttribute(node, static_cast<cudaKernelNodeAttrID>(attribute),
                                           reinterpret_cast<cudaKernelNodeAttrValue*>(value));
  });
}

extern "C" CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                                  const CUkernelNodeAttrValue* value) {
  return driver_call([&] {
    return cudaGraphKernelNodeSetAttribute(node, static_cast<cudaKernelNodeAttrID>(attribute),
                                           reinterpret_cast<const cudaKernelNodeAttrValue*>(value));
  });
}

extern "C" CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                         size_t count, const CUDA_MEMCPY3D* params, CUcontext) {
  return driver_call([&] {
    if (params == nullptr) return cudaErrorInvalidValue;
    const cudaMemcpy3DParms made = simulator::params_of(*params);
    return cudaGraphAddMemcpyNode(node, graph, before, count, &made);
  });
}

extern "C" CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* params) {
  return driver_call([&] {
    cudaMemcpy3DParms made;
    if (params == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGraphMemcpyNodeGetParams(node, &made);
    if (error == cudaSuccess) *params = copy_of(made);
    return error;
  });
}

extern "C" CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* params) {
  return driver_call([&] {
    if (params == nullptr) return cudaErrorInvalidValue;
    const cudaMemcpy3DParms made = simulator::params_of(*params);
    return cudaGraphMemcpyNodeSetParams(node, &made);
  });
}

extern "C" CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                   const CUDA_MEMCPY3D* params, CUcontext) {
  return driver_call([&] {
    if (params == nullptr) return cudaErrorInvalidValue;
    const cudaMemcpy3DParms made = simulator::params_of(*params);
    return cudaGraphExecMemcpyNodeSetParams(executable, node, &made);
  });
}

extern "C" CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                         size_t count, const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return driver_call([&] {
    if (params == nullptr) return cudaErrorInvalidValue;
    const cudaMemsetParams made = params_of(*params);
    return cudaGraphAddMemsetNode(node, graph, before, count, &made);
  });
}

extern "C" CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* params) {
  return driver_call([&] {
    cudaMemsetParams made;
    if (params == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGraphMemsetNodeGetParams(node, &made);
    if (error == cudaSuccess) {
      *params = {reinterpret_cast<CUdeviceptr>(made.dst),
                 made.pitch,
                 made.value,
                 made.elementSize,
                 made.width,
                 made.height};
    }
    return error;
  });
}

extern "C" CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params) {
  return driver_call([&] {
    if (params == nullptr) return cudaErrorInvalidValue;
    const cudaMemsetParams made = params_of(*params);
    return cudaGraphMemsetNodeSetParams(node, &made);
  });
}

extern "C" CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                   const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return driver_call([&] {
    if (params == nullptr) return cudaErrorInvalidValue;
    const cudaMemsetParams made = params_of(*params);
    return cudaGraphExecMemsetNodeSetParams(executable, node, &made);
  });
}

extern "C" CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                           size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return driver_call([&] {
    return cudaGraphAddMemAllocNode(node, graph, before, count,
                                    reinterpret_cast<cudaMemAllocNodeParams*>(params));
  });
}

extern "C" CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return driver_call([&] {
    return cudaGraphMemAllocNodeGetParams(node, reinterpret_cast<cudaMemAllocNodeParams*>(params));
  });
}

extern "C" CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                          size_t count, CUdeviceptr address) {
  return driver_call([&] { return cudaGraphAddMemFreeNode(node, graph, before, count, pointer(address)); });
}

extern "C" CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* address) {
  return driver_call([&] { return cudaGraphMemFreeNodeGetParams(node, address); });
}

extern "C" CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph, CUcontext,
                                                   unsigned initial, unsigned flags) {
  return driver_call([&] {
    cudaGraphConditionalHandle made = 0;
    const cudaError_t error = cudaGraphConditionalHandleCreate(&made, graph, initial, flags);
    if (handle != nullptr) *handle = made;
    return handle == nullptr ? cudaErrorInvalidValue : error;
  });
}

extern "C" CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                      const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* params) {
  return with_node(params, [&](cudaGraphNodeParams* made) {
    return cudaGraphAddNode(node, graph, before, runtime_edges(edges), count, made);
  });
}

extern "C" CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t count,
                                   CUgraphNodeParams* params) {
  return cuGraphAddNode_v2(node, graph, before, nullptr, count, params);
}

extern "C" CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* params) {
  return with_node(params, [&](auto* made) { return cudaGraphNodeSetParams(node, made); });
}

extern "C" CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                             CUgraphNodeParams* params) {
  return with_node(params, [&](auto* made) { return cudaGraphExecNodeSetParams(executable, node, made); });
}

// ---- Dependencies

extern "C" CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                                       CUgraphEdgeData* edges, size_t* count) {
  return driver_call([&] { return cudaGraphGetEdges(graph, from, to, runtime_edges(edges), count); });
}

extern "C" CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

extern "C" CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes,
                                                  CUgraphEdgeData* edges, size_t* count) {
  return driver_call([&] { return cudaGraphNodeGetDependencies(node, nodes, runtime_edges(edges), count); });
}

extern "C" CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}

extern "C" CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes,
                                                    CUgraphEdgeData* edges, size_t* count) {
  return driver_call(
      [&] { return cudaGraphNodeGetDependentNodes(node, nodes, runtime_edges(edges), count); });
}

extern "C" CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}

extern "C" CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                              const CUgraphEdgeData* edges, size_t count) {
  return driver_call([&] { return cudaGraphAddDependencies(graph, from, to, runtime_edges(edges), count); });
}

extern "C" CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                           size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

extern "C" CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from,
                                                 const CUgraphNode* to, const CUgraphEdgeData* edges,
                                                 size_t count) {
  return driver_call(
      [&] { return cudaGraphRemoveDependencies(graph, from, to, runtime_edges(edges), count); });
}

extern "C" CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                              size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}
