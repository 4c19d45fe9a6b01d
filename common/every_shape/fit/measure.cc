// every_shape_measure SEED SHAPES SECONDS: times every_shape's kernels at shapes of --sweep models, each in
// every cluster and with every number of parts that the estimate does not rule out as hopeless, and prints
// what every_shape_fit reads. every_shape_measure FILE SECONDS: times what `every_shape_fit doubtful` has
// printed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <utility>

#include "common/every_shape/fit/measured.h"
#include "common/extension.h"
#include "common/harness/backend/device_buffer.h"
#include "common/harness/base/failure.h"
#include "common/harness/measure/benchmark.h"
#include "common/harness/measure/rotation.h"
#include "common/harness/problems/gemm/model_shapes.h"

namespace ladder::every_shape {
namespace {

constexpr double hopeless = 2;      // times the lowest estimate
constexpr double most_flop = 1e12;  // of a shape: a few milliseconds
// If there are many, all are timed once, and those this close to the fastest again.
constexpr std::size_t few = 30;
constexpr double near = 1.2;
constexpr int repeats = 8;  // as many in one order as in the other
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

// All take turns: one that runs alone begins at a higher clock than the power limit allows it later.
void time(const std::vector<Way*>& ways, const std::vector<Gemm>& sets, int samples) {
  std::vector<Contender> contenders;
  for (const Way* way : ways) {
    const Candidate* const candidate = &all_candidates()[way->kernel];
    contenders.push_back({candidate->name, [&sets, candidate, how = way->how](int set, cudaStream_t stream) {
                            return candidate->launch(sets[set], how, stream, false);
                          }});
  }
  const Measurement m = measure(contenders, int(sets.size()), samples, Launches::automatic);
  for (std::size_t i = 0; i < ways.size(); ++i) ways[i]->us = m.timings[i].median_us;
}

void time(std::vector<Way>& ways, const std::vector<Gemm>& sets) {
  std::vector<Way*> some;
  for (Way& way : ways) some.push_back(&way);
  if (ways.size() > few) {
    time(some, sets, 1);
    const double fastest = std::ranges::min(ways, {}, &Way::us).us;
    std::erase_if(some, [&](const Way* way) { return way->us > near * fastest; });
  }
  time(some, sets, repeats);
}

// All ways to launch a kernel that are not hopeless.
std::vector<MeasuredShape> drawn(std::uint64_t seed, int shapes) {
  Card card{};
  check(card_of(0, &card), "reading the size of L2");
  std::vector<MeasuredShape> all;
  for (const Gemm& shape : model_shapes(std::min(shapes, max_model_shapes), seed)) {
    MeasuredShape& measured = all.emplace_back(MeasuredShape{shape, {}});
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t kernel = 0; kernel < all_candidates().size(); ++kernel) {
      each_way(all_candidates()[kernel], true, [&](const Launch& how) {
        const double cycles = estimate_cycles(shape, all_candidates()[kernel], how, measured_sms, card);
        lowest = std::min(lowest, cycles);
        measured.ways.push_back({int(kernel), how, cycles});
      });
    }
    std::erase_if(measured.ways, [&](const Way& way) { return !(way.us <= hopeless * lowest); });
  }
  return all;
}

void measure_shapes(std::vector<MeasuredShape> all, double seconds) {
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "reading the GPU's properties");
  if (device.multiProcessorCount != measured_sms || device.major != 9)
    throw Failure(Exit::cannot_run,
                  "the kernels' costs are those of a GPU of compute capability 9.0 with 132 SMs");
  const GuardedBuffer in("A and B", GuardedBuffer::Kind::input, in_elements);
  const GuardedBuffer out("C", GuardedBuffer::Kind::output, out_elements);
  fill(in, {}, 1);
  const GuardedBuffer workspace("workspace", GuardedBuffer::Kind::output, std::size_t{64} << 20, 1);
  TypedOperands typed{};
  typed.workspace = workspace.data();
  const auto start = std::chrono::steady_clock::now();
  for (MeasuredShape& measured : all) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
    Gemm shape = measured.p;
    if (2.0 * shape.m * shape.n * shape.k > most_flop) continue;
    shape.typed = &typed;
    const std::vector<Gemm> sets = operand_sets(shape, in, out, device.l2CacheSize);
    if (sets.empty()) continue;  // no room
    check(prepare_parts(shape, nullptr), "preparing");
    check(cudaDeviceSynchronize(), "preparing");
    time(measured.ways, sets);
    write(std::cout, measured);
  }
}

}  // namespace
}  // namespace ladder::every_shape

int main(int argc, char** argv) {
  using namespace ladder;
  return run_program("every_shape_measure", [&] {
    if (argc == 3) {
      std::vector<every_shape::MeasuredShape> shapes;
      every_shape::read(argv[1], shapes, true);
      every_shape::measure_shapes(std::move(shapes), std::atof(argv[2]));
    } else if (argc == 4) {
      const auto seed = std::strtoull(argv[1], nullptr, 10);
      every_shape::measure_shapes(every_shape::drawn(seed, std::atoi(argv[2])), std::atof(argv[3]));
    } else {
      throw Failure(Exit::bad_usage,
                    "usage: every_shape_measure SEED SHAPES SECONDS > FILE, or FILE SECONDS > FILE");
    }
    return Exit::passed;
  });
}
