// Copies and fills.
#include "common/simulator/driver/call.h"
#include "common/simulator/driver/copy_params.h"
#include "common/simulator/runtime/copy.h"

using namespace simulator;

namespace {

template <class Params>
CUresult copy(const Params* params) noexcept {
  return driver_call([&] {
    if (params == nullptr) return cudaErrorInvalidValue;
    const cudaMemcpy3DParms made = params_of(*params);
    return cudaMemcpy3D(&made);
  });
}

template <class Params>
CUresult copy(const Params* params, CUstream stream) noexcept {
  return driver_call([&] {
    if (params == nullptr) return cudaErrorInvalidValue;
    const cudaMemcpy3DParms made = params_of(*params);
    return cudaMemcpy3DAsync(&made, stream);
  });
}

template <class T>
FillBox box_of(CUdeviceptr to, T value, size_t count, size_t pitch = 0, size_t height = 1) {
  FillBox box;
  box.to = static_cast<std::byte*>(pointer(to));
  box.value = value;
  box.element = sizeof value;
  box.width = count * sizeof value;
  box.pitch = pitch;
  box.height = height;
  return box;
}

CUresult fill(const FillBox& box) noexcept {
  return driver_call([&] { return call([&] { return fill_now(box); }); });
}

CUresult fill(const FillBox& box, CUstream stream) noexcept {
  return driver_call([&] { return call([&] { return submit_fill(box, stream); }); });
}

}  // namespace

extern "C" CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return driver_call([&] { return cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDefault); });
}

extern "C" CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return driver_call(
      [&] { return cudaMemcpyAsync(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream); });
}

extern "C" CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return driver_call([&] { return cudaMemcpy(pointer(to), from, bytes, cudaMemcpyHostToDevice); });
}

extern "C" CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return driver_call([&] { return cudaMemcpy(to, pointer(from), bytes, cudaMemcpyDeviceToHost); });
}

extern "C" CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return driver_call([&] { return cudaMemcpy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice); });
}

extern "C" CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return driver_call(
      [&] { return cudaMemcpyAsync(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream); });
}

extern "C" CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return driver_call(
      [&] { return cudaMemcpyAsync(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream); });
}

extern "C" CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return driver_call(
      [&] { return cudaMemcpyAsync(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, stream); });
}

extern "C" CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
  return cuMemcpyDtoD_v2(to, from, bytes);
}

extern "C" CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes,
                                      CUstream stream) {
  return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}

extern "C" CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D_v2* params) {
  return copy(params);
}

extern "C" CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D_v2* params) {
  return copy(params);
}

extern "C" CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D_v2* params, CUstream stream) {
  return copy(params, stream);
}

extern "C" CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D_v2* params) {
  return copy(params);
}

extern "C" CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D_v2* params, CUstream stream) {
  return copy(params, stream);
}

extern "C" CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* params) {
  return copy(params);
}

extern "C" CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* params, CUstream stream) {
  return copy(params, stream);
}

extern "C" CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, size_t* bytes, size_t count,
                                          CUmemcpyAttributes*, size_t*, size_t, CUstream stream) {
  return driver_call([&] {
    return cudaMemcpyBatchAsync(pointers(to), const_cast<const void**>(pointers(from)), bytes, count, nullptr,
                                nullptr, 0, stream);
  });
}

extern "C" CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* bytes, size_t count,
                                       CUmemcpyAttributes*, size_t*, size_t, size_t*, CUstream stream) {
  return cuMemcpyBatchAsync_v2(to, from, bytes, count, nullptr, nullptr, 0, stream);
}

// ---- Fills

extern "C" CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return fill(box_of(to, value, count));
}

extern "C" CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return fill(box_of(to, value, count));
}

extern "C" CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return fill(box_of(to, value, count));
}

extern "C" CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                                    size_t height) {
  return fill(box_of(to, value, width, pitch, height));
}

extern "C" CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                                     size_t height) {
  return fill(box_of(to, value, width, pitch, height));
}

extern "C" CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                     size_t height) {
  return fill(box_of(to, value, width, pitch, height));
}

extern "C" CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return fill(box_of(to, value, count), stream);
}

extern "C" CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return fill(box_of(to, value, count), stream);
}

extern "C" CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return fill(box_of(to, value, count), stream);
}

extern "C" CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                                      size_t height, CUstream stream) {
  return fill(box_of(to, value, width, pitch, height), stream);
}

extern "C" CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                                       size_t height, CUstream stream) {
  return fill(box_of(to, value, width, pitch, height), stream);
}

extern "C" CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                       size_t height, CUstream stream) {
  return fill(box_of(to, value, width, pitch, height), stream);
}

SIMULATOR_ALIAS(cuMemcpy_ptds, cuMemcpy);
SIMULATOR_ALIAS(cuMemcpyAsync_ptsz, cuMemcpyAsync);
SIMULATOR_ALIAS(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2);
SIMULATOR_ALIAS(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2);
SIMULATOR_ALIAS(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2);
SIMULATOR_ALIAS(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2);
SIMULATOR_ALIAS(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2);
SIMULATOR_ALIAS(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync_v2);
SIMULATOR_ALIAS(cuMemcpyPeer_ptds, cuMemcpyPeer);
SIMULATOR_ALIAS(cuMemcpyPeerAsync_ptsz, cuMemcpyPeerAsync);
SIMULATOR_ALIAS(cuMemcpy2D_v2_ptds, cuMemcpy2D_v2);
SIMULATOR_ALIAS(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2DUnaligned_v2);
SIMULATOR_ALIAS(cuMemcpy2DAsync_v2_ptsz, cuMemcpy2DAsync_v2);
SIMULATOR_ALIAS(cuMemcpy3D_v2_ptds, cuMemcpy3D_v2);
SIMULATOR_ALIAS(cuMemcpy3DAsync_v2_ptsz, cuMemcpy3DAsync_v2);
SIMULATOR_ALIAS(cuMemcpy3DPeer_ptds, cuMemcpy3DPeer);
SIMULATOR_ALIAS(cuMemcpy3DPeerAsync_ptsz, cuMemcpy3DPeerAsync);
SIMULATOR_ALIAS(cuMemcpyBatchAsync_v2_ptsz, cuMemcpyBatchAsync_v2);
SIMULATOR_ALIAS(cuMemcpyBatchAsync_ptsz, cuMemcpyBatchAsync);
SIMULATOR_ALIAS(cuMemsetD8_v2_ptds, cuMemsetD8_v2);
SIMULATOR_ALIAS(cuMemsetD16_v2_ptds, cuMemsetD16_v2);
SIMULATOR_ALIAS(cuMemsetD32_v2_ptds, cuMemsetD32_v2);
SIMULATOR_ALIAS(cuMemsetD2D8_v2_ptds, cuMemsetD2D8_v2);
SIMULATOR_ALIAS(cuMemsetD2D16_v2_ptds, cuMemsetD2D16_v2);
SIMULATOR_ALIAS(cuMemsetD2D32_v2_ptds, cuMemsetD2D32_v2);
SIMULATOR_ALIAS(cuMemsetD8Async_ptsz, cuMemsetD8Async);
SIMULATOR_ALIAS(cuMemsetD16Async_ptsz, cuMemsetD16Async);
SIMULATOR_ALIAS(cuMemsetD32Async_ptsz, cuMemsetD32Async);
SIMULATOR_ALIAS(cuMemsetD2D8Async_ptsz, cuMemsetD2D8Async);
SIMULATOR_ALIAS(cuMemsetD2D16Async_ptsz, cuMemsetD2D16Async);
SIMULATOR_ALIAS(cuMemsetD2D32Async_ptsz, cuMemsetD2D32Async);
