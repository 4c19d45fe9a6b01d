// How fast the simulator is: what SIMULATOR_SPEED prints at exit.
#pragma once

#include <chrono>
#include <cstdint>

namespace simulator {

void count_launch(uint64_t executed, double seconds, uint64_t cpu_threads);  // executed: warp-instructions

// Counts its own lifetime as time spent on reading and decoding PTX.
class LoadingTime {
 public:
  LoadingTime() = default;
  LoadingTime(const LoadingTime&) = delete;
  ~LoadingTime();

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace simulator
