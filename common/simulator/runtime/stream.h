// Streams. Every operation runs to its end in the call that submits it, unless the stream is capturing: then
// it becomes a node of a graph. All functions are called with runtime_mutex() held.
#pragma once

#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/simulator/context/cuda_api.h"
#include "common/simulator/runtime/graph.h"

namespace simulator {

struct Stream;

// A capture in progress: one graph, and the streams that have joined.
struct Capture {
  Graph* graph = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;  // that began it
  Stream* origin = nullptr;
  unsigned long long id = 0;
  bool owns_graph = true;  // false: cudaStreamBeginCaptureToGraph
  bool invalid = false;
  std::vector<GraphNode*> left;  // the last nodes of streams that were destroyed meanwhile
};

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  std::map<cudaStreamAttrID, cudaStreamAttrValue> attributes;  // as set; a captured launch takes them along
  bool legacy = false;
  std::shared_ptr<Capture> capture;  // null: not capturing
  std::vector<GraphNode*> frontier;  // what the next captured node depends on
};

struct Streams {
  Stream legacy, per_thread;
  std::unordered_map<cudaStream_t, std::unique_ptr<Stream>> created;
  unsigned long long next_id = 1;
  std::vector<std::shared_ptr<Capture>> captures;  // in progress

  Streams() {
    legacy.legacy = true;
    legacy.id = next_id++;
    per_thread.id = next_id++;
  }
};
Streams& streams();

// Null: no such stream.
Stream* find_stream(cudaStream_t handle);

// Runs `work` now, or makes it a node. The legacy stream refuses while a blocking stream captures. A broken
// context runs nothing and succeeds.
cudaError_t submit(cudaStream_t handle, cudaGraphNodeType type, Work work);
// What the sequence of checks above says for work of which there will be no node.
cudaError_t check_submission(Stream& stream);
void add_captured(Stream& stream, cudaGraphNodeType type, Work work);

// For calls that are not allowed while this thread's captures forbid them (memory allocation …): "unsafe
// calls".
cudaError_t check_unsafe_call();
// For waits for one stream, and for the whole device.
cudaError_t check_wait(Stream& stream);
cudaError_t check_device_wait();
// For synchronous calls on the legacy stream (cudaMemcpy …).
cudaError_t check_legacy();

cudaStreamCaptureMode& capture_mode_of_thread();
void invalidate(Capture& capture);
void end_capture(const std::shared_ptr<Capture>& capture);  // every stream leaves it
void forget_streams();                                      // cudaDeviceReset()

}  // namespace simulator
