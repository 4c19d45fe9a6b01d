// Roughly how long each tile takes on a problem, by arithmetic; nothing here was measured on Blackwell. The
// launch in shapes.cu takes the shortest, and print_estimate.cc prints them.
#pragma once

#include <algorithm>
#include <iterator>

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

// Assumed: what rung 08's estimate was fitted to on an H200.
constexpr double sm_per_cycle = 64;  // bytes that an SM loads
constexpr double around = 2500;      // cycles before a tile's first MMA and after its last one
constexpr double exchange = 800;     // cycles of split-K

struct Tile {
  const char* name;
  int rows, cols;  // of C, by all CTAs that multiply it together
  int ctas;
  int most_parts;   // of k
  bool overlapped;  // the next tile is multiplied during the epilogue
};
constexpr Tile tiles[] = {{"256x256", 256, 256, 2, 1, true},
                          {"256x128", 256, 128, 2, 1, true},
                          {"transposed_128x128", 128, 128, 1, 8, false},
                          {"transposed_128x64", 64, 128, 1, 8, false},
                          {"transposed_128x32", 32, 128, 1, 8, false}};

struct Estimate {
  int tile, parts;                // which of the tiles; of k
  long long ctas, waves = 0;      // whole waves: a tile that does not fit into one waits for the next
  double tensor = 0, intake = 0;  // cycles of a k-tile of 64: MMAs; loading A and B into the SM
  double dram = 0;                // cycles in which DRAM delivers A and B and takes C, each once
  bool bound_by_dram = false;
  double cycles = 0;
};

inline Estimate estimate(const Gemm& p, int which, int parts, int sms) {
  const Tile& tile = tiles[which];
  const long long count = 1ll * ceil_div(p.m, tile.rows) * ceil_div(p.n, tile.cols);
  const int cluster = tile.ctas * parts, at_once = std::max(sms / cluster, 1);
  Estimate e{.tile = which, .parts = parts, .ctas = count * cluster};
  e.waves = (count + at_once - 1) / at_once;
  e.tensor = tile.rows * tile.cols / tile.ctas * 64 / B200::mma_per_cycle;
  e.intake = (tile.rows + tile.cols) / tile.ctas * 64 * 2 / sm_per_cycle;
  e.dram = 2.0 * (1.0 * p.m * p.k + 1.0 * p.k * p.n + 1.0 * p.m * p.n) / B200::dram_per_cycle;
  const double k_tiles = ceil_div(ceil_div(p.k, 64), parts);
  const double mainloop = e.waves * k_tiles * std::max(e.tensor, e.intake);
  e.bound_by_dram = mainloop < e.dram;
  e.cycles =
      std::max(mainloop, e.dram) + (tile.overlapped ? 1 : e.waves) * around + (parts > 1 ? exchange : 0);
  return e;
}

// The tile's best number of parts: a part has a k-tile at least.
inline Estimate estimate(const Gemm& p, int which, int sms) {
  Estimate best = estimate(p, which, 1, sms);
  for (int parts = 2; parts <= std::min(tiles[which].most_parts, ceil_div(p.k, 64)); parts *= 2) {
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
