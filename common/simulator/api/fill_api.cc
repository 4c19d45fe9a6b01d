// cudaMemset…: 1D, 2D, 3D.
#include "common/simulator/context/state.h"
#include "common/simulator/runtime/copy.h"

using namespace simulator;

namespace {

FillBox box_1d(void* to, int value, size_t bytes) {
  FillBox box;
  box.to = static_cast<std::byte*>(to);
  box.value = static_cast<uint32_t>(value);
  box.width = bytes;
  return box;
}

FillBox box_2d(void* to, size_t pitch, int value, size_t width, size_t height) {
  FillBox box = box_1d(to, value, width);
  box.pitch = pitch;
  box.height = height;
  return box;
}

FillBox box_3d(const cudaPitchedPtr& to, int value, const cudaExtent& extent) {
  FillBox box = box_2d(to.ptr, to.pitch, value, extent.width, extent.height);
  box.depth = extent.depth;
  box.slice = to.pitch * to.ysize;
  return box;
}

}  // namespace

extern "C" cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return call([&] { return fill_now(box_1d(to, value, bytes)); });
}

extern "C" cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return call([&] { return submit_fill(box_1d(to, value, bytes), stream); });
}

extern "C" cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return call([&] { return fill_now(box_2d(to, pitch, value, width, height)); });
}

extern "C" cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                                         cudaStream_t stream) {
  return call([&] { return submit_fill(box_2d(to, pitch, value, width, height), stream); });
}

extern "C" cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return call([&] { return fill_now(box_3d(to, value, extent)); });
}

extern "C" cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                                         cudaStream_t stream) {
  return call([&] { return submit_fill(box_3d(to, value, extent), stream); });
}

SIMULATOR_ALIAS(cudaMemset_ptds, cudaMemset);
SIMULATOR_ALIAS(cudaMemsetAsync_ptsz, cudaMemsetAsync);
SIMULATOR_ALIAS(cudaMemset2D_ptds, cudaMemset2D);
SIMULATOR_ALIAS(cudaMemset2DAsync_ptsz, cudaMemset2DAsync);
SIMULATOR_ALIAS(cudaMemset3D_ptds, cudaMemset3D);
SIMULATOR_ALIAS(cudaMemset3DAsync_ptsz, cudaMemset3DAsync);
