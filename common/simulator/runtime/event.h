// Events. Called with runtime_mutex() held.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "common/simulator/context/cuda_api.h"

namespace simulator {

struct Capture;
struct GraphNode;

struct Event {
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
  std::weak_ptr<Capture> capture;  // recorded while capturing
  bool captured = false;
  std::vector<GraphNode*> frontier;  // what it stands for in the capture
};

// Null: no such event.
Event* find_event(cudaEvent_t handle);
cudaError_t record_event(cudaEvent_t handle, cudaStream_t stream, unsigned flags = 0);
void forget_events();  // cudaDeviceReset()

}  // namespace simulator
