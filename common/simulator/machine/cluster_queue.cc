#include "common/simulator/machine/cluster_queue.h"

namespace simulator {

uint64_t next_random(Worker& worker) {  // splitmix64 (Steele, Lea, Flood 2014)
  uint64_t x = worker.random += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// The position in a box of this size, x first.
std::array<uint32_t, 3> position(uint64_t index, const std::array<uint32_t, 3>& size) {
  return {static_cast<uint32_t>(index % size[0]), static_cast<uint32_t>(index / size[0] % size[1]),
          static_cast<uint32_t>(index / size[0] / size[1])};
}

// %ctaid of the cluster's first CTA.
std::array<uint32_t, 3> first_cta(const Grid& grid, uint64_t cluster) {
  const auto &of_grid = grid.launch.grid, &size = grid.launch.cluster;
  auto first = position(cluster, {of_grid[0] / size[0], of_grid[1] / size[1], of_grid[2] / size[2]});
  for (size_t i = 0; i < 3; ++i) first[i] *= size[i];
  return first;
}

std::optional<std::array<uint32_t, 3>> cancel_launch(Cluster& by) {
  Worker& worker = *by.ctas[0]->worker;
  Grid& grid = *worker.grid;
  if (grid.seed != 0 && next_random(worker) % 8 == 0) return {};
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
