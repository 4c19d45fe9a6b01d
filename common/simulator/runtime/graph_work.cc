#include "common/simulator/runtime/graph_work.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/simulator/context/registration.h"
#include "common/simulator/context/state.h"
#include "common/simulator/runtime/copy.h"
#include "common/simulator/runtime/copy_params.h"
#include "common/simulator/runtime/event.h"
#include "common/simulator/runtime/launch.h"

namespace simulator {

NodeParams params_of(const void* func, const LaunchRequest& request, const PreparedLaunch& prepared) {
  auto node = std::make_shared<KernelNode>();
  node->bytes = prepared.params;
  for (const uint32_t offset : info(*prepared.kernel).param_offset)
    node->arguments.push_back(node->bytes.data() + offset);
  node->params.func = const_cast<void*>(func);
  node->params.gridDim = request.grid;
  node->params.blockDim = request.block;
  node->params.sharedMemBytes = static_cast<unsigned>(request.dynamic_shared);
  node->params.kernelParams = node->arguments.data();
  return std::shared_ptr<const KernelNode>(std::move(node));
}

cudaError_t work_of(const cudaKernelNodeParams& params, Work& work) {
  Function* function = params.func != nullptr ? find_function(params.func) : nullptr;
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  if (params.extra != nullptr) {
    say("a kernel node with its arguments in one buffer (extra) is not supported");
    return cudaErrorNotSupported;
  }
  LaunchRequest request;
  request.grid = params.gridDim;
  request.block = params.blockDim;
  request.dynamic_shared = params.sharedMemBytes;
  auto prepared = std::make_shared<PreparedLaunch>();
  if (const cudaError_t error = prepare(*function, request, params.kernelParams, *prepared);
      error != cudaSuccess) {
    return error;
  }
  work = {[prepared] { return execute(*prepared); }, params_of(params.func, request, *prepared)};
  return cudaSuccess;
}

namespace {

template <class Box>
cudaError_t work_of_box(const Box& box, const NodeParams& params, Work& work) {
  if (const cudaError_t error = check(box); error != cudaSuccess) return error;
  work = {[box] { return run(box); }, params};
  return cudaSuccess;
}

}  // namespace

cudaError_t work_of(const cudaMemcpy3DParms& params, Work& work) {
  CopyBox box;
  const cudaError_t error = box_of(&params, box);
  return error != cudaSuccess ? error : work_of_box(box, params, work);
}

cudaError_t work_of(const cudaMemsetParams& params, Work& work) {
  FillBox box;
  box.to = static_cast<std::byte*>(params.dst);
  box.value = params.value;
  box.element = params.elementSize;
  box.width = params.width * params.elementSize;
  box.height = params.height;
  box.pitch = params.pitch;
  return work_of_box(box, params, work);
}

cudaError_t work_of(const cudaHostNodeParams& params, Work& work) {
  if (params.fn == nullptr) return cudaErrorInvalidValue;
  const auto run = [params] {
    params.fn(params.userData);
    return cudaSuccess;
  };
  work = {run, params};
  return cudaSuccess;
}

cudaError_t work_of_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, Work& work) {
  cudaMemcpy3DParms params = {};
  params.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  params.dstPtr = {to, bytes, bytes, 1};
  params.extent = {bytes, 1, 1};
  params.kind = kind;
  return work_of_box(CopyBox(to, from, bytes, kind), params, work);
}

cudaError_t work_of_record(cudaEvent_t event, Work& work) {
  if (find_event(event) == nullptr) return cudaErrorInvalidResourceHandle;
  const auto run = [event] {
    return find_event(event) != nullptr ? record_event(event, cudaStreamPerThread) : cudaSuccess;
  };
  work = {run, event};
  return cudaSuccess;
}

// What comes before has happened.
cudaError_t work_of_wait(cudaEvent_t event, Work& work) {
  if (find_event(event) == nullptr) return cudaErrorInvalidResourceHandle;
  work = {[] { return cudaSuccess; }, event};
  return cudaSuccess;
}

cudaError_t work_of(const cudaGraphNodeParams& params, Work& work) {
  switch (params.type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParamsV2& kernel = params.kernel;
      return work_of(cudaKernelNodeParams{kernel.func, kernel.gridDim, kernel.blockDim, kernel.sharedMemBytes,
                                          kernel.kernelParams, kernel.extra},
                     work);
    }
    case cudaGraphNodeTypeMemcpy:
      return work_of(params.memcpy.copyParams, work);
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParamsV2& fill = params.memset;
      return work_of(
          cudaMemsetParams{fill.dst, fill.pitch, fill.value, fill.elementSize, fill.width, fill.height},
          work);
    }
    case cudaGraphNodeTypeHost:
      return work_of(cudaHostNodeParams{params.host.fn, params.host.userData}, work);
    case cudaGraphNodeTypeEventRecord:
      return work_of_record(params.eventRecord.event, work);
    case cudaGraphNodeTypeWaitEvent:
      return work_of_wait(params.eventWait.event, work);
    default:
      say("a graph's node of type " + std::to_string(params.type) + " is not supported here");
      return cudaErrorNotSupported;
  }
}

}  // namespace simulator
