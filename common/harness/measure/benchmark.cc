#include "common/harness/measure/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

#include "common/harness/base/failure.h"
#include "common/harness/measure/nvml.h"
#include "common/harness/measure/power.h"

namespace ladder {
namespace {

constexpr double short_launch_us = 100;  // shorter ones are batched into a graph
constexpr double batch_us = 500;         // and a batch takes about this long
constexpr int max_batch = 512;
constexpr int max_rounds = 20000;
constexpr double power_batch_us = 10000;
constexpr auto nvml_interval = std::chrono::milliseconds(20);

struct Events {
  cudaEvent_t begin = nullptr, end = nullptr;
  Events() {
    check(cudaEventCreate(&begin), "creating an event");
    check(cudaEventCreate(&end), "creating an event");
  }
  ~Events() {
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
  }
  Events(const Events&) = delete;
  double microseconds() const {
    float ms = 0;
    check(cudaEventSynchronize(end), "running a kernel");
    check(cudaEventElapsedTime(&ms, begin, end), "reading an event");
    return ms * 1000.0;
  }
};

struct Stream {
  cudaStream_t stream = nullptr;
  Stream() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream"); }
  ~Stream() { cudaStreamDestroy(stream); }
  Stream(const Stream&) = delete;
};

// A contender ready to give samples.
struct Runner {
  const Contender* contender;
  int sets;
  int next_set = 0;
  int launches_per_sample = 1;
  cudaGraphExec_t batch = nullptr;
  std::vector<double> samples;

  explicit Runner(const Contender& c, int sets_) : contender(&c), sets(sets_) {}
  Runner(Runner&& other) noexcept { *this = std::move(other); }
  Runner& operator=(Runner&& other) noexcept {
    std::swap(contender, other.contender);
    std::swap(sets, other.sets);
    std::swap(next_set, other.next_set);
    std::swap(launches_per_sample, other.launches_per_sample);
    std::swap(batch, other.batch);
    std::swap(samples, other.samples);
    return *this;
  }
  ~Runner() {
    if (batch) cudaGraphExecDestroy(batch);
  }

  void launch_once(cudaStream_t stream) {
    check(contender->launch(next_set, stream), "launching " + contender->name);
    next_set = (next_set + 1) % sets;
  }

  // Every buffer set in turn and as often as any other.
  void size_batch(double launch_us) {
    launches_per_sample = std::clamp(int(std::ceil(batch_us / std::max(launch_us, 0.5))), 1, max_batch);
    launches_per_sample = (launches_per_sample + sets - 1) / sets * sets;
  }

  // Captures a sample's launches into one graph.
  void capture_batch(cudaStream_t stream) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing " + contender->name);
    for (int i = 0; i < launches_per_sample; ++i) launch_once(stream);
    check(cudaStreamEndCapture(stream, &graph), "capturing " + contender->name);
    const cudaError_t error = cudaGraphInstantiate(&batch, graph, 0);
    cudaGraphDestroy(graph);
    check(error, "capturing " + contender->name);
  }

  void sample(Events& events, cudaStream_t stream) {
    check(cudaEventRecord(events.begin, stream), "recording an event");
    if (batch) {
      check(cudaGraphLaunch(batch, stream), "launching " + contender->name);
    } else {
      for (int i = 0; i < launches_per_sample; ++i) launch_once(stream);
    }
    check(cudaEventRecord(events.end, stream), "recording an event");
  }
};

// Of a launch, one after the other in a stream.
struct Pace {
  double us;       // from one to the next
  double host_us;  // of it on the CPU
};

Pace time_launches(Runner& runner, int launches, cudaStream_t stream) {
  Events events;
  check(cudaEventRecord(events.begin, stream), "recording an event");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i) runner.launch_once(stream);
  const std::chrono::duration<double, std::micro> host = std::chrono::steady_clock::now() - begin;
  check(cudaEventRecord(events.end, stream), "recording an event");
  return {events.microseconds() / launches, host.count() / launches};
}

// A first launch (loading the module, choosing an algorithm), then as many as a rough figure needs.
Pace warm_up(Runner& runner, cudaStream_t stream) {
  const Pace first = time_launches(runner, 1, stream);
  return first.us > 50000 ? first : time_launches(runner, first.us > 2000 ? 2 : 5, stream);
}

}  // namespace

double quantile(std::vector<double> samples, double p) {
  std::sort(samples.begin(), samples.end());
  const double at = p * double(samples.size() - 1);
  const std::size_t below = std::size_t(at);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return samples[below] + (at - double(below)) * (samples[above] - samples[below]);
}

std::vector<double> medians_in_turns(const std::vector<std::vector<double>>& samples) {
  const std::size_t rounds = samples.front().size();
  std::vector<double> medians(samples.size(), 1), pace(rounds, 1), ratios;
  for (int pass = 0; pass < 4; ++pass) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      ratios.clear();
      for (std::size_t round = 0; round < rounds; ++round) ratios.push_back(samples[i][round] / pace[round]);
      medians[i] = quantile(ratios, 0.5);
    }
    for (std::size_t round = 0; round < rounds; ++round) {
      ratios.clear();
      for (std::size_t i = 0; i < samples.size(); ++i) ratios.push_back(samples[i][round] / medians[i]);
      pace[round] = quantile(ratios, 0.5);
    }
  }
  const double usual_pace = quantile(pace, 0.5);
  for (double& median : medians) median *= usual_pace;
  return medians;
}

double quick_time_us(const Contender& contender, int sets) {
  Stream s;
  Runner runner(contender, sets);
  const double us = warm_up(runner, s.stream).us;
  if (us > short_launch_us) return time_launches(runner, 5, s.stream).us;
  runner.size_batch(us);
  runner.capture_batch(s.stream);
  Events events;
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {  // the first time a graph's nodes are loaded
    runner.sample(events, s.stream);
    fastest = std::min(fastest, events.microseconds() / runner.launches_per_sample);
  }
  return fastest;
}

bool works(const Contender& contender) {
  return contender.launch(0, nullptr) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
}

Contender fastest_of(const std::vector<Contender>& contenders, int sets) {
  Contender fastest;
  double least_us = std::numeric_limits<double>::infinity();
  for (const Contender& contender : contenders) {
    if (!works(contender)) continue;
    const double us = quick_time_us(contender, sets);
    if (us < least_us) {
      least_us = us;
      fastest = contender;
    }
  }
  return fastest;
}

Measurement measure(const std::vector<Contender>& contenders, int sets, int repeats, Launches launches,
                    double seconds) {
  Nvml nvml;
  Stream s;
  std::vector<Runner> runners;
  double round_us = 0;
  for (const Contender& contender : contenders) {
    Runner& runner = runners.emplace_back(contender, sets);
    const auto [launch_us, host_us] = warm_up(runner, s.stream);
    const bool gaps = launch_us < short_launch_us || host_us > launch_us / 2;
    const bool as_graph = launches == Launches::graph || (launches == Launches::automatic && gaps);
    if (as_graph || launches == Launches::stream) runner.size_batch(launch_us);
    if (as_graph) runner.capture_batch(s.stream);
    round_us += launch_us * runner.launches_per_sample;
  }
  if (repeats == 0) repeats = std::clamp(int(1e6 * seconds / round_us), round_us > 1e6 ? 3 : 5, max_rounds);

  // Two rounds are in flight at any time, so that the GPU never idles between them and NVML is read under
  // load.
  const int n = int(runners.size());
  std::vector<std::unique_ptr<Events>> events;
  events.reserve(2 * runners.size());
  for (int i = 0; i < 2 * n; ++i) events.push_back(std::make_unique<Events>());
  auto collect = [&](int round) {
    for (int i = 0; i < n; ++i)
      runners[i].samples.push_back(events[round % 2 * n + i]->microseconds() /
                                   runners[i].launches_per_sample);
  };
  auto next_reading = std::chrono::steady_clock::now() + nvml_interval;  // not before the card is under load
  constexpr int warm_rounds = 1;  // round 0 replays each graph for the first time: not a sample
  for (int round = 0; round < repeats + warm_rounds; ++round) {
    for (int turn = 0; turn < n; ++turn) {
      const int i = ((round % 2 ? n - 1 - turn : turn) + round) % n;  // so that neighbours change, too
      runners[i].sample(*events[round % 2 * n + i], s.stream);
    }
    if (const auto now = std::chrono::steady_clock::now(); now >= next_reading) {
      nvml.sample();  // takes about as long as a short round, so not in each of them
      next_reading = now + nvml_interval;
    }
    if (round > 0) collect(round - 1);
  }
  collect(repeats + warm_rounds - 1);

  std::vector<std::vector<double>> samples;
  for (Runner& r : runners) {
    r.samples.erase(r.samples.begin(), r.samples.begin() + warm_rounds);
    samples.push_back(std::move(r.samples));
  }
  const std::vector<double> medians = medians_in_turns(samples);
  Measurement m;
  for (std::size_t i = 0; i < runners.size(); ++i)
    m.timings.push_back({runners[i].contender->name, medians[i], quantile(samples[i], 0.1),
                         quantile(samples[i], 0.9), int(samples[i].size()), runners[i].launches_per_sample});
  m.card = nvml.state();
  return m;
}

PowerRun run_without_pause(const Contender& contender, int sets, double seconds) {
  using Clock = std::chrono::steady_clock;
  const Nvml nvml;
  Stream s;
  Runner runner(contender, sets);
  runner.launches_per_sample = std::max(1, int(power_batch_us / warm_up(runner, s.stream).us));
  Events events[2];
  std::this_thread::sleep_for(std::chrono::seconds(1));

  PowerRun run;
  run.name = contender.name;
  run.idle_w = nvml.read().power_w;
  const double joules = nvml.joules();
  const auto start = Clock::now();
  auto finish = [&](int batch, const Nvml::Reading& reading) {
    const double launch_us = events[batch % 2].microseconds() / runner.launches_per_sample;
    run.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    run.launches += runner.launches_per_sample;
    run.readings.push_back({run.seconds, launch_us, reading.sm_clock_mhz, reading.power_w});
  };
  int batch = 0;  // two are in flight at any time, so that the GPU never idles
  for (; run.seconds < seconds; ++batch) {
    runner.sample(events[batch % 2], s.stream);
    if (batch > 0) finish(batch - 1, nvml.read());
  }
  finish(batch - 1, nvml.read());
  run.joules = nvml.joules() - joules;
  return run;
}

}  // namespace ladder
