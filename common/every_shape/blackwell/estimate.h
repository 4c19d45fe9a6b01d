// How long each tile takes on a problem: the estimate of every_shape (estimate/estimate.h) with a B200's
// costs, by arithmetic; nothing here was measured on Blackwell. The launch in shapes.cu takes the shortest,
// and print_estimate.cc prints them.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>

#include "common/every_shape/estimate/estimate.h"
#include "common/rung.h"

namespace ladder::every_shape {

// Published of a B200 (HGX, dense bf16): 148 SMs, 2250 TFLOPS, 8 TB/s. With 4096 multiply-adds per cycle and
// SM the first two make the clock, and with it the third is bytes per cycle.
struct B200 {
  static constexpr int sms = 148;
  static constexpr double flops = 2250e12, dram_bytes = 8e12;  // per second
  static constexpr double mma_per_cycle = 4096;                // multiply-adds of an SM
  static constexpr double hertz = flops / 2 / mma_per_cycle / sms, dram_per_cycle = dram_bytes / hertz;
};

// Published is the rate of the tensor cores, twice an H200's for each cycle. The rest is assumed, in round
// figures, and L2 is left out.
constexpr Costs b200_costs = [] {
  Costs costs{};
  costs.of_kind[int(Kind::whole)].start = 2500;  // pairs: the next tile is multiplied during an epilogue
  costs.of_kind[int(Kind::split)].wave =
      2500;  // transposed: nothing overlaps a tile's start and its epilogue
  costs.tensor = 2048 / B200::mma_per_cycle;
  costs.intake = 64;
  costs.l2 = 1e9;
  costs.exchange = 800;
  return costs;
}();

inline constexpr Cluster alone[] = {{}};
constexpr Candidate transposed_tile(const char* name, int rows) {
  return {.name = name, .kind = Kind::split, .rows = rows, .cols = 128, .clusters = alone, .parts = 8};
}
constexpr Candidate tiles[] = {
    {.name = "256x256", .kind = Kind::whole, .rows = 256, .cols = 256, .clusters = alone, .pair = 2},
    {.name = "256x128", .kind = Kind::whole, .rows = 256, .cols = 128, .clusters = alone, .pair = 2},
    transposed_tile("transposed_128x128", 128),
    transposed_tile("transposed_128x64", 64),
    transposed_tile("transposed_128x32", 32)};

struct Estimate {
  int tile, parts;  // which of the tiles; of k
  Layout at;
  Formula formula;
  double dram;  // cycles in which DRAM delivers A and B and takes C, each once
  bool bound_by_dram;
  double cycles;  // those of the formula, with a mainloop that takes as long as DRAM at least
};

inline Estimate estimate(const Gemm& p, int which, int parts, int sms) {
  const Candidate& tile = tiles[which];
  const int cluster = tile.pair * parts;
  Layout at;
  at.possible = true;
  at.clusters_m = ceil_div(p.m, tile.rows);
  at.clusters_n = ceil_div(p.n, tile.cols);
  at.clusters = 1.0 * at.clusters_m * at.clusters_n;
  at.at_once = std::max(sms / cluster, 1);
  at.waves = std::ceil(at.clusters / at.at_once);
  at.ctas = std::min(at.clusters, at.at_once) * cluster;
  at.tiles_k = ceil_div(ceil_div(p.k, 64), parts);
  const Formula f = formula(tile, {alone[0], parts}, at, sms, b200_costs);
  const double dram = 2 * (1.0 * p.m * p.k + 1.0 * p.k * p.n + 1.0 * p.m * p.n) / B200::dram_per_cycle;
  const double waits = std::max(dram - f.loop * f.cycles, 0.0);
  return {which, parts, at, f, dram, waits > 0, f.cycles + waits};
}

// The tile's best number of parts: a part has a k-tile at least.
inline Estimate estimate(const Gemm& p, int which, int sms) {
  Estimate best = estimate(p, which, 1, sms);
  for (int parts = 2; parts <= std::min(tiles[which].parts, ceil_div(p.k, 64)); parts *= 2) {
    const Estimate next = estimate(p, which, parts, sms);
    if (next.cycles < best.cycles) best = next;
  }
  return best;
}

inline Estimate shortest(const Gemm& p, int sms) {
  Estimate best = estimate(p, 0, sms);
  for (int which = 1; which < int(std::size(tiles)); ++which) {
    const Estimate next = estimate(p, which, sms);
    if (next.cycles <= best.cycles) best = next;  // of two equals the smaller: it loads fewer rows of zeros
  }
  return best;
}

}  // namespace ladder::every_shape
