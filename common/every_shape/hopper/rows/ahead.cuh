// x and residual of rows to come, from DRAM into L2. While an SM waits for the sums of its rows, and for its
// next CTAs, it loads nothing; with this, DRAM is busy all the same.
#pragma once

#include "common/ptx/prefetch.cuh"
#include "common/rows/norm.cuh"

namespace ladder::every_shape::norm_rows {

// What is prefetched is loaded when all SMs have loaded and stored as much, 16 MiB. With less it is still on
// its way by then, and with more L2 has no room for it.
constexpr std::size_t elements_ahead = 2 << 20;
// Of wider rows that is fewer than nine rows ahead, and those are being loaded already.
constexpr int widest_row_ahead = elements_ahead / 9;

// One thread calls it when its CTA has loaded all it has: `count` elements, the first a multiple of 8.
__device__ inline void prefetch_ahead(const FusedNorm& p, std::size_t first, int count) {
  const std::size_t from = first + elements_ahead, all = std::size_t(p.rows) * p.cols;
  if (p.cols > widest_row_ahead || count < vector || from + vector > all) return;
  const std::size_t vectors = min(std::size_t(count), all - from) / vector;
  ptx::prefetch_into_l2(p.x + from, unsigned(vectors * sizeof(uint4)));
  ptx::prefetch_into_l2(p.residual + from, unsigned(vectors * sizeof(uint4)));
}

}  // namespace ladder::every_shape::norm_rows
