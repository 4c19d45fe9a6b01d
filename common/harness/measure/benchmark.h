// Times several implementations of one problem against each other.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

namespace ladder {

// Something to time: enqueues one launch on buffer set `set`.
struct Contender {
  std::string name;
  std::function<cudaError_t(int set, cudaStream_t)> launch;
};

struct Timing {
  std::string name;
  double median_us = 0, p10_us = 0, p90_us = 0;  // per launch
  int samples = 0;
  int launches_per_sample = 1;
};

// The state of the card while it was being timed.
struct CardState {
  double sm_clock_mhz = 0;  // median; 0 where NVML is absent
  double power_w = 0;       // highest
  std::string throttle;     // reasons seen, joined by '+'; "none"; "unknown" where NVML is absent
};

struct Measurement {
  std::vector<Timing> timings;  // in the order of the contenders
  CardState card;
};

// The p-th quantile (0 … 1) of the samples, interpolated linearly; they need not be sorted.
double quantile(std::vector<double> samples, double p);

// The medians of contenders that took turns, from samples[contender][round]. What slows a whole round down,
// as a clock that falls under the power cap, is taken out first: medians alone can lie on different sides of
// such a step, and a ratio would compare two clocks. (Median polish, of times a factor for each round: Tukey,
// "Exploratory Data Analysis", 1977.)
std::vector<double> medians_in_turns(const std::vector<std::vector<double>>& samples);

// What a sample is: one launch, or enough of them in a row that it takes about 500 µs, in a stream or as a
// CUDA graph.
enum class Launches {
  automatic,  // one; a graph where a launch is shorter than 100 µs, or keeps the CPU busy for half of its
              // time, so that the gap between them does not count
  stream,     // in a row, one by one: the gaps count
  graph,      // in a row, as a graph
};

// Times the contenders alternately: round by round each gives one sample, the order rotating, so that all see
// the same clock and power. Launches rotate over `sets` buffer sets.
// `repeats` rounds; 0 means as many as fit `seconds`, at least 5 (3 where a round takes over a second).
constexpr double usual_seconds = 1.5;
Measurement measure(const std::vector<Contender>& contenders, int sets, int repeats, Launches launches,
                    double seconds = usual_seconds);

// Microseconds per launch, roughly, for choosing between algorithms. Short launches are in a graph, or all
// would take as long as the CPU takes to launch them.
double quick_time_us(const Contender& contender, int sets);

// Whether a first launch is accepted. Waits for it, since the next may be on another stream with the same
// workspace.
bool works(const Contender& contender);

// Of those that work the fastest, by quick_time_us(); without a launch where none does.
Contender fastest_of(const std::vector<Contender>& contenders, int sets);

}  // namespace ladder
