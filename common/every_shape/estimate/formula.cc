// How a problem lies on the SMs, and the cycles that follow from it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "common/every_shape/estimate/estimate.h"

namespace ladder::every_shape {
namespace {

constexpr int row_bytes = 128;  // of a k-tile's row, of A or B

// Clusters that run at once. A cluster lies within a GPC, whose SMs need not be a multiple of four.
int clusters_at_once(int ctas, int sms) {
  return ctas == 1 ? sms : ctas == 2 ? sms / 2 : sms * 10 / 11 / ctas;
}

}  // namespace

Layout layout(const Gemm& p, const Candidate& c, const Launch& how, int sms) {
  const auto [cluster_n, cluster_m] = how.cluster;
  const int parts = how.parts;
  const bool in_memory = c.kind == Kind::in_memory;
  const bool transposed = c.kind != Kind::straight && c.kind != Kind::straight_split &&
                          c.kind != Kind::narrow && c.kind != Kind::vector;
  const int tiles_k = ceil_div(p.k, row_bytes / c.operand_bytes), rows = c.rows * cluster_m,
            cols = c.cols * cluster_n;
  Layout at;
  at.clusters_m = ceil_div(p.m, rows);
  at.clusters_n = ceil_div(p.n, cols);
  at.clusters = 1.0 * at.clusters_m * at.clusters_n;
  if (cluster_m > 1 && p.m <= c.rows) return at;  // a CTA would have no tile
  if (c.kind == Kind::narrow && cluster_n > 1 && p.n <= cols - c.cols) return at;
  if (c.kind == Kind::vector && (p.m > c.rows || !std::has_single_bit(unsigned(parts)))) return at;
  if (in_memory && (parts == 1 || tiles_k < 4 * parts)) return at;  // other kernels have whole tiles
  if (transposed) {
    const int high = ceil_div(p.m, 8) * 8;
    const double at_once = 1.0 * sms * c.per_sm / (cluster_m * cluster_n);
    const bool too_high = c.rows > 8 && c.rows >= 2 * high;
    const bool too_low = c.rows < 112 && p.m > 8 * c.rows && at.clusters > at_once;
    const bool idle = cluster_n > 1 && p.n <= cols - c.cols;
    const bool too_many = parts > 1 && (at.clusters * parts > sms * c.per_sm || tiles_k < 2 * parts);
    if (too_high || too_low || idle || too_many) return at;
  }
  const int size = cluster_m * cluster_n * (in_memory ? 1 : parts);  // CTAs of a cluster
  const int together = in_memory ? parts : 1;                        // clusters that have the same tile
  at.at_once = clusters_at_once(size, sms) * c.per_sm / together;
  if (in_memory && at.clusters > at.at_once) return at;  // they wait for each other, so all must run at once
  if (c.kind == Kind::straight_split && at.clusters > at.at_once)
    return at;  // splitting k is for what leaves SMs idle
  at.waves = std::ceil(at.clusters / at.at_once);
  at.ctas = std::min(at.clusters, at.at_once) * size * together;
  at.tiles_k = ceil_div(tiles_k, parts);
  at.possible = true;
  return at;
}

Formula formula(const Candidate& c, const Launch& how, const Layout& at, int sms, const Costs& costs) {
  if (!at.possible) return {.cycles = std::numeric_limits<double>::infinity()};
  const Costs::OfKind& cost = costs.of_kind[int(c.kind)];
  const double on_sm = std::max(1.0, std::min<double>(c.per_sm, at.ctas / sms));

  // A k-tile takes as long as the slowest unit, and a little longer where another is nearly as busy.
  const double load_a = 1.0 * c.rows * row_bytes / c.pair, load_b = 1.0 * c.cols * row_bytes / c.pair;
  const double units[] = {costs.tensor * c.rows * c.cols * row_bytes / 4096.0 * on_sm / c.pair,
                          (load_a + load_b) * on_sm / costs.intake,
                          at.ctas * (load_a / how.cluster.n + load_b / how.cluster.m) / costs.l2, cost.pass};
  double busy = 0;
  for (const double unit : units) busy += unit * unit * unit * unit;
  const double k_tile = std::sqrt(std::sqrt(busy));

  const double area = c.rows * c.cols, received = area * (how.parts - 1) / how.parts;
  double exchange = 0;
  if (how.parts > 1) {
    exchange = c.kind == Kind::in_memory
                   ? costs.exchange_in_memory + costs.exchange_element_in_memory * received
                   : costs.exchange + costs.exchange_element * received;
  }
  const double loop = at.waves * at.tiles_k * k_tile, end = at.waves * (cost.wave + cost.store * area);
  Formula f{.cycles = cost.start + exchange + loop + end};
  for (int i = 0; i < 4; ++i) f.busy[i] = units[i] / k_tile;
  f.loop = loop / f.cycles;
  f.end = end / f.cycles;
  return f;
}

}  // namespace ladder::every_shape
