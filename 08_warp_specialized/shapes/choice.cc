#include "08_warp_specialized/shapes/choice.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "common/extension.h"

namespace ladder::rung_08 {
namespace {

constexpr int block_k = 64, element = 2, sector = 32 / element;
constexpr double never = std::numeric_limits<double>::infinity();

// Fitted, and pace.cc's with them, to times of the 66 kernels at some thousand drawn shapes on one H200: such
// that the choice loses least.
struct Costs {
  double start;  // cycles of a launch
  double wave;   // and of each wave of tiles,
  double store;  // and of each element of a tile
  double pass;   // cycles that a k-tile takes at least: a pass through the loop
};
// By Kind.
constexpr Costs costs[] = {
    {250.5, 824.8, 0.08134, 297.5},  // split
    {226.2, 2285, 0.2188, 244.3},    // whole
    {3670, 1187, 0.08943, 68.52},    // in_turn
    {2192, 3246, 0.3912, 204.3},     // straight
    {554.4, 554.4, 0.1899, 559.2},   // straight_split
    {169, 310.6, 0.2668, 346.2},     // narrow
    {934.4, 792.4, 0.04747, 537},    // in_memory
};
constexpr double intake = 73.02;        // bytes that an SM takes in per cycle,
constexpr double l2 = 3352;             // and that L2 delivers to all of them
constexpr double asked_again = 0.4882;  // of what CTAs that start one after the other share
constexpr double two_lines = 1.515;     // of a load more, where rows of 128 bytes begin within a line of L2
constexpr double cut_sector = 0.3532;   // cycles for a sector of L2 that two stores write a part of
constexpr double tensor = 2.872;        // of an MMA's cycles, where nothing else is short
// A k-tile in clusters of 1, 2, 4 and 8 CTAs, which wait for each other, beside what the units take.
constexpr double in_step[] = {0.929, 1.115, 1.05, 1.018};
constexpr double add_up = 4093, add_element = 0.01155;  // the parts of k
constexpr double add_in_memory = 2063, add_element_in_memory = 2.046;

double eighth_power(double x) {
  for (int i = 0; i < 3; ++i) x *= x;
  return x;
}

// Clusters that run at once. A cluster lies within a GPC, whose SMs need not be a multiple of four.
int clusters_at_once(int ctas, int sms) {
  return ctas == 1 ? sms : ctas == 2 ? sms / 2 : sms * 10 / 11 / ctas;
}

}  // namespace

double estimate_cycles(const Gemm& p, const Choice& c, const Launch& how, int sms) {
  const auto [cluster_n, cluster_m] = how.cluster;
  const int parts = how.parts;
  const bool in_memory = c.kind == Kind::in_memory;
  const bool transposed =
      c.kind != Kind::straight && c.kind != Kind::straight_split && c.kind != Kind::narrow;
  const int tiles_k = ceil_div(p.k, block_k), rows = c.rows * cluster_m, cols = c.cols * cluster_n;
  const int clusters_m = ceil_div(p.m, rows), clusters_n = ceil_div(p.n, cols);
  const double clusters = 1.0 * clusters_m * clusters_n;
  if (cluster_m > 1 && p.m <= c.rows) return never;  // a CTA would have no tile
  if (c.kind == Kind::narrow && cluster_n > 1 && p.n <= cols - c.cols) return never;
  if (in_memory && (parts == 1 || tiles_k < 4 * parts)) return never;  // other kernels have whole tiles
  if (transposed) {
    const int high = ceil_div(p.m, 8) * 8;
    const double at_once = 1.0 * sms * c.per_sm / (cluster_m * cluster_n);
    const bool too_high = c.rows > 8 && c.rows >= 2 * high;
    const bool too_low = c.rows < 112 && p.m > 8 * c.rows && clusters > at_once;
    const bool idle = cluster_n > 1 && p.n <= cols - c.cols;
    const bool too_many = parts > 1 && (clusters * parts > sms * c.per_sm || tiles_k < 2 * parts);
    if (too_high || too_low || idle || too_many) return never;
  }
  const Costs& cost = costs[int(c.kind)];
  const int size = cluster_m * cluster_n * (in_memory ? 1 : parts);  // CTAs of a cluster
  const int together = in_memory ? parts : 1;                        // clusters that have the same tile
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
  // Without a cluster and in a single wave, those that start one after the other share the larger matrix, see
  // swapped::order().
  const double sharing = std::min<double>(p.m > p.n ? clusters_n : clusters_m, running);
  const double of_larger = waves == 1 && size == 1 ? asked_again + (1 - asked_again) / sharing : 1;
  const double to_all = ctas * (load_a / cluster_n * (p.m > p.n ? of_larger : 1) +
                                load_b / cluster_m * (p.m > p.n ? 1 : of_larger));
  // At the pace of the slowest unit, and a little slower where another is nearly as busy.
  double busy = 0;
  for (const double unit : {tensor * mma * on_sm, (load_a + load_b) * on_sm / intake, to_all / l2, cost.pass})
    busy += eighth_power(unit);
  const double step =
      std::sqrt(std::sqrt(std::sqrt(busy))) * in_step[std::bit_width(unsigned(cluster_m * cluster_n)) - 1];

  const double loop = waves * ceil_div(tiles_k, parts) * step;
  const double area = c.rows * c.cols, ends = waves * (cost.wave + cost.store * area);
  double exchange = 0;
  if (parts > 1 && !in_memory) exchange = add_up + add_element * area * (parts - 1) / parts;
  if (in_memory) exchange = add_in_memory + add_element_in_memory * area * (parts - 1) / parts;
  // In a row of C that does not begin with a sector, one is cut wherever two stores meet.
  const double store = c.kind == Kind::narrow ? std::min(c.cols, 128) : 64;  // columns
  const double cuts = p.n % sector ? p.m * (p.n / store) : 0;
  return c.pace * (cost.start + exchange + std::max(loop + ends, cut_sector * cuts));
}

cudaError_t choose(const Gemm& p, std::span<const Choice> choices, Chosen* chosen, int rank) {
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  // Of each kernel the best way to launch it.
  std::vector<Chosen> all;
  const bool workspace = p.typed && p.typed->workspace;
  for (const Choice& choice : choices) {
    const int most = choice.kind == Kind::in_memory && !workspace ? 1 : choice.parts;
    const int fewest = choice.kind == Kind::straight_split ? choice.parts : 1;
    Chosen best{&choice, {choice.clusters[0], fewest}, never};
    for (const Cluster& cluster : choice.clusters) {
      for (int parts = fewest; parts <= most; ++parts) {
        const double cycles = estimate_cycles(p, choice, {cluster, parts}, sms);
        if (cycles < best.cycles) best = {&choice, {cluster, parts}, cycles};
      }
    }
    if (best.cycles < never || all.empty()) all.push_back(best);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Chosen& x, const Chosen& y) { return x.cycles < y.cycles; });
  *chosen = all[std::min<std::size_t>(rank, all.size() - 1)];
  return cudaSuccess;
}

}  // namespace ladder::rung_08
