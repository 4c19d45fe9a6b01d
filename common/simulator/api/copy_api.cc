// cudaMemcpy…: 1D, 2D, 3D, between devices, to and from symbols.
#include <optional>

#include "common/simulator/context/registration.h"
#include "common/simulator/context/state.h"
#include "common/simulator/runtime/copy.h"
#include "common/simulator/runtime/copy_params.h"

using namespace simulator;

namespace {

CopyBox box_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
               cudaMemcpyKind kind) {
  CopyBox box(to, from, width, kind);
  box.height = height;
  box.to_pitch = to_pitch;
  box.from_pitch = from_pitch;
  return box;
}

bool narrow(const CopyBox& box) {
  return box.height != 0 && box.width != 0 && (box.width > box.to_pitch || box.width > box.from_pitch);
}

cudaError_t only_device(int number) {
  return number == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

// The box between the host and [offset, offset + bytes) of a variable.
cudaError_t symbol_box(const void* symbol, const void* host, size_t bytes, size_t offset, cudaMemcpyKind kind,
                       bool to_symbol, CopyBox& box) {
  Variable* variable = symbol != nullptr ? find_variable(symbol) : nullptr;
  if (variable == nullptr) return cudaErrorInvalidSymbol;
  const cudaMemcpyKind wrong = to_symbol ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
  if (kind == wrong || kind == cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  const Allocation* memory = nullptr;
  if (const cudaError_t error = load(*variable, memory); error != cudaSuccess) return error;
  if (offset > memory->size || bytes > memory->size - offset) return cudaErrorInvalidValue;
  auto* address = reinterpret_cast<std::byte*>(memory->base + offset);
  box = to_symbol ? CopyBox(address, host, bytes, kind)
                  : CopyBox(const_cast<void*>(host), address, bytes, kind);
  return cudaSuccess;
}

cudaError_t symbol_copy(const void* symbol, const void* host, size_t bytes, size_t offset,
                        cudaMemcpyKind kind, bool to_symbol, std::optional<cudaStream_t> stream) {
  CopyBox box;
  if (const cudaError_t error = symbol_box(symbol, host, bytes, offset, kind, to_symbol, box);
      error != cudaSuccess) {
    return error;
  }
  return stream ? submit_copy(box, *stream) : copy_now(box);
}

}  // namespace

extern "C" cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return synchronous_call([&] { return copy_now(CopyBox(to, from, bytes, kind)); });
}

extern "C" cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return call([&] { return submit_copy(CopyBox(to, from, bytes, kind), stream); });
}

extern "C" cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                      size_t bytes) {
  return synchronous_call([&] {
    if (const cudaError_t error = only_device(to_device | from_device); error != cudaSuccess) return error;
    return copy_now(CopyBox(to, from, bytes, cudaMemcpyDeviceToDevice));
  });
}

extern "C" cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                           size_t bytes, cudaStream_t stream) {
  return call([&] {
    if (const cudaError_t error = only_device(to_device | from_device); error != cudaSuccess) return error;
    return submit_copy(CopyBox(to, from, bytes, cudaMemcpyDeviceToDevice), stream);
  });
}

extern "C" cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                    size_t width, size_t height, cudaMemcpyKind kind) {
  return synchronous_call([&] {
    const CopyBox box = box_2d(to, to_pitch, from, from_pitch, width, height, kind);
    return narrow(box) ? cudaErrorInvalidPitchValue : copy_now(box);
  });
}

extern "C" cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                         size_t width, size_t height, cudaMemcpyKind kind,
                                         cudaStream_t stream) {
  return call([&] {
    const CopyBox box = box_2d(to, to_pitch, from, from_pitch, width, height, kind);
    return narrow(box) ? cudaErrorInvalidPitchValue : submit_copy(box, stream);
  });
}

extern "C" cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* params) {
  return synchronous_call([&] {
    CopyBox box;
    const cudaError_t error = box_of(params, box);
    return error != cudaSuccess ? error : copy_now(box);
  });
}

extern "C" cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* params, cudaStream_t stream) {
  return call([&] {
    CopyBox box;
    const cudaError_t error = box_of(params, box);
    return error != cudaSuccess ? error : submit_copy(box, stream);
  });
}

extern "C" cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* params) {
  return synchronous_call([&] {
    CopyBox box;
    const cudaError_t error = box_of(params, box);
    return error != cudaSuccess ? error : copy_now(box);
  });
}

extern "C" cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* params, cudaStream_t stream) {
  return call([&] {
    CopyBox box;
    const cudaError_t error = box_of(params, box);
    return error != cudaSuccess ? error : submit_copy(box, stream);
  });
}

extern "C" cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* bytes,
                                            size_t count, cudaMemcpyAttributes*, size_t*, size_t,
                                            cudaStream_t stream) {
  return call([&] {
    if (to == nullptr || from == nullptr || bytes == nullptr || count == 0) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      const CopyBox box(to[i], from[i], bytes[i], cudaMemcpyDefault);
      if (const cudaError_t error = submit_copy(box, stream); error != cudaSuccess) return error;
    }
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                                          cudaMemcpyKind kind) {
  return synchronous_call([&] { return symbol_copy(symbol, from, bytes, offset, kind, true, {}); });
}

extern "C" cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                               size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] { return symbol_copy(symbol, from, bytes, offset, kind, true, stream); });
}

extern "C" cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                                            cudaMemcpyKind kind) {
  return synchronous_call([&] { return symbol_copy(symbol, to, bytes, offset, kind, false, {}); });
}

extern "C" cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset,
                                                 cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] { return symbol_copy(symbol, to, bytes, offset, kind, false, stream); });
}

extern "C" cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return call([&] {
    Variable* variable = symbol != nullptr ? find_variable(symbol) : nullptr;
    const Allocation* memory = nullptr;
    if (variable == nullptr) return cudaErrorInvalidSymbol;
    if (address == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = load(*variable, memory); error != cudaSuccess) return error;
    *address = reinterpret_cast<void*>(memory->base);
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return call([&] {
    Variable* variable = symbol != nullptr ? find_variable(symbol) : nullptr;
    const Allocation* memory = nullptr;
    if (variable == nullptr) return cudaErrorInvalidSymbol;
    if (size == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = load(*variable, memory); error != cudaSuccess) return error;
    *size = memory->size;
    return cudaSuccess;
  });
}

SIMULATOR_ALIAS(cudaMemcpy_ptds, cudaMemcpy);
SIMULATOR_ALIAS(cudaMemcpyAsync_ptsz, cudaMemcpyAsync);
SIMULATOR_ALIAS(cudaMemcpy2D_ptds, cudaMemcpy2D);
SIMULATOR_ALIAS(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync);
SIMULATOR_ALIAS(cudaMemcpy3D_ptds, cudaMemcpy3D);
SIMULATOR_ALIAS(cudaMemcpy3DAsync_ptsz, cudaMemcpy3DAsync);
SIMULATOR_ALIAS(cudaMemcpy3DPeer_ptds, cudaMemcpy3DPeer);
SIMULATOR_ALIAS(cudaMemcpy3DPeerAsync_ptsz, cudaMemcpy3DPeerAsync);
SIMULATOR_ALIAS(cudaMemcpyBatchAsync_ptsz, cudaMemcpyBatchAsync);
SIMULATOR_ALIAS(cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbol);
SIMULATOR_ALIAS(cudaMemcpyToSymbolAsync_ptsz, cudaMemcpyToSymbolAsync);
SIMULATOR_ALIAS(cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbol);
SIMULATOR_ALIAS(cudaMemcpyFromSymbolAsync_ptsz, cudaMemcpyFromSymbolAsync);
