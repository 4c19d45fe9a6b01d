#include "common/simulator/launch/clusters.h"

#include <algorithm>
#include <memory>

#include "common/simulator/machine/cluster_queue.h"
#include "common/simulator/machine/frames.h"
#include "common/simulator/memory/poison.h"

namespace simulator {
namespace {

void start(Cta& cta, Worker& worker, Cluster& cluster, uint32_t rank) {
  Grid& grid = *worker.grid;
  const auto &of_grid = grid.launch.grid, &of_cluster = grid.launch.cluster;
  cta.grid = &grid;
  cta.worker = &worker;
  cta.cluster = &cluster;
  cta.rank = rank;
  cta.shadow_base = rank * shadow_bytes(grid);
  const auto first = first_cta(grid, cluster.index), inside = position(rank, of_cluster);
  for (size_t i = 0; i < 3; ++i) cta.id[i] = first[i] + inside[i];
  cta.index = (uint64_t{cta.id[2]} * of_grid[1] + cta.id[1]) * of_grid[0] + cta.id[0];
  cta.time = cta.clock_reads = 0;
  cta.shared.assign(grid.shared_bytes, poison);
  cta.unfinished = grid.warps;
  cta.warps.resize(grid.warps);
  for (uint32_t w = 0; w < grid.warps; ++w) {
    Warp& warp = cta.warps[w];
    const uint32_t lanes = std::min<uint32_t>(warp_size, grid.threads - w * warp_size);
    warp.cta = &cta;
    warp.worker = &worker;
    warp.index = w;
    warp.in_cluster = rank * grid.warps + w;
    warp.live = warp.started = lanes == warp_size ? ~0u : (1u << lanes) - 1;
    warp.exec = warp.live;
    warp.full = true;
    warp.others.clear();
    warp.rotated = warp.yield = false;
    warp.writes = 0;
    warp.polls = warp.polls_seen = warp.polls_before = warp.watches = warp.watches_seen = 0;
    warp.polled_writes = ~0ull;
  }
  for (Unit* unit : grid.units) unit->start(cta);
  for (Warp& warp : cta.warps) warp.enter(new_frame(warp, *grid.entry, {}));
}

// Gives back what a CTA that did not finish still holds.
void abandon(Cta& cta) {
  for (Warp& warp : cta.warps) {
    std::vector<Frame*> frames;
    const auto collect = [&](Frame* frame) {
      if (frame && std::find(frames.begin(), frames.end(), frame) == frames.end()) frames.push_back(frame);
    };
    if (warp.exec) collect(warp.frame);
    for (const Group& group : warp.others) collect(group.frame);
    for (size_t i = 0; i < frames.size(); ++i) {
      for (const Way& way : frames[i]->ways) collect(way.caller);
    }
    for (Frame* frame : frames) delete frame;
    warp.others.clear();
    warp.frame = nullptr;
    warp.exec = warp.live = 0;
  }
  cta.unfinished = 0;
}
}  // namespace

void abandon(Cluster& cluster) {
  for (const auto& cta : cluster.ctas) abandon(*cta);
}

void start(Cluster& cluster, Worker& worker, uint64_t index) {
  Grid& grid = *worker.grid;
  const auto& size = grid.launch.cluster;
  const uint32_t ctas = size[0] * size[1] * size[2];
  const uint32_t bytes = shadow_bytes(grid);
  cluster.index = index;
  cluster.waiting = index + grid.queues;
  cluster.arriving.clear();
  cluster.completed.clear();
  worker.random = (grid.seed * 0x9e3779b97f4a7c15u ^ grid.id) * 0xbf58476d1ce4e5b9u + index;
  if (worker.checking) {
    cluster.shadow.reset(bytes, grid.warps, grid.entry->shared_granule, ctas);
    cluster.pending_copies.reset(bytes * ctas);
    cluster.async_accesses.reset(bytes * ctas, grid.warps);
  }
  cluster.ctas.resize(ctas);
  for (uint32_t rank = 0; rank < ctas; ++rank) {
    if (!cluster.ctas[rank]) cluster.ctas[rank] = std::make_unique<Cta>();
    start(*cluster.ctas[rank], worker, cluster, rank);
  }
}

uint64_t unfinished(const Cluster& cluster) {
  uint64_t warps = 0;
  for (const auto& cta : cluster.ctas) warps += cta->unfinished;
  return warps;
}

}  // namespace simulator
