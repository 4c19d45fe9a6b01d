// 08_measure_ways SEED SHAPES SECONDS: times the rung's kernels at shapes of --sweep models, each in every
// cluster and with every number of parts that the estimate does not hold to be hopeless, and prints what fit
// reads.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "08_warp_specialized/shapes/fit/measured.h"
#include "common/extension.h"
#include "common/harness/backend/device_buffer.h"
#include "common/harness/base/failure.h"
#include "common/harness/measure/rotation.h"
#include "common/harness/problems/gemm/model_shapes.h"

namespace ladder::rung_08 {
namespace {

constexpr double hopeless = 1.6;  // times the lowest estimate
constexpr double sample_us = 200;
constexpr int samples = 2;
constexpr double flop_per_us = 8e8;  // shapes that take longer than longest_us at this rate are left out
constexpr std::uint64_t pool_elements = 4'000'000'000;  // of 8 GB, for the operands of all sets

// One after the other in memory that is filled once.
struct Operands {
  std::vector<Gemm> sets;
  Operands(Gemm p, const GuardedBuffer& pool, const TypedOperands* typed, std::uint64_t l2_bytes) {
    const auto elements = [](std::uint64_t rows, std::uint64_t cols) {
      return (rows * cols + 127) / 128 * 128;
    };
    const std::uint64_t a = elements(p.m, p.k), b = elements(p.k, p.n), c = elements(p.m, p.n);
    const std::uint64_t bytes = 2 * (a + b + c);
    p.typed = typed;
    for (int set = 0; set < sets_to_rotate(bytes, l2_bytes); ++set) {
      __nv_bfloat16* const at = pool.data() + set * (a + b + c);
      if ((set + 1) * (a + b + c) > pool_elements) break;
      p.a = at;
      p.b = at + a;
      p.c = at + a + b;
      sets.push_back(p);
    }
  }
};

class Stopwatch {
 public:
  Stopwatch() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
    check(cudaEventCreate(&begin_), "creating an event");
    check(cudaEventCreate(&end_), "creating an event");
  }
  cudaStream_t stream() const { return stream_; }

  // Of a launch in a graph of several; the shorter of the samples.
  double us(const std::vector<Gemm>& sets, const Choice& choice, const Launch& how) {
    const auto launch = [&](int i) {
      check(choice.launch(sets[i % sets.size()], how, stream_, false), choice.name);
    };
    launch(0);  // loads the module
    const double one = time([&] { launch(1); });
    if (one > 2 * sample_us) return std::min(one, time([&] { launch(2); }));
    const int launches = std::clamp(int(sample_us / one), 2, 64);
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capturing");
    for (int i = 0; i < launches; ++i) launch(i);
    check(cudaStreamEndCapture(stream_, &graph), "capturing");
    check(cudaGraphInstantiate(&replay, graph, 0), "capturing");
    check(cudaGraphLaunch(replay, stream_), "launching");
    double best = 1e30;
    for (int i = 0; i < samples; ++i)
      best = std::min(best, time([&] { check(cudaGraphLaunch(replay, stream_), "launching"); }) / launches);
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    return best;
  }

 private:
  template <class Body>
  double time(const Body& body) {
    float ms = 0;
    check(cudaEventRecord(begin_, stream_), "recording an event");
    body();
    check(cudaEventRecord(end_, stream_), "recording an event");
    check(cudaEventSynchronize(end_), "running a kernel");
    check(cudaEventElapsedTime(&ms, begin_, end_), "reading an event");
    return ms * 1000.0;
  }
  cudaStream_t stream_;
  cudaEvent_t begin_, end_;
};

void measure(std::uint64_t seed, int shapes, double seconds) {
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "reading the GPU's properties");
  if (device.multiProcessorCount != measured_sms || device.major != 9)
    throw Failure(Exit::cannot_run,
                  "the kernels' costs are those of a GPU of compute capability 9.0 with 132 SMs");
  const GuardedBuffer pool("operands", GuardedBuffer::Kind::input, pool_elements);
  fill(pool, {}, seed);
  const GuardedBuffer workspace("workspace", GuardedBuffer::Kind::output, std::size_t{64} << 20, 1);
  TypedOperands typed{};
  typed.workspace = workspace.data();
  Stopwatch stopwatch;
  const auto start = std::chrono::steady_clock::now();
  for (const Gemm& shape : model_shapes(shapes, seed)) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
    if (2.0 * shape.m * shape.n * shape.k > longest_us * flop_per_us) continue;
    const Operands operands(shape, pool, &typed, device.l2CacheSize);
    if (operands.sets.empty()) continue;  // no room
    MeasuredShape measured{shape, {}};
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t kernel = 0; kernel < all_choices().size(); ++kernel) {
      each_way(all_choices()[kernel], true, [&](const Launch& how) {
        const double cycles = estimate_cycles(shape, all_choices()[kernel], how, measured_sms);
        lowest = std::min(lowest, cycles);
        measured.ways.push_back({int(kernel), how, cycles});
      });
    }
    std::erase_if(measured.ways, [&](const Way& way) { return !(way.us <= hopeless * lowest); });
    check(prepare_parts(operands.sets[0], stopwatch.stream()), "preparing");
    for (Way& way : measured.ways) way.us = stopwatch.us(operands.sets, all_choices()[way.kernel], way.how);
    write(std::cout, measured);
  }
}

}  // namespace
}  // namespace ladder::rung_08

int main(int argc, char** argv) {
  return ladder::run_program("08_measure_ways", [&] {
    if (argc != 4)
      throw ladder::Failure(ladder::Exit::bad_usage, "usage: 08_measure_ways SEED SHAPES SECONDS > FILE");
    ladder::rung_08::measure(std::strtoull(argv[1], nullptr, 10), std::atoi(argv[2]), std::atof(argv[3]));
    return ladder::Exit::passed;
  });
}
