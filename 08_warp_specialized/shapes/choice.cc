#include "08_warp_specialized/shapes/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "common/extension.h"

namespace ladder::rung_08 {
namespace {

constexpr int block_k = 64, element = 2, sector = 32 / element, most_gpcs = 8;
constexpr double never = std::numeric_limits<double>::infinity();

// Fitted, and pace.cc's with them, to times of the 86 kernels at some thousand drawn shapes on one H100: such
// that the choice loses least.
struct Costs {
  double start;   // cycles of a launch
  double wave;    // and of each wave of tiles,
  double store;   // and of each element of a tile
  double intake;  // bytes that an SM takes in per cycle,
  double gpc;     // that L2 delivers to a GPC, where a line is read once for all of its SMs,
  double l2;      // and to all SMs, where each loads its own
  double pass;    // cycles that a k-tile takes at least: a pass through the loop
};
constexpr double unbound = 1e9;
// By Kind.
constexpr Costs costs[] = {
    {1140, 2044, 0.414, 45.66, 376.9, 5533, 40.15},         // split
    {5.045, 3782, 0.1022, 86.98, 542.2, 4165, 24.06},       // whole
    {1066, 1300, 0.261, unbound, 452.4, 4131, 60.36},       // in_turn
    {361, 2559, 0.1034, 61.66, unbound, 4028, 124.3},       // straight
    {385.2, 630.5, 0.1047, 61.22, unbound, 4608, 273.2},    // straight_split
    {699.1, 2174, 0.1293, 77.27, 2457, 3623, 52.6},         // narrow
    {2248, 681.8, 0.003266, 351.8, 542.4, 1.7e+04, 181.3},  // in_memory
};
constexpr double dram = 8.673;        // of its peak. More, since what is in L2 is not loaded again
constexpr double two_lines = 0.5064;  // of a load more, where rows of 128 bytes begin within a line of L2
constexpr double cut_sector = 69.63;  // of its bytes more, for a sector of L2 that two stores write a part of
constexpr double tensor = 1.375;      // of an MMA's cycles, where nothing else is short
constexpr double overlap = 0.000159;  // of the shorter of main loop and DRAM is not hidden by the longer
constexpr double add_up = 2907, add_element = 0.02359;  // the parts of k
constexpr double add_in_memory = 5403, add_element_in_memory = 1.408;
constexpr double exposed = 0.2376;  // of a wave, in ping-pong

double eighth_power(double x) {
  for (int i = 0; i < 3; ++i) x *= x;
  return x;
}

// Clusters that run at once. A cluster lies within a GPC, whose SMs need not be a multiple of four.
int clusters_at_once(int ctas, int sms) {
  return ctas == 1 ? sms : ctas == 2 ? sms / 2 : sms * 10 / 11 / ctas;
}

}  // namespace

double estimate_cycles(const Gemm& p, const Choice& c, int parts, const Gpu& gpu) {
  const int sms = gpu.sms;
  const bool in_memory = c.kind == Kind::in_memory;
  const bool transposed =
      c.kind != Kind::straight && c.kind != Kind::straight_split && c.kind != Kind::narrow;
  const int tiles_k = ceil_div(p.k, block_k), rows = c.rows * c.cluster_m, cols = c.cols * c.cluster_n;
  const int clusters_m = ceil_div(p.m, rows), clusters_n = ceil_div(p.n, cols);
  const double clusters = 1.0 * clusters_m * clusters_n;
  if (c.cluster_m > 1 && p.m <= c.rows) return never;  // a CTA would have no tile
  if (c.kind == Kind::narrow && c.cluster_n > 1 && p.n <= cols - c.cols) return never;
  if (in_memory && (parts == 1 || tiles_k < 4 * parts)) return never;  // other kernels have whole tiles
  if (transposed) {
    const int high = ceil_div(p.m, 8) * 8;
    const double at_once = 1.0 * sms * c.per_sm / (c.cluster_m * c.cluster_n);
    const bool too_high = c.rows > 8 && c.rows >= 2 * high;
    const bool too_low = c.rows < 112 && p.m > 8 * c.rows && clusters > at_once;
    const bool idle = c.cluster_n > 1 && p.n <= cols - c.cols;
    const bool too_many = parts > 1 && (clusters * parts > sms * c.per_sm || tiles_k < 2 * parts);
    if (too_high || too_low || idle || too_many) return never;
  }
  const Costs& cost = costs[int(c.kind)];
  const int size = c.cluster_m * c.cluster_n * (in_memory ? 1 : parts);  // CTAs of a cluster
  const int together = in_memory ? parts : 1;                            // clusters that have the same tile
  const int at_once = clusters_at_once(size, sms) * c.per_sm / together;
  if (in_memory && clusters > at_once) return never;  // they wait for each other
  if (c.kind == Kind::straight_split && clusters > at_once)
    return never;  // parts are for what leaves SMs idle
  const double waves = std::ceil(clusters / at_once), running = std::min<double>(clusters, at_once);
  const double ctas = running * size * together,
               on_sm = std::max(1.0, std::min<double>(c.per_sm, ctas / sms));

  // What a k-tile takes, of all CTAs at the same time.
  const double bytes_of_row = block_k * element;
  const double load_a = c.rows * (p.k % block_k ? 1 + two_lines : 1) * bytes_of_row;
  const double load_b = c.cols * (p.n % block_k ? 1 + two_lines : 1) * bytes_of_row;
  const double mma = c.rows * c.cols * block_k / 2048.0;
  const double of_gpc = std::ceil(running * together / most_gpcs);
  const double square = std::sqrt(double(at_once) * cols / rows);
  const double down = std::min<double>(of_gpc, std::clamp(int(square + 0.5), 1, clusters_m));
  const double to_gpc = (down * c.cluster_m * load_a + std::ceil(of_gpc / down) * c.cluster_n * load_b) *
                        (in_memory ? 1 : parts);
  const double to_all = ctas * (load_a / c.cluster_n + load_b / c.cluster_m);
  // At the pace of the slowest unit, and a little slower where another is nearly as busy.
  double busy = 0;
  for (const double unit : {tensor * mma * on_sm, (load_a + load_b) * on_sm / cost.intake, to_gpc / cost.gpc,
                            to_all / cost.l2, cost.pass})
    busy += eighth_power(unit);
  const double step = std::sqrt(std::sqrt(std::sqrt(busy)));

  const double loop = waves * ceil_div(tiles_k, parts) * step;
  // A row of C that does not begin with a sector has one cut wherever two stores meet.
  const double store = c.kind == Kind::narrow ? std::min(c.cols, 128) : 64;  // columns
  const double stored = p.n % sector ? 1 + cut_sector * sector / store : 1;
  const double memory =
      element * (double(p.m) * p.k + double(p.k) * p.n + double(p.m) * p.n * stored) / (dram * gpu.dram);
  const double area = c.rows * c.cols;
  double around = cost.start;
  around += (c.ping_pong ? 1 + (waves - 1) * exposed : waves) * (cost.wave + cost.store * area);
  if (parts > 1 && !in_memory) around += add_up + add_element * area * (parts - 1) / parts;
  if (in_memory) around += add_in_memory + add_element_in_memory * area * (parts - 1) / parts;
  return c.pace * (around + std::max(loop, memory) + overlap * std::min(loop, memory));
}

namespace {

// The driver reads a clock over PCIe, which takes several hundred microseconds: once per device, not per
// launch.
cudaError_t current(Gpu* gpu) {
  static std::mutex one_thread;
  static std::map<int, Gpu> known;
  int device = 0, clock_khz = 0, memory_khz = 0, bus_bits = 0;
  cudaError_t error = cudaGetDevice(&device);
  const std::lock_guard lock(one_thread);
  if (const auto found = known.find(device); error == cudaSuccess && found != known.end()) {
    *gpu = found->second;
    return cudaSuccess;
  }
  const std::pair<cudaDeviceAttr, int*> wanted[] = {{cudaDevAttrMultiProcessorCount, &gpu->sms},
                                                    {cudaDevAttrClockRate, &clock_khz},
                                                    {cudaDevAttrMemoryClockRate, &memory_khz},
                                                    {cudaDevAttrGlobalMemoryBusWidth, &bus_bits}};
  for (const auto& [attribute, value] : wanted)
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(value, attribute, device);
  if (error != cudaSuccess) return error;
  gpu->dram = 2.0 * memory_khz * bus_bits / 8 / clock_khz;  // two bits of each line in a cycle
  known[device] = *gpu;
  return cudaSuccess;
}

}  // namespace

cudaError_t choose(const Gemm& p, std::span<const Choice> choices, Chosen* chosen, int rank) {
  Gpu gpu{};
  const cudaError_t error = current(&gpu);
  if (error != cudaSuccess) return error;
  // Of each kernel the best parts of k.
  std::vector<Chosen> all;
  const bool workspace = p.typed && p.typed->workspace;
  for (const Choice& choice : choices) {
    const int most = choice.kind == Kind::in_memory && !workspace ? 1 : choice.parts;
    const int fewest = choice.kind == Kind::straight_split ? choice.parts : 1;
    Chosen best{&choice, fewest, never};
    for (int parts = fewest; parts <= most; ++parts) {
      const double cycles = estimate_cycles(p, choice, parts, gpu);
      if (cycles < best.cycles) best = {&choice, parts, cycles};
    }
    if (best.cycles < never || all.empty()) all.push_back(best);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Chosen& x, const Chosen& y) { return x.cycles < y.cycles; });
  *chosen = all[std::min<std::size_t>(rank, all.size() - 1)];
  return cudaSuccess;
}

}  // namespace ladder::rung_08
