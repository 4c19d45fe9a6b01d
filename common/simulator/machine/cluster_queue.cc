#include "common/simulator/machine/cluster_queue.h"

#include <algorithm>
#include <numeric>

namespace simulator {

uint64_t next_random(uint64_t& state) {  // splitmix64 (Steele, Lea, Flood 2014)
  uint64_t x = state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// The position in a box of this size, x first.
std::array<uint32_t, 3> position(uint64_t index, const std::array<uint32_t, 3>& size) {
  return {static_cast<uint32_t>(index % size[0]), static_cast<uint32_t>(index / size[0] % size[1]),
          static_cast<uint32_t>(index / size[0] / size[1])};
}

namespace {

// Which cluster is the nth to begin: with a seed, any order. Where clusters wait for each other, those of a
// window as large as what runs at once change places, and none leaves it: kernels rely on clusters before
// theirs having begun.
uint64_t nth_to_begin(const Grid& grid, uint64_t nth) {
  if (grid.seed == 0) return nth;
  const uint64_t first = nth / grid.window * grid.window;
  const uint64_t count = std::min(grid.window, grid.clusters - first);
  uint64_t random = grid.seed * 0x9e3779b97f4a7c15u ^ first;
  const uint64_t shift = next_random(random) % count;
  uint64_t step = 1 + next_random(random) % count;  // without a common factor: every cluster has its turn
  while (std::gcd(step, count) != 1) step = step % count + 1;
  __extension__ using Wide = unsigned __int128;
  return first + static_cast<uint64_t>((Wide{nth - first} * step + shift) % count);
}

// Which of the launch's clusters is the nth of those that run: the first, the last, and one of each of as
// many equal parts as there are between.
uint64_t cluster_that_runs(const Grid& grid, uint64_t nth) {
  if (grid.clusters == grid.launched || nth == 0) return nth;
  const uint64_t last = grid.launched - 1, parts = grid.clusters - 1;
  if (nth == parts) return last;
  __extension__ using Wide = unsigned __int128;
  uint64_t random = grid.seed * 0x9e3779b97f4a7c15u ^ nth;
  return static_cast<uint64_t>(Wide{last} * nth / parts) + next_random(random) % (last / parts);
}

}  // namespace

// %ctaid of the first CTA of the nth cluster to begin.
std::array<uint32_t, 3> first_cta(const Grid& grid, uint64_t nth) {
  const uint64_t cluster = cluster_that_runs(grid, nth_to_begin(grid, nth));
  const auto &of_grid = grid.launch.grid, &size = grid.launch.cluster;
  auto first = position(cluster, {of_grid[0] / size[0], of_grid[1] / size[1], of_grid[2] / size[2]});
  for (size_t i = 0; i < 3; ++i) first[i] *= size[i];
  return first;
}

std::optional<std::array<uint32_t, 3>> cancel_launch(Cluster& by) {
  Worker& worker = *by.ctas[0]->worker;
  Grid& grid = *worker.grid;
  if (grid.seed != 0 && next_random(worker.random) % 8 == 0) return {};
  if (grid.queues == 0) {
    if (grid.next == grid.clusters) return {};
    return first_cta(grid, grid.next++);
  }
  if (by.waiting >= grid.clusters) return {};
  const uint64_t index = by.waiting;
  by.waiting += grid.queues;
  return first_cta(grid, index);
}

}  // namespace simulator
