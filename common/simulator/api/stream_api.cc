// Streams: creation, waiting, queries, host functions.
#include <algorithm>
#include <memory>
#include <utility>

#include "common/simulator/context/access_policy.h"
#include "common/simulator/context/state.h"
#include "common/simulator/runtime/event.h"
#include "common/simulator/runtime/stream.h"

using namespace simulator;

namespace {

cudaError_t create(cudaStream_t* handle, unsigned flags, int priority) {
  if (handle == nullptr || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0)
    return cudaErrorInvalidValue;
  auto stream = std::make_unique<Stream>();
  stream->flags = flags;
  stream->priority = std::clamp(priority, -5, 0);
  stream->id = streams().next_id++;
  *handle = reinterpret_cast<cudaStream_t>(stream.get());
  streams().created[*handle] = std::move(stream);
  return cudaSuccess;
}

bool is_stream_attribute(cudaStreamAttrID attribute) {
  return attribute == cudaLaunchAttributeAccessPolicyWindow ||
         attribute == cudaLaunchAttributeSynchronizationPolicy || attribute == cudaLaunchAttributePriority ||
         attribute == cudaLaunchAttributeMemSyncDomainMap || attribute == cudaLaunchAttributeMemSyncDomain ||
         attribute == cudaLaunchAttributeNvlinkUtilCentricScheduling;
}

template <class T, class F>
cudaError_t of_stream(cudaStream_t handle, T* result, F&& property) noexcept {
  return call([&] {
    const Stream* stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (result == nullptr) return cudaErrorInvalidValue;
    *result = property(*stream);
    return cudaSuccess;
  });
}

// An event that a capture recorded makes the stream join that capture. What any other stands for has happened
// already.
cudaError_t wait_for(Stream& stream, const Event& event, unsigned flags) {
  if (flags == cudaEventWaitExternal) {
    if (stream.capture == nullptr) return cudaErrorIllegalState;
    add_captured(stream, cudaGraphNodeTypeWaitEvent, {});
    return cudaSuccess;
  }
  if (!event.captured) {
    if (stream.capture == nullptr || !event.recorded) return cudaSuccess;
    invalidate(*stream.capture);
    return cudaErrorStreamCaptureIsolation;
  }
  const std::shared_ptr<Capture> capture = event.capture.lock();
  if (capture == nullptr) return cudaErrorCapturedEvent;  // that capture has ended
  if (capture->invalid) return cudaErrorStreamCaptureInvalidated;
  if (stream.capture == nullptr) {
    if (stream.legacy) return check_legacy();
    stream.capture = capture;
    stream.frontier.clear();
  } else if (stream.capture != capture) {
    invalidate(*stream.capture);
    invalidate(*capture);
    return cudaErrorStreamCaptureMerge;
  }
  for (GraphNode* node : event.frontier) {
    if (std::find(stream.frontier.begin(), stream.frontier.end(), node) == stream.frontier.end()) {
      stream.frontier.push_back(node);
    }
  }
  return cudaSuccess;
}

}  // namespace

extern "C" cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call([&] { return create(stream, flags, priority); });
}

extern "C" cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call([&] { return create(stream, flags, 0); });
}

extern "C" cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return call([&] { return create(stream, cudaStreamDefault, 0); });
}

extern "C" cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return call([&] {
    const auto it = streams().created.find(handle);
    if (it == streams().created.end()) return cudaErrorInvalidResourceHandle;
    Stream& stream = *it->second;
    if (const std::shared_ptr<Capture> capture = stream.capture) {
      if (capture->origin == &stream) {
        end_capture(capture);
      } else {  // what it has captured stays
        capture->left.insert(capture->left.end(), stream.frontier.begin(), stream.frontier.end());
      }
    }
    streams().created.erase(it);
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return query([&] {
    Stream* stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = check_wait(*stream); error != cudaSuccess) return error;
    return synchronise();
  });
}

extern "C" cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return cudaStreamSynchronize(handle);
}

extern "C" cudaError_t cudaDeviceSynchronize() {
  return query([&] {
    use_a_context();
    if (const cudaError_t error = check_device_wait(); error != cudaSuccess) return error;
    return synchronise();
  });
}

extern "C" cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned flags) {
  return call([&] {
    Stream* stream = find_stream(handle);
    const Event* waited = find_event(event);
    if (stream == nullptr || waited == nullptr) return cudaErrorInvalidResourceHandle;
    if (flags != cudaEventWaitDefault && flags != cudaEventWaitExternal) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_submission(*stream); error != cudaSuccess) return error;
    return wait_for(*stream, *waited, flags);
  });
}

extern "C" cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return of_stream(handle, priority, [](const Stream& stream) { return stream.priority; });
}

extern "C" cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return of_stream(handle, flags, [](const Stream& stream) { return stream.flags; });
}

extern "C" cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return of_stream(handle, id, [](const Stream& stream) { return stream.id; });
}

extern "C" cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* number) {
  return of_stream(handle, number, [](const Stream&) { return 0; });
}

extern "C" cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaStreamAttrID attribute,
                                              cudaStreamAttrValue* value) {
  return call([&] {
    const Stream* stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (value == nullptr || !is_stream_attribute(attribute)) return cudaErrorInvalidValue;
    *value = {};
    if (attribute == cudaLaunchAttributePriority) value->priority = stream->priority;
    if (attribute == cudaLaunchAttributeSynchronizationPolicy) value->syncPolicy = cudaSyncPolicyAuto;
    const auto it = stream->attributes.find(attribute);
    if (it != stream->attributes.end()) *value = it->second;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaStreamAttrID attribute,
                                              const cudaStreamAttrValue* value) {
  return call([&] {
    Stream* stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (value == nullptr || !is_stream_attribute(attribute)) return cudaErrorInvalidValue;
    if (attribute == cudaLaunchAttributeAccessPolicyWindow) {
      if (const cudaError_t error = check_window(value->accessPolicyWindow); error != cudaSuccess)
        return error;
    }
    stream->attributes[attribute] = *value;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return call([&] {
    Stream* target = find_stream(to);
    const Stream* source = find_stream(from);
    if (target == nullptr || source == nullptr) return cudaErrorInvalidResourceHandle;
    target->attributes = source->attributes;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void*, size_t, unsigned) {
  return call([&] { return find_stream(handle) != nullptr ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}

// Host functions run without the lock: they may take other locks of the program's.
extern "C" cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  bool now = false;
  const cudaError_t error = call([&] {
    Stream* stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (function == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t refused = check_submission(*stream); refused != cudaSuccess) return refused;
    if (stream->capture != nullptr) {
      add_captured(*stream, cudaGraphNodeTypeHost, [function, data] {
        function(data);
        return cudaSuccess;
      });
    } else {
      now = !context_is_broken();
    }
    return cudaSuccess;
  });
  if (now) function(data);
  return error;
}

extern "C" cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t function, void* data,
                                             unsigned flags) {
  const cudaError_t error = call([&] {
    Stream* stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (function == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (stream->capture != nullptr) {
      invalidate(*stream->capture);
      return cudaErrorStreamCaptureUnsupported;
    }
    return check_submission(*stream);
  });
  if (error == cudaSuccess) function(handle, synchronise(), data);
  return error;
}

SIMULATOR_ALIAS(cudaStreamSynchronize_ptsz, cudaStreamSynchronize);
SIMULATOR_ALIAS(cudaStreamQuery_ptsz, cudaStreamQuery);
SIMULATOR_ALIAS(cudaStreamWaitEvent_ptsz, cudaStreamWaitEvent);
SIMULATOR_ALIAS(cudaStreamGetPriority_ptsz, cudaStreamGetPriority);
SIMULATOR_ALIAS(cudaStreamGetFlags_ptsz, cudaStreamGetFlags);
SIMULATOR_ALIAS(cudaStreamGetId_ptsz, cudaStreamGetId);
SIMULATOR_ALIAS(cudaStreamGetDevice_ptsz, cudaStreamGetDevice);
SIMULATOR_ALIAS(cudaStreamGetAttribute_ptsz, cudaStreamGetAttribute);
SIMULATOR_ALIAS(cudaStreamSetAttribute_ptsz, cudaStreamSetAttribute);
SIMULATOR_ALIAS(cudaStreamCopyAttributes_ptsz, cudaStreamCopyAttributes);
SIMULATOR_ALIAS(cudaStreamAttachMemAsync_ptsz, cudaStreamAttachMemAsync);
SIMULATOR_ALIAS(cudaLaunchHostFunc_ptsz, cudaLaunchHostFunc);
SIMULATOR_ALIAS(cudaStreamAddCallback_ptsz, cudaStreamAddCallback);
