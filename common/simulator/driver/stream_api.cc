// Streams, capture, events.
#include "common/simulator/driver/call.h"

using namespace simulator;

namespace {

cudaStreamCaptureStatus* status_of(CUstreamCaptureStatus* status) {
  return reinterpret_cast<cudaStreamCaptureStatus*>(status);
}
cudaStreamCaptureMode mode_of(CUstreamCaptureMode mode) {
  return static_cast<cudaStreamCaptureMode>(mode);
}
static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));
const cudaGraphEdgeData* edges_of(const CUgraphEdgeData* edges) {
  return reinterpret_cast<const cudaGraphEdgeData*>(edges);
}
static_assert(sizeof(CUstreamAttrValue) == sizeof(cudaStreamAttrValue));

}  // namespace

extern "C" CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return driver_call([&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}

extern "C" CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

extern "C" CUresult cuStreamDestroy_v2(CUstream stream) {
  return driver_call([&] { return cudaStreamDestroy(stream); });
}

extern "C" CUresult cuStreamSynchronize(CUstream stream) {
  return driver_call([&] { return cudaStreamSynchronize(stream); });
}

extern "C" CUresult cuStreamQuery(CUstream stream) {
  return driver_call([&] { return cudaStreamQuery(stream); });
}

extern "C" CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return driver_call([&] { return cudaStreamWaitEvent(stream, event, flags); });
}

extern "C" CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return driver_call([&] { return cudaStreamGetPriority(stream, priority); });
}

extern "C" CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return driver_call([&] { return cudaStreamGetFlags(stream, flags); });
}

extern "C" CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return driver_call([&] { return cudaStreamGetId(stream, id); });
}

extern "C" CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return driver_call([&] { return cudaStreamGetDevice(stream, device); });
}

// Streams belong to the device: the context is the one that the thread is in.
extern "C" CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  unsigned long long id = 0;
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult error = cuStreamGetId(stream, &id);
  return error != CUDA_SUCCESS ? error : cuCtxGetCurrent(context);
}

extern "C" CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green != nullptr) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}

extern "C" CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute,
                                         CUstreamAttrValue* value) {
  return driver_call([&] {
    return cudaStreamGetAttribute(stream, static_cast<cudaStreamAttrID>(attribute),
                                  reinterpret_cast<cudaStreamAttrValue*>(value));
  });
}

extern "C" CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute,
                                         const CUstreamAttrValue* value) {
  return driver_call([&] {
    return cudaStreamSetAttribute(stream, static_cast<cudaStreamAttrID>(attribute),
                                  reinterpret_cast<const cudaStreamAttrValue*>(value));
  });
}

extern "C" CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return driver_call([&] { return cudaStreamCopyAttributes(to, from); });
}

extern "C" CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes,
                                           unsigned flags) {
  return driver_call([&] { return cudaStreamAttachMemAsync(stream, pointer(address), bytes, flags); });
}

extern "C" CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback function, void* data,
                                        unsigned flags) {
  return driver_call([&] {  // the codes that a callback may get are equal in both interfaces
    return cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(function), data, flags);
  });
}

// ---- Capture

extern "C" CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return driver_call([&] { return cudaStreamBeginCapture(stream, mode_of(mode)); });
}

extern "C" CUresult cuStreamBeginCapture(CUstream stream) {
  return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

extern "C" CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* nodes,
                                                const CUgraphEdgeData* edges, size_t count,
                                                CUstreamCaptureMode mode) {
  return driver_call([&] {
    return cudaStreamBeginCaptureToGraph(stream, graph, nodes, edges_of(edges), count, mode_of(mode));
  });
}

extern "C" CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return driver_call([&] { return cudaStreamEndCapture(stream, graph); });
}

extern "C" CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return driver_call([&] { return cudaStreamIsCapturing(stream, status_of(status)); });
}

extern "C" CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                              CUgraph* graph, const CUgraphNode** nodes,
                                              const CUgraphEdgeData** edges, size_t* count) {
  return driver_call([&] {
    unsigned long long number = 0;
    const cudaError_t error =
        cudaStreamGetCaptureInfo(stream, status_of(status), &number, graph, nodes,
                                 reinterpret_cast<const cudaGraphEdgeData**>(edges), count);
    if (id != nullptr) *id = number;
    return error;
  });
}

extern "C" CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                              CUgraph* graph, const CUgraphNode** nodes, size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, nullptr, count);
}

extern "C" CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

extern "C" CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* nodes,
                                                         const CUgraphEdgeData* edges, size_t count,
                                                         unsigned flags) {
  return driver_call(
      [&] { return cudaStreamUpdateCaptureDependencies(stream, nodes, edges_of(edges), count, flags); });
}

extern "C" CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes, size_t count,
                                                      unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, count, flags);
}

extern "C" CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return driver_call(
      [&] { return cudaThreadExchangeStreamCaptureMode(reinterpret_cast<cudaStreamCaptureMode*>(mode)); });
}

// ---- Events

extern "C" CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return driver_call([&] { return cudaEventCreateWithFlags(event, flags); });
}

extern "C" CUresult cuEventDestroy_v2(CUevent event) {
  return driver_call([&] { return cudaEventDestroy(event); });
}

extern "C" CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return driver_call([&] { return cudaEventRecordWithFlags(event, stream, flags); });
}

extern "C" CUresult cuEventRecord(CUevent event, CUstream stream) {
  return cuEventRecordWithFlags(event, stream, 0);
}

extern "C" CUresult cuEventQuery(CUevent event) {
  return driver_call([&] { return cudaEventQuery(event); });
}

extern "C" CUresult cuEventSynchronize(CUevent event) {
  return driver_call([&] { return cudaEventSynchronize(event); });
}

extern "C" CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent from, CUevent to) {
  return driver_call([&] { return cudaEventElapsedTime(milliseconds, from, to); });
}

SIMULATOR_ALIAS(cuStreamDestroy, cuStreamDestroy_v2);
SIMULATOR_ALIAS(cuStreamSynchronize_ptsz, cuStreamSynchronize);
SIMULATOR_ALIAS(cuStreamQuery_ptsz, cuStreamQuery);
SIMULATOR_ALIAS(cuStreamWaitEvent_ptsz, cuStreamWaitEvent);
SIMULATOR_ALIAS(cuStreamGetPriority_ptsz, cuStreamGetPriority);
SIMULATOR_ALIAS(cuStreamGetFlags_ptsz, cuStreamGetFlags);
SIMULATOR_ALIAS(cuStreamGetId_ptsz, cuStreamGetId);
SIMULATOR_ALIAS(cuStreamGetDevice_ptsz, cuStreamGetDevice);
SIMULATOR_ALIAS(cuStreamGetCtx_ptsz, cuStreamGetCtx);
SIMULATOR_ALIAS(cuStreamGetCtx_v2_ptsz, cuStreamGetCtx_v2);
SIMULATOR_ALIAS(cuStreamGetAttribute_ptsz, cuStreamGetAttribute);
SIMULATOR_ALIAS(cuStreamSetAttribute_ptsz, cuStreamSetAttribute);
SIMULATOR_ALIAS(cuStreamCopyAttributes_ptsz, cuStreamCopyAttributes);
SIMULATOR_ALIAS(cuStreamAttachMemAsync_ptsz, cuStreamAttachMemAsync);
SIMULATOR_ALIAS(cuStreamAddCallback_ptsz, cuStreamAddCallback);
SIMULATOR_ALIAS(cuStreamBeginCapture_ptsz, cuStreamBeginCapture);
SIMULATOR_ALIAS(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture_v2);
SIMULATOR_ALIAS(cuStreamBeginCaptureToGraph_ptsz, cuStreamBeginCaptureToGraph);
SIMULATOR_ALIAS(cuStreamEndCapture_ptsz, cuStreamEndCapture);
SIMULATOR_ALIAS(cuStreamIsCapturing_ptsz, cuStreamIsCapturing);
SIMULATOR_ALIAS(cuStreamGetCaptureInfo_ptsz, cuStreamGetCaptureInfo);
SIMULATOR_ALIAS(cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo_v2);
SIMULATOR_ALIAS(cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo_v3);
SIMULATOR_ALIAS(cuStreamUpdateCaptureDependencies_ptsz, cuStreamUpdateCaptureDependencies);
SIMULATOR_ALIAS(cuStreamUpdateCaptureDependencies_v2_ptsz, cuStreamUpdateCaptureDependencies_v2);
SIMULATOR_ALIAS(cuEventDestroy, cuEventDestroy_v2);
SIMULATOR_ALIAS(cuEventRecord_ptsz, cuEventRecord);
SIMULATOR_ALIAS(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags);
SIMULATOR_ALIAS(cuEventElapsedTime, cuEventElapsedTime_v2);
