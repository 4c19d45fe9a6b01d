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

double eighth_power(double x) {
  for (int i = 0; i < 3; ++i) x *= x;
  return x;
}

// Clusters that run at once. A cluster lies within a GPC, whose SMs need not be a multiple of four.
int clusters_at_once(int ctas, int sms) {
  return ctas == 1 ? sms : ctas == 2 ? sms / 2 : sms * 10 / 11 / ctas;
}

}  // namespace

double estimate_cycles(const Gemm& p, const Choice& c, const Launch& how, int sms, const Costs& costs) {
  const auto [cluster_n, cluster_m] = how.cluster;
  const int parts = how.parts;
  const bool in_memory = c.kind == Kind::in_memory;
  const bool transposed = c.kind != Kind::straight && c.kind != Kind::straight_split &&
                          c.kind != Kind::narrow && c.kind != Kind::vector;
  const int tiles_k = ceil_div(p.k, block_k), rows = c.rows * cluster_m, cols = c.cols * cluster_n;
  const int clusters_m = ceil_div(p.m, rows), clusters_n = ceil_div(p.n, cols);
  const double clusters = 1.0 * clusters_m * clusters_n;
  if (cluster_m > 1 && p.m <= c.rows) return never;  // a CTA would have no tile
  if (c.kind == Kind::narrow && cluster_n > 1 && p.n <= cols - c.cols) return never;
  if (c.kind == Kind::vector && (p.m > c.rows || !std::has_single_bit(unsigned(parts)))) return never;
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
  const Costs::OfKind& cost = costs.of_kind[int(c.kind)];
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
  const double load_a = c.rows * (p.k % block_k ? 1 + costs.two_lines : 1) * bytes_of_row;
  const double load_b = c.cols * (p.n % block_k ? 1 + costs.two_lines : 1) * bytes_of_row;
  const double mma = c.rows * c.cols * block_k / 2048.0;
  // Without a cluster and in a single wave, those that start one after the other share the larger matrix, see
  // swapped::order().
  const double sharing = std::min<double>(p.m > p.n ? clusters_n : clusters_m, running);
  const double of_larger =
      waves == 1 && size == 1 ? costs.asked_again + (1 - costs.asked_again) / sharing : 1;
  const double to_all = ctas * (load_a / cluster_n * (p.m > p.n ? of_larger : 1) +
                                load_b / cluster_m * (p.m > p.n ? 1 : of_larger));
  // At the pace of the slowest unit, and a little slower where another is nearly as busy.
  double busy = 0;
  for (const double unit :
       {costs.tensor * mma * on_sm, (load_a + load_b) * on_sm / costs.intake, to_all / costs.l2, cost.pass})
    busy += eighth_power(unit);
  const double step = std::sqrt(std::sqrt(std::sqrt(busy))) *
                      costs.in_step[std::bit_width(unsigned(cluster_m * cluster_n)) - 1];

  const double loop = waves * ceil_div(tiles_k, parts) * step;
  const double area = c.rows * c.cols, ends = waves * (cost.wave + cost.store * area);
  double exchange = 0;
  if (parts > 1) {
    const double elements = area * (parts - 1) / parts;
    exchange = in_memory ? costs.exchange_in_memory + costs.exchange_element_in_memory * elements
                         : costs.exchange + costs.exchange_element * elements;
  }
  // In a row of C that does not begin with a sector, one is cut wherever two stores meet.
  const double store = c.kind == Kind::narrow ? std::min(c.cols, 128) : 64;  // columns
  const double cuts = p.n % sector ? p.m * (p.n / store) : 0;
  return (waves == 1 ? c.pace.one_wave : c.pace.several) *
         (cost.start + exchange + std::max(loop + ends, costs.cut_sector * cuts));
}

cudaError_t choose(const Gemm& p, std::span<const Choice> choices, Chosen* chosen, int rank) {
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  // Of each kernel the best way to launch it.
  std::vector<Chosen> all;
  for (const Choice& choice : choices) {
    Chosen best{};
    each_way(choice, p.typed && p.typed->workspace, [&](const Launch& how) {
      const double cycles = estimate_cycles(p, choice, how, sms);
      if (!best.choice || cycles < best.cycles) best = {&choice, how, cycles};
    });
    if (best.cycles < never || all.empty()) all.push_back(best);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Chosen& x, const Chosen& y) { return x.cycles < y.cycles; });
  *chosen = all[std::min<std::size_t>(rank, all.size() - 1)];
  return cudaSuccess;
}

}  // namespace ladder::rung_08
