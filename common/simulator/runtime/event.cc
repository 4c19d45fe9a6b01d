#include "common/simulator/runtime/event.h"

#include <unordered_map>
#include <utility>

#include "common/simulator/context/state.h"
#include "common/simulator/runtime/stream.h"

namespace simulator {
namespace {

std::unordered_map<cudaEvent_t, std::unique_ptr<Event>>& events() {
  static auto* all = new std::unordered_map<cudaEvent_t, std::unique_ptr<Event>>;
  return *all;
}

constexpr unsigned known_flags = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

cudaError_t create(cudaEvent_t* handle, unsigned flags) {
  if (handle == nullptr || (flags & ~known_flags) != 0) return cudaErrorInvalidValue;
  if ((flags & cudaEventInterprocess) != 0 && (flags & cudaEventDisableTiming) == 0)
    return cudaErrorInvalidValue;
  auto event = std::make_unique<Event>();
  event->flags = flags;
  *handle = reinterpret_cast<cudaEvent_t>(event.get());
  events()[*handle] = std::move(event);
  return cudaSuccess;
}

cudaError_t wait(cudaEvent_t handle) {
  const Event* event = find_event(handle);
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  if (event->captured) {
    if (const auto capture = event->capture.lock()) invalidate(*capture);
    return cudaErrorCapturedEvent;
  }
  return synchronise();
}

}  // namespace

Event* find_event(cudaEvent_t handle) {
  const auto it = events().find(handle);
  return it != events().end() ? it->second.get() : nullptr;
}

cudaError_t record_event(cudaEvent_t handle, cudaStream_t stream_handle, unsigned flags) {
  Event* event = find_event(handle);
  Stream* stream = find_stream(stream_handle);
  if (event == nullptr || stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (flags != cudaEventRecordDefault && flags != cudaEventRecordExternal) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_submission(*stream); error != cudaSuccess) return error;
  const auto record = [handle] {
    if (Event* recorded = find_event(handle)) {
      recorded->recorded = true;
      recorded->captured = false;
      recorded->time = std::chrono::steady_clock::now();
    }
    return cudaSuccess;
  };
  if (flags == cudaEventRecordExternal) {
    if (stream->capture == nullptr) return cudaErrorIllegalState;
    add_captured(*stream, cudaGraphNodeTypeEventRecord, record);
  } else if (stream->capture != nullptr) {
    event->captured = true;
    event->capture = stream->capture;
    event->frontier = stream->frontier;
  } else {
    record();
  }
  return cudaSuccess;
}

void forget_events() {
  events().clear();
}

}  // namespace simulator

using namespace simulator;

extern "C" cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call([&] { return create(event, cudaEventDefault); });
}

extern "C" cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&] { return create(event, flags); });
}

extern "C" cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&] { return events().erase(event) != 0 ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}

extern "C" cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&] { return record_event(event, stream); });
}

extern "C" cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return call([&] { return record_event(event, stream, flags); });
}

extern "C" cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return query([&] { return wait(event); });
}

extern "C" cudaError_t cudaEventQuery(cudaEvent_t event) {
  return query([&] { return wait(event); });
}

// Milliseconds of this machine's time: they say nothing about a GPU.
extern "C" cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return query([&] {
    const Event* first = find_event(start);
    const Event* second = find_event(end);
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    if (first == nullptr || second == nullptr) return cudaErrorInvalidResourceHandle;
    if (first->captured || second->captured) return cudaErrorCapturedEvent;
    if (!first->recorded || !second->recorded ||
        ((first->flags | second->flags) & cudaEventDisableTiming) != 0) {
      return cudaErrorInvalidResourceHandle;
    }
    if (const cudaError_t error = synchronise(); error != cudaSuccess) return error;
    *milliseconds = std::chrono::duration<float, std::milli>(second->time - first->time).count();
    return cudaSuccess;
  });
}

SIMULATOR_ALIAS(cudaEventRecord_ptsz, cudaEventRecord);
SIMULATOR_ALIAS(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags);
