// The driver's parameters of copies, as those of the runtime.
#pragma once

#include <algorithm>

#include "common/simulator/driver/call.h"

namespace simulator {

// 2D and 3D. What is host memory and what the device's, the kind says; arrays are refused where the copy is
// made.
template <class Copy>
cudaMemcpy3DParms params_of(const Copy& copy, size_t source_height, size_t target_height, size_t depth) {
  const auto host = [](CUmemorytype type) { return type == CU_MEMORYTYPE_HOST; };
  const bool unified =
      copy.srcMemoryType == CU_MEMORYTYPE_UNIFIED || copy.dstMemoryType == CU_MEMORYTYPE_UNIFIED;
  cudaMemcpy3DParms made = {};
  if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY) made.srcArray = reinterpret_cast<cudaArray_t>(copy.srcArray);
  if (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY) made.dstArray = reinterpret_cast<cudaArray_t>(copy.dstArray);
  made.srcPos.x = copy.srcXInBytes;
  made.srcPos.y = copy.srcY;
  made.dstPos.x = copy.dstXInBytes;
  made.dstPos.y = copy.dstY;
  made.extent = {copy.WidthInBytes, copy.Height, depth};
  void* source = host(copy.srcMemoryType) ? const_cast<void*>(copy.srcHost) : pointer(copy.srcDevice);
  void* target = host(copy.dstMemoryType) ? copy.dstHost : pointer(copy.dstDevice);
  made.srcPtr = {source, std::max(copy.srcPitch, copy.srcPitch == 0 ? copy.WidthInBytes : 0),
                 copy.WidthInBytes, source_height};
  made.dstPtr = {target, std::max(copy.dstPitch, copy.dstPitch == 0 ? copy.WidthInBytes : 0),
                 copy.WidthInBytes, target_height};
  made.kind = unified ? cudaMemcpyDefault
              : host(copy.srcMemoryType)
                  ? (host(copy.dstMemoryType) ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
                  : (host(copy.dstMemoryType) ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice);
  return made;
}

inline cudaMemcpy3DParms params_of(const CUDA_MEMCPY2D_v2& copy) {
  return params_of(copy, copy.Height, copy.Height, 1);
}

template <class Copy>  // CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER
cudaMemcpy3DParms params_of(const Copy& copy) {
  cudaMemcpy3DParms made = params_of(copy, copy.srcHeight != 0 ? copy.srcHeight : copy.Height,
                                     copy.dstHeight != 0 ? copy.dstHeight : copy.Height, copy.Depth);
  made.srcPos.z = copy.srcZ;
  made.dstPos.z = copy.dstZ;
  return made;
}

}  // namespace simulator
