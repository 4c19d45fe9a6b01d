// Capturing a stream's operations into a graph. (CUDA C++ Programming Guide, "Creating a Graph Using Stream
// Capture".)
#include <algorithm>
#include <memory>
#include <utility>

#include "common/simulator/context/state.h"
#include "common/simulator/runtime/stream.h"

namespace simulator {

void end_capture(const std::shared_ptr<Capture>& capture) {
  const auto release = [&](Stream& stream) {
    if (stream.capture != capture) return;
    stream.capture = nullptr;
    stream.frontier.clear();
  };
  release(streams().per_thread);
  for (const auto& [handle, stream] : streams().created) release(*stream);
  std::erase(streams().captures, capture);
}

namespace {

cudaError_t begin(cudaStream_t handle, Graph* graph, std::vector<GraphNode*> dependencies,
                  cudaStreamCaptureMode mode) {
  Stream* stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
  if (stream->legacy) return cudaErrorStreamCaptureUnsupported;
  if (stream->capture != nullptr) return cudaErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->owns_graph = graph == nullptr;
  capture->graph = graph != nullptr ? graph : find_graph(own(std::make_unique<Graph>()));
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream;
  capture->id = streams().next_id++;
  stream->capture = capture;
  stream->frontier = std::move(dependencies);
  streams().captures.push_back(std::move(capture));
  return cudaSuccess;
}

// Does work that was captured on another stream come before what the origin has seen?
bool unjoined(const Capture& capture) {
  std::vector<const GraphNode*> reached(capture.origin->frontier.begin(), capture.origin->frontier.end());
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const GraphNode* node : reached[i]->dependencies) {
      if (std::find(reached.begin(), reached.end(), node) == reached.end()) reached.push_back(node);
    }
  }
  const auto seen = [&](const GraphNode* node) {
    return std::find(reached.begin(), reached.end(), node) != reached.end();
  };
  const auto lost = [&](const Stream& stream) {
    return stream.capture.get() == &capture &&
           !std::all_of(stream.frontier.begin(), stream.frontier.end(), seen);
  };
  return !std::all_of(capture.left.begin(), capture.left.end(), seen) || lost(streams().per_thread) ||
         std::any_of(streams().created.begin(), streams().created.end(),
                     [&](const auto& entry) { return lost(*entry.second); });
}

cudaError_t end(cudaStream_t handle, cudaGraph_t* graph) {
  Stream* stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (graph != nullptr) *graph = nullptr;
  if (capture == nullptr) return graph != nullptr ? cudaErrorIllegalState : cudaErrorInvalidValue;
  if (graph == nullptr && capture->owns_graph) return cudaErrorInvalidValue;
  if (capture->origin != stream) {
    invalidate(*capture);
    return cudaErrorStreamCaptureUnmatched;
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  cudaError_t error = capture->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  if (error == cudaSuccess && unjoined(*capture)) error = cudaErrorStreamCaptureUnjoined;
  end_capture(capture);
  const auto made = reinterpret_cast<cudaGraph_t>(capture->graph);
  if (error == cudaSuccess) {
    if (graph != nullptr) *graph = made;
  } else if (capture->owns_graph) {
    disown(made);
  }
  return error;
}

cudaStreamCaptureStatus status(const Stream& stream) {
  if (stream.capture == nullptr) return cudaStreamCaptureStatusNone;
  return stream.capture->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}

}  // namespace
}  // namespace simulator

using namespace simulator;

extern "C" cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&] { return begin(stream, nullptr, {}, mode); });
}

extern "C" cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                     const cudaGraphNode_t* dependencies,
                                                     const cudaGraphEdgeData*, size_t count,
                                                     cudaStreamCaptureMode mode) {
  return call([&] {
    if (find_graph(graph) == nullptr || (dependencies == nullptr && count != 0)) return cudaErrorInvalidValue;
    const auto nodes = reinterpret_cast<GraphNode* const*>(dependencies);
    return begin(stream, find_graph(graph), std::vector<GraphNode*>(nodes, nodes + count), mode);
  });
}

extern "C" cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&] { return end(stream, graph); });
}

extern "C" cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* result) {
  return call([&] {
    const Stream* stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (result == nullptr) return cudaErrorInvalidValue;
    *result = status(*stream);
    return stream->legacy ? check_legacy() : cudaSuccess;
  });
}

extern "C" cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* result,
                                                unsigned long long* id, cudaGraph_t* graph,
                                                const cudaGraphNode_t** dependencies,
                                                const cudaGraphEdgeData** edges, size_t* count) {
  return call([&] {
    Stream* stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (result == nullptr) return cudaErrorInvalidValue;
    *result = status(*stream);
    if (*result != cudaStreamCaptureStatusActive) return cudaSuccess;
    if (id != nullptr) *id = stream->capture->id;
    if (graph != nullptr) *graph = reinterpret_cast<cudaGraph_t>(stream->capture->graph);
    if (dependencies != nullptr)
      *dependencies = reinterpret_cast<const cudaGraphNode_t*>(stream->frontier.data());
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = stream->frontier.size();
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t* dependencies,
                                                           const cudaGraphEdgeData*, size_t count,
                                                           unsigned flags) {
  return call([&] {
    Stream* stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream->capture == nullptr) return cudaErrorIllegalState;
    if (flags > cudaStreamSetCaptureDependencies || (dependencies == nullptr && count != 0))
      return cudaErrorInvalidValue;
    const auto nodes = reinterpret_cast<GraphNode**>(dependencies);
    if (flags == cudaStreamSetCaptureDependencies) stream->frontier.clear();
    stream->frontier.insert(stream->frontier.end(), nodes, nodes + count);
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call([&] {
    if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed) {
      return cudaErrorInvalidValue;
    }
    std::swap(*mode, capture_mode_of_thread());
    return cudaSuccess;
  });
}

SIMULATOR_ALIAS(cudaStreamBeginCapture_ptsz, cudaStreamBeginCapture);
SIMULATOR_ALIAS(cudaStreamBeginCaptureToGraph_ptsz, cudaStreamBeginCaptureToGraph);
SIMULATOR_ALIAS(cudaStreamEndCapture_ptsz, cudaStreamEndCapture);
SIMULATOR_ALIAS(cudaStreamIsCapturing_ptsz, cudaStreamIsCapturing);
SIMULATOR_ALIAS(cudaStreamGetCaptureInfo_ptsz, cudaStreamGetCaptureInfo);
SIMULATOR_ALIAS(cudaStreamUpdateCaptureDependencies_ptsz, cudaStreamUpdateCaptureDependencies);
