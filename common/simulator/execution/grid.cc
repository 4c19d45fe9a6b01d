// CTAs and grids: CPU threads take clusters (without clusters: single CTAs) in order. The CTAs of a cluster
// take turns. Where clusters can see in which order they run (Program::order_sensitive), one thread runs them
// all and switches between them, so that the result is the same for any number of threads.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <new>
#include <thread>

#include "common/simulator/counters/registry.h"
#include "common/simulator/counters/trace.h"
#include "common/simulator/device.h"
#include "common/simulator/execution/cluster_launch.h"
#include "common/simulator/execution/scheduler.h"
#include "common/simulator/execution/speed.h"
#include "common/simulator/settings.h"

namespace simulator {
namespace {

// Instructions of a warp's turn; where a kernel reads the clock, which counts turns as though they were at
// the same time; with a seed, at most.
constexpr uint64_t quantum = 1 << 16, timed_quantum = 16, random_quantum = 256;

uint64_t next_random(Worker& worker) {  // splitmix64 (Steele, Lea, Flood 2014)
  uint64_t x = worker.random += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// What a CPU thread keeps from launch to launch.
struct Context {
  Worker worker;
  std::vector<std::unique_ptr<Cluster>> idle;
};

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
  cta.shared.assign(grid.shared_bytes, std::byte{0xa5});
  cta.barriers.fill(Barrier{});
  cta.mbarriers.clear();
  cta.register_pool = {};
  cta.bulk = {};
  cta.async_stores = {};
  cta.launches_over = false;
  cta.tensor_memory.reset();
  cta.tensor_pipeline = {};
  cta.tensor_allocator = {};
  cta.unfinished = grid.warps;
  cta.warps.resize(grid.warps);
  cta.warpgroups.assign((grid.warps + warpgroup_warps - 1) / warpgroup_warps, {});
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
    warp.cluster_arrived = warp.cluster_to_wait = 0;
    warp.fenced.clear();
    warp.unfenced.clear();
    warp.async.clear();
    warp.wgmma = {};
    warp.tensor = {};
    warp.without_others = 0;
    warp.bulk_committed.fill(0);
    warp.asked_mbarrier = 0;
    warp.rotated = warp.yield = false;
    warp.writes = 0;
    warp.polled_writes = ~0ull;
    warp.enter(new_frame(warp, *grid.entry, nullptr));
  }
}

// Gives back what a CTA that did not come to its end still holds.
void abandon(Cta& cta) {
  for (Warp& warp : cta.warps) {
    std::vector<Frame*> frames;
    const auto collect = [&](Frame* frame) {
      for (; frame; frame = frame->caller) {
        if (std::find(frames.begin(), frames.end(), frame) == frames.end()) frames.push_back(frame);
      }
    };
    if (warp.exec) collect(warp.frame);
    for (const Group& group : warp.others) collect(group.frame);
    for (Frame* frame : frames) delete frame;
    warp.others.clear();
    warp.frame = nullptr;
    warp.exec = warp.live = 0;
  }
  cta.unfinished = 0;
}
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
    cluster.tensor_accesses.reset(ctas, ctas * grid.warps, settings().strict);
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

// Groups that wait for a time to pass, or for what only trying again can tell.
void wake(Warp& warp) {
  for (Group& group : warp.others) {
    if (group.state == Group::State::blocked) group.state = Group::State::ready;
  }
}

void run(Warp& warp, uint64_t turn) {
  const bool counting = warp.worker->counting;
  if (warp.cta->grid->entry->reads_clock) {
    counting ? warp.run<true, true>(turn) : warp.run<false, true>(turn);
  } else {
    counting ? warp.run<true, false>(turn) : warp.run<false, false>(turn);
  }
}

// One turn for every warp of a CTA that can go on. False: none could.
bool advance(Cta& cta) {
  Worker& worker = *cta.worker;
  const bool timed = worker.grid->entry->reads_clock;
  const uint32_t count = static_cast<uint32_t>(cta.warps.size());
  const uint64_t seed = worker.grid->seed, most = seed ? random_quantum : timed ? timed_quantum : quantum;
  cta.time += most;
  if (seed && !cta.async_stores.pending.empty()) land_stores_at_random(cta, next_random(worker));
  const uint32_t first = seed ? static_cast<uint32_t>(next_random(worker) % count) : 0;
  bool any = false;
  if (seed && !cta.bulk.empty()) end_copies_at_random(cta, next_random(worker));
  if (seed && cta.tensor_pipeline.busy()) end_tensor_operations_at_random(cta, next_random(worker));
  for (uint32_t i = 0; i < count; ++i) {
    Warp& warp = cta.warps[(first + i) % count];
    if (!warp.live) continue;
    wake(warp);
    if (!warp.ready()) continue;
    any = true;
    const uint64_t turn = seed ? 1 + next_random(worker) % most : most;
    if (seed && !warp.async.pending.empty()) land_copies_at_random(warp, next_random(worker));
    if (seed && !warp.tensor.pending.empty()) land_tensor_transfers_at_random(warp, next_random(worker));
    if (seed && warp.wgmma.asked != warp.wgmma.waited) land_wgmma_at_random(warp, next_random(worker));
    run(warp, turn);
  }
  return any;
}

// The same for every CTA of a cluster.
bool advance(Cluster& cluster) {
  bool any = false;
  for (const auto& cta : cluster.ctas) any |= cta->unfinished && advance(*cta);
  return any;
}

bool resolve_divergent_barriers(Cluster& cluster) {
  bool any = false;
  for (const auto& cta : cluster.ctas)
    any |= resolve_divergent_barriers(*cta) || resolve_divergent_allocations(*cta);
  return any;
}

// All that decides what a warp will do, but for memory.
class Snapshot {
 public:
  explicit Snapshot(const Warp& warp) : groups_(groups_of(warp)) {
    for (const Group& group : groups_) {
      for (const Frame* frame = group.frame; frame; frame = frame->caller) {
        if (std::any_of(frames_.begin(), frames_.end(),
                        [&](const Activation& known) { return known.frame == frame; }))
          break;
        frames_.push_back(
            {frame, frame->return_pc, {frame->registers, frame->registers + frame->program->frame_bytes}});
      }
    }
  }
  bool holds(const Warp& warp) const {
    if (warp.exec != groups_.front().lanes || warp.pc != groups_.front().pc) return false;
    const std::vector<Group> now = groups_of(warp);
    const auto same = [](const Group& a, const Group& b) {
      return a.pc == b.pc && a.lanes == b.lanes && a.frame == b.frame && a.state == b.state;
    };
    if (!std::is_permutation(now.begin(), now.end(), groups_.begin(), groups_.end(), same)) return false;
    return std::all_of(frames_.begin(), frames_.end(), [](const Activation& known) {
      return known.frame->return_pc == known.return_pc &&
             std::memcmp(known.frame->registers, known.registers.data(), known.registers.size()) == 0;
    });
  }

 private:
  static std::vector<Group> groups_of(const Warp& warp) {  // the running one first
    std::vector<Group> groups{{warp.pc, warp.exec, warp.frame, Group::State::ready, 0, nullptr}};
    groups.insert(groups.end(), warp.others.begin(), warp.others.end());
    return groups;
  }

  std::vector<Group> groups_;
  struct Activation {
    const Frame* frame;
    uint32_t return_pc;  // a function that is called twice in a row is not at the same place
    std::vector<std::byte> registers;
  };
  std::vector<Activation> frames_;
};

// Will the warp come back to the very state it is in, without anything having happened? Then, as long as
// nothing happens elsewhere, it does so for ever.
bool loops_forever(Warp& warp) {
  const uint64_t events = warp.worker->events;
  warp.cta->time +=
      random_quantum;  // %clock goes on, from turn to turn: who waits for a time is never where he was
  const auto step = [&] {
    wake(warp);
    run(warp, 1);
  };
  for (int i = 0; i < 64 && !warp.exec; ++i) step();
  if (warp.worker->events != events || !warp.live) return false;
  if (!warp.exec) return !warp.ready();  // whatever it tried again had to wait again
  const Snapshot before(warp);
  for (int i = 0; i < 20000; ++i) {
    step();
    if (warp.worker->events != events || !warp.live) return false;
    if (before.holds(warp)) return true;
  }
  return false;
}

bool stuck(Cluster& cluster) {
  bool stored = false;  // somebody may look at what bulk copies write
  for (const auto& cta : cluster.ctas) stored |= end_stores(*cta);
  if (stored) return false;
  const auto waits = [](Warp& warp) {
    wake(warp);
    return !warp.live || !warp.ready() || loops_forever(warp);
  };
  Worker& worker = *cluster.ctas[0]->worker;
  const uint64_t events = worker.events;
  worker.probing = true;
  const bool all = std::all_of(cluster.ctas.begin(), cluster.ctas.end(), [&](const auto& cta) {
    return std::all_of(cta->warps.begin(), cta->warps.end(), waits);
  });
  worker.probing = false;
  return all && worker.events == events;
}

[[noreturn]] void deadlock(const std::vector<std::unique_ptr<Cluster>>& clusters) {
  std::vector<Cta*> ctas;
  for (const auto& cluster : clusters) {
    for (const auto& cta : cluster->ctas) {
      if (cta->unfinished) ctas.push_back(cta.get());
    }
  }
  std::vector<std::string> lines;
  for (Cta* cta : ctas) {
    for (std::string& line : who_waits(*cta)) lines.push_back(std::move(line));
  }
  if (lines.size() > 24) {
    const size_t more = lines.size() - 24;
    lines.resize(24);
    lines.push_back("and " + std::to_string(more) + " more");
  }
  Cta& cta = *ctas.front();
  Warp* blamed = nullptr;
  Frame* frame = nullptr;
  uint32_t pc = 0, lanes = 0;
  for (Warp& warp : cta.warps) {
    if (!warp.live) continue;
    blamed = &warp;
    if (warp.exec) {
      frame = warp.frame, pc = warp.pc, lanes = warp.exec;
    } else {
      const Group& group = warp.others.front();
      frame = group.frame, lanes = group.lanes;
      pc = group.state == Group::State::barrier ? group.pc - 1 : group.pc;
    }
    break;
  }
  Finding finding;
  finding.kind = FindingKind::deadlock;
  finding.what = "no thread can go on";
  finding.details = std::move(lines);
  if (blamed) finding.site = site_of(*blamed, *frame->program, pc, std::countr_zero(lanes));
  throw Fault(std::move(finding));
}

// Runs f for a cluster; a fault ends the launch, for clusters after this one at once.
template <class F>
void guarded(Grid& grid, Cluster& cluster, F f) {
  try {
    f();
  } catch (Fault& fault) {
    const std::lock_guard lock(grid.mutex);
    if (cluster.index < grid.stopped) {
      grid.stopped = cluster.index;
      grid.fault = std::move(fault.finding);
    }
    abandon(cluster);
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(grid.mutex);
    if (cluster.index < grid.stopped) {
      grid.stopped = cluster.index;
      grid.fault =
          Finding{FindingKind::not_supported, "this machine has not enough memory for the launch", {}, {}};
    }
    abandon(cluster);
  }
}

// In which nothing need happen.
bool short_turns(const Grid& grid) {
  return grid.seed || grid.entry->reads_clock;
}

// Who is busy for long may be busy for nothing: stores of what is there already count as events until one
// looks closer.
bool time_to_probe(Worker& worker) {
  constexpr uint64_t interval = 8'000'000;  // warp-instructions: a tenth of a second
  if (worker.executed < worker.probed + interval) return false;
  worker.probed = worker.executed;
  return true;
}

std::unique_ptr<Cluster> take_idle(Context& context) {
  if (context.idle.empty()) return std::make_unique<Cluster>();
  auto cluster = std::move(context.idle.back());
  context.idle.pop_back();
  return cluster;
}

// Cluster after cluster, while other threads run others.
void work(Context& context) {
  Grid& grid = *context.worker.grid;
  std::vector<std::unique_ptr<Cluster>> running;
  running.push_back(take_idle(context));
  Cluster& cluster = *running.front();
  const auto run_cluster = [&](uint64_t index) {
    guarded(grid, cluster, [&] {
      start(cluster, context.worker, index);
      while (const uint64_t before = unfinished(cluster)) {
        if (index > grid.stopped) break;
        const uint64_t events = context.worker.events;
        const bool any = advance(cluster);
        const bool busy =
            any && (unfinished(cluster) != before || context.worker.events != events || short_turns(grid));
        if (busy && !time_to_probe(context.worker)) continue;
        if (resolve_divergent_barriers(cluster)) continue;
        if (unfinished(cluster) && stuck(cluster)) deadlock(running);
      }
    });
    if (unfinished(cluster)) abandon(cluster);
  };
  for (uint64_t queue; (queue = grid.next++) < grid.queues;) {
    for (uint64_t index = queue; index < grid.clusters && index <= grid.stopped; index = cluster.waiting)
      run_cluster(index);
  }
  context.idle.push_back(std::move(running.front()));
}

// All clusters by one thread, in turns; one is started when those before it have had their chance.
void work_in_order(Context& context, uint64_t resident) {
  Grid& grid = *context.worker.grid;
  std::vector<std::unique_ptr<Cluster>> running;
  const auto begin = [&] {
    running.push_back(take_idle(context));
    guarded(grid, *running.back(), [&] { start(*running.back(), context.worker, grid.next++); });
  };
  const auto can_begin = [&] { return grid.next < grid.clusters && running.size() < resident; };
  if (grid.launch.cooperative) {
    while (can_begin()) begin();
  }
  uint64_t idle_turns = 0;
  while (grid.stopped == ~0ull && (!running.empty() || grid.next < grid.clusters)) {
    if (running.empty()) begin();
    const uint64_t events = context.worker.events;
    uint64_t finished = 0;
    for (size_t i = 0; i < running.size() && grid.stopped == ~0ull;) {
      Cluster& cluster = *running[i];
      guarded(grid, cluster, [&] {
        if (!advance(cluster)) resolve_divergent_barriers(cluster);
      });
      if (unfinished(cluster)) {
        ++i;
        continue;
      }
      ++finished;
      context.idle.push_back(std::move(running[i]));
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (finished) continue;
    if (can_begin()) {  // as many again as there are
      for (size_t more = running.size(); more > 0 && can_begin() && grid.stopped == ~0ull; --more) begin();
      continue;
    }
    idle_turns = context.worker.events == events ? idle_turns + 1 : 0;
    const bool idle = idle_turns >= (short_turns(grid) ? 512 : 2);
    if ((!idle && !time_to_probe(context.worker)) || running.empty() || grid.stopped != ~0ull) continue;
    idle_turns = 0;
    const uint64_t now = context.worker.events;
    guarded(grid, *running.front(), [&] {
      if (!std::all_of(running.begin(), running.end(), [](auto& cluster) { return stuck(*cluster); })) return;
      if (context.worker.events != now) return;
      deadlock(running);
    });
  }
  for (auto& cluster : running) {
    abandon(*cluster);
    context.idle.push_back(std::move(cluster));
  }
  if (context.idle.size() > 64) context.idle.resize(64);
}

// How many queues the clusters wait in: at most as many as run at once. So few that several wait in each,
// where that makes a difference, and there are enough.
uint64_t queues_of(const Grid& grid, uint64_t at_once) {
  if (!grid.entry->cancels_launches) return grid.clusters;
  constexpr uint64_t in_a_queue = 3;
  const uint64_t most = std::max<uint64_t>(1, std::min(grid.clusters, at_once));
  if (grid.seed == 0) return std::min(most, (grid.clusters + in_a_queue - 1) / in_a_queue);
  Worker worker;
  worker.random = grid.seed ^ grid.id;
  return 1 + next_random(worker) % most;
}

}  // namespace

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

std::optional<Finding> run(const Kernel& kernel, const Launch& launch, const std::byte* params) {
  static std::mutex one_at_a_time;
  static std::vector<std::unique_ptr<Context>> contexts;
  static uint64_t launches = 0;
  const std::lock_guard lock(one_at_a_time);

  Grid grid;
  grid.kernel = &kernel;
  grid.entry = kernel.entry;
  grid.launch = launch;
  grid.params = params;
  const uint64_t cluster_ctas = uint64_t{launch.cluster[0]} * launch.cluster[1] * launch.cluster[2];
  grid.ctas = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  grid.clusters = grid.ctas / cluster_ctas;
  grid.threads = launch.block[0] * launch.block[1] * launch.block[2];
  grid.warps = (grid.threads + warp_size - 1) / warp_size;
  grid.shared_bytes = kernel.static_shared_end + static_cast<uint32_t>(launch.dynamic_shared);
  grid.seed = settings().seed;
  grid.id = ++launches;
  grid.counting = counting();
  grid.checking = settings().checks != Checks::off;
  if (!kernel.info.unsupported.empty()) {
    Finding refused{FindingKind::not_supported, kernel.info.unsupported.front(), {}, {}};
    refused.site.kernel = kernel.shown;
    return refused;
  }
  std::vector<const Program*> functions;
  for (const auto& program : kernel.programs) functions.push_back(program.get());
  const std::unique_ptr<Trace> trace = Trace::begin(*kernel.entry, functions, grid.id);
  grid.trace = trace.get();
  grid.counting |= trace != nullptr;

  const uint64_t by_threads = uint64_t(device().max_threads_per_sm) / (uint64_t{grid.warps} * warp_size);
  const uint64_t by_shared = device().shared_per_sm / grid.shared_bytes;  // what the system keeps is in it
  const uint64_t at_once =
      uint64_t(device().multiprocessors) *
      std::clamp<uint64_t>(std::min(by_threads, by_shared), 1, uint64_t(device().max_blocks_per_sm));
  const bool in_order = kernel.entry->order_sensitive || launch.cooperative;
  uint64_t threads = settings().threads > 0 ? uint64_t(settings().threads)
                                            : std::max(1u, std::thread::hardware_concurrency());
  if (!in_order) grid.queues = queues_of(grid, at_once / cluster_ctas);
  threads = in_order ? 1 : std::min(threads, grid.queues);
  while (contexts.size() < threads) contexts.push_back(std::make_unique<Context>());
  const Allocation* workspace = nullptr;
  if (launch.cooperative) {  // {size, barrier, …}: cooperative groups count arrivals in it
    workspace = global_memory().allocate(4096, Allocation::Kind::variable, "grid workspace");
    if (workspace) {
      std::memset(workspace->backing, 0, 4096);
      global_memory().mark_written(workspace->base, 4096);
      grid.workspace = workspace->base;
    }
  }
  for (uint64_t t = 0; t < threads; ++t) {
    Worker& worker = contexts[t]->worker;
    worker.grid = &grid;
    worker.executed = worker.events = worker.probed = 0;
    worker.probing = false;
    worker.recent.fill(Allocation{});
    worker.counting = grid.counting;
    worker.checking = grid.checking;
    worker.counts.assign(grid.counting ? kernel.instructions : 0, Counts{});
  }
  const auto begin = std::chrono::steady_clock::now();
  if (in_order) {
    work_in_order(*contexts[0], std::max<uint64_t>(1, at_once / cluster_ctas));
  } else {
    std::vector<std::jthread> others;
    for (uint64_t t = 1; t < threads; ++t) others.emplace_back([t] { work(*contexts[t]); });
    work(*contexts[0]);
  }
  uint64_t executed = 0;
  for (uint64_t t = 0; t < threads; ++t) executed += contexts[t]->worker.executed;
  count_launch(executed, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
               threads);
  grid.findings.tell(kernel.told);
  if (workspace) global_memory().free(workspace->base);
  for (const auto& [cluster, text] : grid.output) {
    if (cluster > grid.stopped)
      break;  // whether a later one has come to run depends on the number of threads
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  if (!grid.output.empty()) std::fflush(stdout);
  if (grid.counting) {
    std::vector<Counts>& counts = contexts[0]->worker.counts;
    for (uint64_t t = 1; t < threads; ++t) {
      for (size_t i = 0; i < counts.size(); ++i) counts[i] += contexts[t]->worker.counts[i];
    }
    record(*kernel.entry, functions, counts.data(), grid.ctas, grid.ctas * grid.warps, grid.findings.count());
  }
  if (grid.fault) std::fputs(to_text(*grid.fault).c_str(), stderr);
  return std::move(grid.fault);
}

const KernelInfo& info(const Kernel& kernel) {
  return kernel.info;
}

}  // namespace simulator
