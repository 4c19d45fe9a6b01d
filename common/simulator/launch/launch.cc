#include "common/simulator/launch/launch.h"

// CTAs and grids: CPU threads take clusters (without clusters: single CTAs) in order. The CTAs of a cluster
// take turns. Where clusters can see in which order they run (Program::order_sensitive), one thread runs them
// all and switches between them, so that the result is the same for any number of threads.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <span>
#include <thread>

#include "common/simulator/instructions/opcodes.h"
#include "common/simulator/launch/clusters.h"
#include "common/simulator/launch/deadlock.h"
#include "common/simulator/launch/progress.h"
#include "common/simulator/launch/turns.h"
#include "common/simulator/launch/waiting.h"
#include "common/simulator/machine/cluster_queue.h"
#include "common/simulator/reports/registry.h"
#include "common/simulator/reports/speed.h"
#include "common/simulator/reports/trace_file.h"
#include "common/simulator/settings/device.h"
#include "common/simulator/settings/settings.h"
#include "common/simulator/units/overlap.h"

namespace simulator {
namespace {

// What a CPU thread keeps from launch to launch.
struct Context {
  Worker worker;
  std::vector<std::unique_ptr<Cluster>> idle;
};

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

// Is it time to look for a deadlock although warps are busy? They may be spinning: until then a store of the
// value that is there already counts as progress, too.
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
void work(Context& context, Progress& progress) {
  Grid& grid = *context.worker.grid;
  Progress::Thread pulse(progress, context.worker);
  std::vector<std::unique_ptr<Cluster>> running;
  running.push_back(take_idle(context));
  Cluster& cluster = *running.front();
  const auto run_cluster = [&](uint64_t index) {
    Waiting waiting;
    bool done = false;
    guarded(grid, cluster, [&] {
      start(cluster, context.worker, index);
      while (const uint64_t before = unfinished(cluster)) {
        if (index > grid.stopped || pulse.step(running)) break;
        pulse.check_limit(running);
        const uint64_t events = context.worker.events;
        const bool any = advance(cluster);
        const bool busy =
            any && (unfinished(cluster) != before || context.worker.events != events || short_turns(grid));
        if (waiting.too_long(context.worker, running)) deadlock(running, true);
        if (busy && !time_to_probe(context.worker)) continue;
        if (resolve(cluster)) continue;
        if (unfinished(cluster) && stuck(cluster)) deadlock(running);
      }
      done = unfinished(cluster) == 0;
    });
    if (unfinished(cluster)) abandon(cluster);
    if (done) pulse.finished(cluster.ctas.size());
  };
  for (uint64_t queue; (queue = grid.next++) < grid.queues;) {
    for (uint64_t index = queue; index < grid.clusters && index <= grid.stopped; index = cluster.waiting) {
      run_cluster(index);
      if (pulse.step(running)) break;
    }
  }
  context.idle.push_back(std::move(running.front()));
}

// All clusters by one thread, in turns; one is started when those before it have had their chance.
void work_in_order(Context& context, uint64_t resident, Progress& progress) {
  Grid& grid = *context.worker.grid;
  Progress::Thread pulse(progress, context.worker);
  Waiting waiting;
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
    if (pulse.step(running)) break;
    guarded(grid, *running.front(), [&] { pulse.check_limit(running); });
    const uint64_t events = context.worker.events;
    uint64_t finished = 0;
    for (size_t i = 0; i < running.size() && grid.stopped == ~0ull;) {
      Cluster& cluster = *running[i];
      guarded(grid, cluster, [&] {
        if (!advance(cluster)) resolve(cluster);
      });
      if (unfinished(cluster)) {
        ++i;
        continue;
      }
      ++finished;
      pulse.finished(cluster.ctas.size());
      context.idle.push_back(std::move(running[i]));
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
    idle_turns = context.worker.events == events ? idle_turns + 1 : 0;
    if (finished) continue;
    if (can_begin()) {  // as many again as there are; those of the next window where nothing else helps
      constexpr uint64_t patience = 8;  // with a seed a turn may be short
      const uint64_t in_window = grid.window - grid.next % grid.window;
      if (grid.seed && in_window == grid.window && idle_turns < patience) continue;
      const uint64_t more = std::min<uint64_t>(running.size(), grid.seed ? in_window : ~0ull);
      for (uint64_t i = 0; i < more && can_begin() && grid.stopped == ~0ull; ++i) begin();
      continue;
    }
    const bool idle = idle_turns >= (short_turns(grid) ? 512 : 2);
    const bool too_long = waiting.too_long(context.worker, running);
    if ((!idle && !too_long && !time_to_probe(context.worker)) || running.empty() || grid.stopped != ~0ull)
      continue;
    idle_turns = 0;
    const uint64_t now = context.worker.events;
    guarded(grid, *running.front(), [&] {
      if (too_long) deadlock(running, true);
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

// How many queues the clusters wait in: at most as many as run at once and, in a kernel that cancels
// launches, few enough that several wait in each.
uint64_t queues_of(const Grid& grid, uint64_t at_once) {
  if (!grid.entry->cancels_launches) return grid.clusters;
  constexpr uint64_t in_a_queue = 3;
  const uint64_t most = std::max<uint64_t>(1, std::min(grid.clusters, at_once));
  if (grid.seed == 0) return std::min(most, (grid.clusters + in_a_queue - 1) / in_a_queue);
  uint64_t random = grid.seed ^ grid.id;
  return 1 + next_random(random) % most;
}

uint64_t ctas_of_cluster(const Launch& launch) {
  return uint64_t{launch.cluster[0]} * launch.cluster[1] * launch.cluster[2];
}

// How many of its clusters a GPU has running at once.
uint64_t resident_clusters(const Grid& grid) {
  const uint64_t by_threads = uint64_t(device().max_threads_per_sm) / (uint64_t{grid.warps} * warp_size);
  const uint64_t by_shared = device().shared_per_sm / grid.shared_bytes;  // what the system keeps is in it
  const uint64_t ctas =
      uint64_t(device().multiprocessors) *
      std::clamp<uint64_t>(std::min(by_threads, by_shared), 1, uint64_t(device().max_blocks_per_sm));
  return ctas / ctas_of_cluster(grid.launch);
}

void describe(Grid& grid, const Kernel& kernel, const Launch& launch) {
  grid.kernel = &kernel;
  grid.entry = kernel.entry;
  grid.launch = launch;
  grid.units = all_units();
  grid.ctas = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  grid.clusters = grid.launched = grid.ctas / ctas_of_cluster(launch);
  grid.threads = launch.block[0] * launch.block[1] * launch.block[2];
  grid.warps = (grid.threads + warp_size - 1) / warp_size;
  grid.shared_bytes = kernel.static_shared_end + static_cast<uint32_t>(launch.dynamic_shared);
  grid.seed = settings().seed;
  grid.counting = counting();
  grid.checking = settings().checks != Checks::off;
  grid.observer = &overlap_unit();
  for (Unit* unit : grid.units) unit->launch(grid);
}

// Of cooperative launches: {size, barrier, …}: cooperative groups count arrivals in it.
class Workspace {
 public:
  explicit Workspace(Grid& grid) {
    if (!grid.launch.cooperative) return;
    constexpr uint64_t bytes = 4096;
    memory_ = global_memory().allocate(bytes, Allocation::Kind::variable, "grid workspace");
    if (!memory_) return;
    std::memset(memory_->backing, 0, bytes);
    global_memory().mark_written(memory_->base, bytes);
    grid.workspace = memory_->base;
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() {
    if (memory_) global_memory().free(memory_->base);
  }

 private:
  const Allocation* memory_ = nullptr;
};

// Of a large launch only some clusters run, where settings().ctas says so. Not where they may wait for each
// other: all of them do.
void leave_out(Grid& grid) {
  const uint64_t most = settings().ctas;
  if (most == 0 || grid.clusters <= most) return;
  const bool needs_all = grid.entry->order_sensitive || grid.launch.cooperative;
  if (!needs_all) {
    grid.clusters = most;
    grid.ctas = most * ctas_of_cluster(grid.launch);
  }
  if (!needs_all && !settings().tell_ctas) return;
  const uint64_t all = grid.launched * ctas_of_cluster(grid.launch);
  const std::string line =
      needs_all ? "all " + std::to_string(all) + " CTAs run, since they may wait for each other"
                : "only " + std::to_string(grid.ctas) + " of " + std::to_string(all) + " CTAs run";
  std::fprintf(stderr, "simulator: of %s %s\n", grid.kernel->shown.c_str(), line.c_str());
}

void prepare(Worker& worker, Grid& grid) {
  worker.grid = &grid;
  worker.executed = worker.events = worker.private_events = worker.probed = 0;
  worker.probing = false;
  worker.recent.fill(Allocation{});
  worker.counting = grid.counting;
  worker.checking = grid.checking;
  worker.counts.assign(grid.counting ? grid.kernel->instructions : 0, Counts{});
  worker.overlap.assign(worker.counts.size(), Overlap{});
}

// Once.
void note_debug_build() {
  static const int printed = std::fputs(
      "simulator: built with -G: local variables that nothing has written, what an atomic exchange replaces, "
      "and registers\nsimulator: of wgmma and tcgen05.ld before their wait, are not checked. -lineinfo "
      "without -G has all checks.\n",
      stderr);
  static_cast<void>(printed);
}

// All clusters, by the threads that these are for.
void run_clusters(Grid& grid, std::span<const std::unique_ptr<Context>> contexts, uint64_t resident) {
  for (const auto& context : contexts) prepare(context->worker, grid);
  const auto begin = std::chrono::steady_clock::now();
  Progress progress(grid);
  if (grid.queues == 0) {
    work_in_order(*contexts[0], resident, progress);
  } else {
    std::vector<std::jthread> others;
    for (const auto& context : contexts.subspan(1))
      others.emplace_back([each = context.get(), &progress] { work(*each, progress); });
    work(*contexts[0], progress);
  }
  uint64_t executed = 0;
  for (const auto& context : contexts) executed += context->worker.executed;
  count_launch(executed, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
               contexts.size());
}

void print_output(const Grid& grid) {
  for (const auto& [cluster, text] : grid.output) {
    if (cluster > grid.stopped)
      break;  // whether a later one has come to run depends on the number of threads
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  if (!grid.output.empty()) std::fflush(stdout);
}

void add_counts(Grid& grid, const std::vector<const Program*>& functions,
                std::span<const std::unique_ptr<Context>> contexts) {
  Worker& sum = contexts[0]->worker;
  for (const auto& context : contexts.subspan(1)) {
    for (size_t i = 0; i < sum.counts.size(); ++i) {
      sum.counts[i] += context->worker.counts[i];
      sum.overlap[i] += context->worker.overlap[i];
    }
  }
  const uint64_t left_out = (grid.launched - grid.clusters) * ctas_of_cluster(grid.launch);
  record(*grid.entry, functions, sum.counts.data(), sum.overlap.data(), grid.ctas, grid.ctas * grid.warps,
         grid.findings.count(), left_out);
}

}  // namespace

std::optional<Finding> run(const Kernel& kernel, const Launch& launch, const std::byte* params) {
  static std::mutex one_at_a_time;
  static std::vector<std::unique_ptr<Context>> contexts;
  static uint64_t launches = 0;
  const std::lock_guard lock(one_at_a_time);

  Grid grid;
  describe(grid, kernel, launch);
  grid.params = params;
  grid.id = ++launches;
  if (!kernel.info.unsupported.empty()) {
    Finding refused{FindingKind::not_supported, kernel.info.unsupported.front(), {}, {}};
    refused.site.kernel = kernel.shown;
    return refused;
  }
  leave_out(grid);
  if (grid.checking && kernel.entry->module->debug) note_debug_build();
  std::vector<const Program*> functions;
  for (const auto& program : kernel.programs) functions.push_back(program.get());
  const std::unique_ptr<Trace> trace = begin_trace(*kernel.entry, functions, grid.id);
  grid.trace = trace.get();
  grid.counting |= trace != nullptr;

  const uint64_t resident = resident_clusters(grid);
  uint64_t threads = 1;
  if (!kernel.entry->order_sensitive && !launch.cooperative) {
    grid.queues = queues_of(grid, resident);
    threads = settings().threads > 0 ? uint64_t(settings().threads)
                                     : std::max(1u, std::thread::hardware_concurrency());
    threads = std::min(threads, grid.queues);
  }
  constexpr uint64_t in_a_window =
      256;  // one after the other, each may have to wait for the next: no more, for time
  grid.window = std::max<uint64_t>(1, grid.queues == 0 ? std::min(resident, in_a_window) : grid.clusters);
  while (contexts.size() < threads) contexts.push_back(std::make_unique<Context>());
  const std::span<const std::unique_ptr<Context>> used(contexts.data(), threads);
  {
    const Workspace workspace(grid);
    run_clusters(grid, used, std::max<uint64_t>(1, resident));
  }
  grid.findings.report(kernel.reported);
  print_output(grid);
  if (grid.counting) add_counts(grid, functions, used);
  if (grid.fault) std::fputs(to_text(*grid.fault).c_str(), stderr);
  return std::move(grid.fault);
}

}  // namespace simulator
