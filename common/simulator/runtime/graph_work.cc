#include "common/simulator/runtime/graph_work.h"

#include <memory>
#include <utility>
#include <vector>

#include "common/simulator/context/registration.h"
#include "common/simulator/context/state.h"
#include "common/simulator/runtime/copy.h"
#include "common/simulator/runtime/copy_params.h"
#include "common/simulator/runtime/event.h"
#include "common/simulator/runtime/launch.h"

namespace simulator {

cudaError_t work_of(const cudaKernelNodeParams& params, Work& work) {
  Function* function = params.func != nullptr ? find_function(params.func) : nullptr;
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  if (params.extra != nullptr) return cudaErrorNotSupported;
  LaunchRequest request;
  request.grid = params.gridDim;
  request.block = params.blockDim;
  request.dynamic_shared = params.sharedMemBytes;
  auto prepared = std::make_shared<PreparedLaunch>();
  if (const cudaError_t error = prepare(*function, request, params.kernelParams, *prepared);
      error != cudaSuccess) {
    return error;
  }
  work = [prepared] { return execute(*prepared); };
  return cudaSuccess;
}

namespace {

template <class Box>
cudaError_t work_of_box(const Box& box, Work& work) {
  if (const cudaError_t error = check(box); error != cudaSuccess) return error;
  work = [box] { return run(box); };
  return cudaSuccess;
}

}  // namespace

cudaError_t work_of(const cudaMemcpy3DParms& params, Work& work) {
  CopyBox box;
  const cudaError_t error = box_of(&params, box);
  return error != cudaSuccess ? error : work_of_box(box, work);
}

cudaError_t work_of(const cudaMemsetParams& params, Work& work) {
  FillBox box;
  box.to = static_cast<std::byte*>(params.dst);
  box.value = params.value;
  box.element = params.elementSize;
  box.width = params.width * params.elementSize;
  box.height = params.height;
  box.pitch = params.pitch;
  return work_of_box(box, work);
}

cudaError_t work_of(const cudaHostNodeParams& params, Work& work) {
  if (params.fn == nullptr) return cudaErrorInvalidValue;
  work = [params] {
    params.fn(params.userData);
    return cudaSuccess;
  };
  return cudaSuccess;
}

cudaError_t work_of_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, Work& work) {
  return work_of_box(CopyBox(to, from, bytes, kind), work);
}

cudaError_t work_of_record(cudaEvent_t event, Work& work) {
  if (find_event(event) == nullptr) return cudaErrorInvalidResourceHandle;
  work = [event] {
    return find_event(event) != nullptr ? record_event(event, cudaStreamPerThread) : cudaSuccess;
  };
  return cudaSuccess;
}

}  // namespace simulator
