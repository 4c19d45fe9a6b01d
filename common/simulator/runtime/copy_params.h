// From CUDA's parameter structures to boxes.
#pragma once

#include "common/simulator/context/cuda_api.h"
#include "common/simulator/context/state.h"
#include "common/simulator/runtime/copy.h"

namespace simulator {

template <class Params>
cudaError_t box_of_pitched(const Params& params, CopyBox& box) {
  if (params.srcArray != nullptr || params.dstArray != nullptr) {
    say("copies from or to a cudaArray are not supported");
    return cudaErrorNotSupported;
  }
  box = CopyBox();
  box.width = params.extent.width;
  box.height = params.extent.height;
  box.depth = params.extent.depth;
  box.to_pitch = params.dstPtr.pitch;
  box.from_pitch = params.srcPtr.pitch;
  box.to_slice = box.to_pitch * params.dstPtr.ysize;
  box.from_slice = box.from_pitch * params.srcPtr.ysize;
  box.to = static_cast<std::byte*>(params.dstPtr.ptr) + params.dstPos.z * box.to_slice +
           params.dstPos.y * box.to_pitch + params.dstPos.x;
  box.from = static_cast<const std::byte*>(params.srcPtr.ptr) + params.srcPos.z * box.from_slice +
             params.srcPos.y * box.from_pitch + params.srcPos.x;
  return cudaSuccess;
}

inline cudaError_t box_of(const cudaMemcpy3DParms* params, CopyBox& box) {
  if (params == nullptr) return cudaErrorInvalidValue;
  const cudaError_t error = box_of_pitched(*params, box);
  box.kind = params->kind;
  return error;
}

inline cudaError_t box_of(const cudaMemcpy3DPeerParms* params, CopyBox& box) {
  if (params == nullptr) return cudaErrorInvalidValue;
  if (params->srcDevice != 0 || params->dstDevice != 0) return cudaErrorInvalidDevice;
  const cudaError_t error = box_of_pitched(*params, box);
  box.kind = cudaMemcpyDeviceToDevice;
  return error;
}

}  // namespace simulator
