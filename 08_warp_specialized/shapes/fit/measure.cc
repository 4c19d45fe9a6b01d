// 08_measure_ways SEED SHAPES SECONDS: times the rung's kernels at shapes of --sweep models, each in every
// cluster and with every number of parts that the estimate does not hold to be hopeless, and prints what fit
// reads.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>

#include "08_warp_specialized/shapes/fit/measured.h"
#include "common/extension.h"
#include "common/harness/backend/device_buffer.h"
#include "common/harness/base/failure.h"
#include "common/harness/measure/benchmark.h"
#include "common/harness/measure/rotation.h"
#include "common/harness/problems/gemm/model_shapes.h"

namespace ladder::rung_08 {
namespace {

constexpr double hopeless = 2;      // times the lowest estimate
constexpr double most_flop = 1e12;  // of a shape: a few milliseconds
// All are timed once, and again those that are so near to the fastest.
constexpr double near = 1.2;
constexpr int repeats = 7;
constexpr std::uint64_t in_elements = 3'000'000'000, out_elements = 1'500'000'000;  // of all operand sets

// One after the other in memory that is filled once. No result is another shape's operand: products of
// products grow to infinities, which take less power than the numbers of a model.
std::vector<Gemm> operand_sets(Gemm p, const GuardedBuffer& in, const GuardedBuffer& out,
                               std::uint64_t l2_bytes) {
  const auto elements = [](std::uint64_t rows, std::uint64_t cols) {
    return (rows * cols + 127) / 128 * 128;
  };
  const std::uint64_t a = elements(p.m, p.k), b = elements(p.k, p.n), c = elements(p.m, p.n);
  std::vector<Gemm> sets;
  for (int set = 0; set < sets_to_rotate(2 * (a + b + c), l2_bytes); ++set) {
    if ((set + 1) * (a + b) > in_elements || (set + 1) * c > out_elements) break;
    p.a = in.data() + set * (a + b);
    p.b = p.a + a;
    p.c = out.data() + set * c;
    sets.push_back(p);
  }
  return sets;
}

// All take turns: one that runs alone begins at a higher clock than the power limit leaves it later.
void time(std::vector<Way>& ways, const std::vector<Gemm>& sets) {
  const auto in_turns = [&](const std::vector<Way*>& some, int samples) {
    std::vector<Contender> contenders;
    for (const Way* way : some) {
      const Choice* const choice = &all_choices()[way->kernel];
      contenders.push_back({choice->name, [&sets, choice, how = way->how](int set, cudaStream_t stream) {
                              return choice->launch(sets[set], how, stream, false);
                            }});
    }
    const Measurement m = measure(contenders, int(sets.size()), samples, Launches::automatic);
    for (std::size_t i = 0; i < some.size(); ++i) some[i]->us = m.timings[i].median_us;
  };
  std::vector<Way*> some;
  for (Way& way : ways) some.push_back(&way);
  in_turns(some, 1);
  const double fastest = std::ranges::min(ways, {}, &Way::us).us;
  std::erase_if(some, [&](const Way* way) { return way->us > near * fastest; });
  in_turns(some, repeats);
}

void measure_shapes(std::uint64_t seed, int shapes, double seconds) {
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "reading the GPU's properties");
  if (device.multiProcessorCount != measured_sms || device.major != 9)
    throw Failure(Exit::cannot_run,
                  "the kernels' costs are those of a GPU of compute capability 9.0 with 132 SMs");
  const GuardedBuffer in("A and B", GuardedBuffer::Kind::input, in_elements);
  const GuardedBuffer out("C", GuardedBuffer::Kind::output, out_elements);
  fill(in, {}, seed);
  const GuardedBuffer workspace("workspace", GuardedBuffer::Kind::output, std::size_t{64} << 20, 1);
  TypedOperands typed{};
  typed.workspace = workspace.data();
  const auto start = std::chrono::steady_clock::now();
  for (Gemm shape : model_shapes(shapes, seed)) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
    if (2.0 * shape.m * shape.n * shape.k > most_flop) continue;
    shape.typed = &typed;
    const std::vector<Gemm> sets = operand_sets(shape, in, out, device.l2CacheSize);
    if (sets.empty()) continue;  // no room
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
    check(prepare_parts(shape, nullptr), "preparing");
    check(cudaDeviceSynchronize(), "preparing");
    time(measured.ways, sets);
    write(std::cout, measured);
  }
}

}  // namespace
}  // namespace ladder::rung_08

int main(int argc, char** argv) {
  return ladder::run_program("08_measure_ways", [&] {
    if (argc != 4)
      throw ladder::Failure(ladder::Exit::bad_usage, "usage: 08_measure_ways SEED SHAPES SECONDS > FILE");
    ladder::rung_08::measure_shapes(std::strtoull(argv[1], nullptr, 10), std::atoi(argv[2]),
                                    std::atof(argv[3]));
    return ladder::Exit::passed;
  });
}
