#include "common/simulator/runtime/stream.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "common/simulator/context/state.h"

namespace simulator {

Streams& streams() {
  static Streams* all = new Streams;
  return *all;
}

cudaStreamCaptureMode& capture_mode_of_thread() {
  thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

Stream* find_stream(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return &streams().legacy;
  if (handle == cudaStreamPerThread) return &streams().per_thread;
  const auto it = streams().created.find(handle);
  return it != streams().created.end() ? it->second.get() : nullptr;
}

void invalidate(Capture& capture) {
  capture.invalid = true;
}

cudaError_t check_legacy() {
  cudaError_t result = cudaSuccess;
  for (const auto& capture : streams().captures) {
    if (capture->origin->flags & cudaStreamNonBlocking) continue;
    invalidate(*capture);
    result = cudaErrorStreamCaptureImplicit;
  }
  return result;
}

cudaError_t check_submission(Stream& stream) {
  if (stream.capture != nullptr)
    return stream.capture->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  return stream.legacy ? check_legacy() : cudaSuccess;
}

void add_captured(Stream& stream, cudaGraphNodeType type, Work work) {
  stream.frontier = {stream.capture->graph->add(type, stream.frontier, std::move(work))};
}

cudaError_t submit(cudaStream_t handle, cudaGraphNodeType type, Work work) {
  Stream* stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = check_submission(*stream); error != cudaSuccess) return error;
  if (stream->capture != nullptr) {
    add_captured(*stream, type, std::move(work));
    return cudaSuccess;
  }
  return context_is_broken() ? cudaSuccess : work.run();
}

// A capture forbids such calls to its own thread or, in global mode, to every thread that has not opted out.
cudaError_t check_unsafe_call() {
  const cudaStreamCaptureMode thread_mode = capture_mode_of_thread();
  cudaError_t result = cudaSuccess;
  for (const auto& capture : streams().captures) {
    if (capture->mode == cudaStreamCaptureModeRelaxed || thread_mode == cudaStreamCaptureModeRelaxed)
      continue;
    const bool own = capture->thread == std::this_thread::get_id();
    const bool global =
        capture->mode == cudaStreamCaptureModeGlobal && thread_mode == cudaStreamCaptureModeGlobal;
    if (!own && !global) continue;
    invalidate(*capture);
    result = cudaErrorStreamCaptureUnsupported;
  }
  return result;
}

cudaError_t check_wait(Stream& stream) {
  if (stream.capture != nullptr) {
    invalidate(*stream.capture);
    return cudaErrorStreamCaptureUnsupported;
  }
  if (stream.legacy) {
    if (const cudaError_t error = check_legacy(); error != cudaSuccess) return error;
  }
  return check_unsafe_call();
}

cudaError_t check_device_wait() {
  for (const auto& capture : streams().captures) invalidate(*capture);
  return streams().captures.empty() ? cudaSuccess : cudaErrorStreamCaptureUnsupported;
}

void forget_streams() {
  streams().created.clear();
  streams().captures.clear();
  streams().legacy.capture = nullptr;
  streams().per_thread.capture = nullptr;
}

}  // namespace simulator
