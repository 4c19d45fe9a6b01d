// The card's clock, power and throttle reasons, from the driver's management library where there is one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/harness/measure/benchmark.h"

namespace ladder {

// Looks at the current CUDA device. Without libnvidia-ml.so.1 every call does nothing and the state is
// unknown.
class Nvml {
 public:
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;

  void sample();            // read once, now
  CardState state() const;  // over all samples so far

  struct Reading {
    double sm_clock_mhz = 0, power_w = 0;
  };
  Reading read() const;   // now
  double joules() const;  // that the card has drawn since the driver was loaded; 0 where it does not say

 private:
  void* library_ = nullptr;
  void* device_ = nullptr;
  std::vector<double> clocks_;
  double power_w_ = 0;
  std::uint64_t reasons_ = 0;
  bool reasons_known_ = false;
};

// The names of the clock-event (throttle) reason bits in `reasons`, joined by '+', or "none". Idle is not a
// reason.
std::string throttle_text(std::uint64_t reasons);

}  // namespace ladder
