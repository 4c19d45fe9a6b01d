#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "common/every_shape/estimate/fitted.h"
#include "common/extension.h"

namespace ladder::every_shape {
namespace {

constexpr int row_bytes = 128;  // of a k-tile's row, of A or B
constexpr double never = std::numeric_limits<double>::infinity();
constexpr double hopeless = 2;  // times the lowest formula: above that a launch is not passed to the network

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
  if (!at.possible) return {.cycles = never};
  const Costs::OfKind& cost = costs.of_kind[int(c.kind)];
  const double on_sm = std::max(1.0, std::min<double>(c.per_sm, at.ctas / sms));

  // A k-tile takes as long as the slowest unit, and a little longer where another is nearly as busy.
  const double load_a = c.rows * row_bytes, load_b = c.cols * row_bytes;
  const double units[] = {costs.tensor * c.rows * c.cols * row_bytes / 4096.0 * on_sm,
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

namespace {

double corrected(const Gemm& p, const Candidate& c, const Launch& how, const Layout& at, const Formula& f,
                 Card card) {
  if (!c.name) return f.cycles;
  const Network& network = fitted_to(card).network;
  Network::Hidden sums, values;
  hidden_layer(network, network_inputs(p, c, how, at, f, c.traits[int(card)]), sums, values);
  return f.cycles * std::exp(output(network, values));
}

}  // namespace

cudaError_t card_of(int device, Card* card) {
  int l2_bytes = 0;
  const cudaError_t error = cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device);
  *card = l2_bytes < (55 << 20) ? Card::h100 : Card::h200;
  return error;
}

double estimate_cycles(const Gemm& p, const Candidate& c, const Launch& how, int sms, Card card) {
  const Layout at = layout(p, c, how, sms);
  return at.possible ? corrected(p, c, how, at, formula(c, how, at, sms, fitted_to(card).costs), card)
                     : never;
}

cudaError_t choose(const Gemm& p, std::span<const Candidate> candidates, Chosen* chosen, int rank) {
  int device = 0, sms = 0;
  Card card{};
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) error = card_of(device, &card);
  if (error != cudaSuccess) return error;
  struct Way {
    Chosen chosen;
    Layout at;
    Formula formula;
  };
  std::vector<Way> ways;
  for (const Candidate& candidate : candidates) {
    each_way(candidate, p.typed && p.typed->workspace, [&](const Launch& how) {
      const Layout at = layout(p, candidate, how, sms);
      if (!at.possible) return;
      const Formula f = formula(candidate, how, at, sms, fitted_to(card).costs);
      ways.push_back({{&candidate, how, f.cycles}, at, f});
    });
  }
  *chosen = {&candidates.front(), {}, never};
  if (ways.empty()) return cudaSuccess;
  const auto cycles = [](const Way& way) { return way.chosen.cycles; };
  const double most = hopeless * std::ranges::min(ways, {}, cycles).chosen.cycles;
  std::erase_if(ways, [&](const Way& way) { return way.chosen.cycles > most; });
  for (auto& [way, at, f] : ways) way.cycles = corrected(p, *way.candidate, way.how, at, f, card);
  std::ranges::stable_sort(ways, {}, cycles);
  *chosen = ways[std::min<std::size_t>(rank, ways.size() - 1)].chosen;
  return cudaSuccess;
}

}  // namespace ladder::every_shape
