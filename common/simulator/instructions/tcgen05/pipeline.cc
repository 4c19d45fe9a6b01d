#include "common/simulator/instructions/tcgen05/pipeline.h"

#include <algorithm>
#include <bit>

#include "common/simulator/access/check_async.h"
#include "common/simulator/access/check_remote.h"
#include "common/simulator/access/check_tcgen05.h"
#include "common/simulator/access/release_acquire.h"
#include "common/simulator/instructions/sync/mbarrier.h"
#include "common/simulator/instructions/sync/mbarrier_life.h"
#include "common/simulator/instructions/tcgen05/opcodes.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/settings/settings.h"
#include "common/simulator/units/overlap.h"

namespace simulator {
namespace {

void land_one(Cta& cta) {
  Tcgen05Pipeline& pipeline = cta.state<Tcgen05Pipeline>();
  const std::unique_ptr<Tcgen05Operation> next = std::move(pipeline.waiting.front());
  pipeline.waiting.pop_front();
  ++pipeline.landed;
  next->land();
  ++cta.worker->events;
}

Site site(const Warp& warp, uint32_t lane, uint32_t pc) {
  const Program& program = *program_at(*warp.cta, pc);
  return site_of(warp, program, pc - program.first, static_cast<int>(lane));
}

void report(const Tcgen05Thread& thread, uint32_t pc, FindingKind kind, std::string what) {
  Finding found{kind, std::move(what), {}, site(*thread.warp, thread.lane, pc)};
  if (settings().checks == Checks::fail) throw Fault(std::move(found));
  thread.warp->cta->grid->findings.add(std::move(found));
}

void arrive(Cta& cta, Tcgen05Arrival& arrival) {
  Cta* const queue = arrival.thread->queue;
  while (queue && queue->state<Tcgen05Pipeline>().landed < arrival.end) land_one(*queue);
  arrival.arrived = true;
  const MbarrierArrival by{"a tcgen05.commit", *arrival.thread->warp, arrival.thread->lane, arrival.pc};
  if (arrives_late(cta, arrival.mbarrier, arrival.phase, by)) return;
  arrival.phase = mbarrier_phase(cta, arrival.mbarrier);
  const std::string problem = arrive_asynchronously(cta, arrival.mbarrier, arrival.clock);
  if (!problem.empty())
    throw Fault({FindingKind::illegal_instruction,
                 problem,
                 {},
                 site(*arrival.thread->warp, arrival.thread->lane, arrival.pc)});
}

// Its number among the queues of MMAs of its CTA.
uint32_t queue_of(const Tcgen05Thread& thread) {
  return thread_index(*thread.warp, thread.lane);
}

// The warp has waited for the operations that the commit covers.
void seen(Warp& warp, const Tcgen05Arrival& arrival) {
  Tcgen05Thread& thread = *arrival.thread;
  uint64_t& before = thread.seen[warp.in_cluster];
  if (before >= arrival.before) return;
  for (Tcgen05Thread::Operation& each : thread.operations) {
    if (each.number < before) continue;
    if (each.number >= arrival.before) break;
    async_seen(warp, each.shared);
    each.seen = true;
  }
  before = arrival.before;
  tcgen05_seen(warp, arrival.last);
  overlap_end(warp, thread.warp->cta->rank, queue_of(thread), arrival.before, true);
}

// Operations that no access can meet any more.
void forget(Tcgen05Thread& thread) {
  const AsyncAccesses& accesses = thread.warp->cta->cluster->async_accesses;
  std::erase_if(thread.operations, [&](const Tcgen05Thread::Operation& each) {
    return each.seen && !accesses.knows(each.shared);
  });
}

Tcgen05Thread& thread_of(Warp& warp, uint32_t lane) {
  Tcgen05Thread& thread = warp.cta->state<Tcgen05Pipeline>().threads[thread_index(warp, lane)];
  thread.warp = &warp;
  thread.lane = lane;
  return thread;
}

void end_commits_for(Cta& cta, uint32_t mbarrier) {
  const uint64_t phase = mbarrier_phase(cta, mbarrier);
  for (Tcgen05Arrival& arrival : cta.state<Tcgen05Pipeline>().arrivals) {
    if (arrival.mbarrier != mbarrier || arrival.arrived) continue;
    arrive(cta, arrival);
    if (mbarrier_phase(cta, mbarrier) != phase) return;
  }
}

void commits_seen(Warp& warp, Cta& cta, uint32_t mbarrier) {
  const uint64_t phase = mbarrier_phase(cta, mbarrier);
  std::erase_if(cta.state<Tcgen05Pipeline>().arrivals, [&](const Tcgen05Arrival& arrival) {
    if (arrival.mbarrier != mbarrier || !arrival.arrived) return false;
    if (arrival.phase + 1 == phase && warp.worker->checking) seen(warp, arrival);
    return arrival.phase + 1 < phase;
  });
}

void end_tcgen05_operations_at_random(Cta& cta, uint64_t random) {
  const auto one_in_four = [&] {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 40 & 3) == 0;
  };
  while (!cta.state<Tcgen05Pipeline>().waiting.empty() && !one_in_four()) land_one(cta);
  for (Tcgen05Arrival& arrival : cta.state<Tcgen05Pipeline>().arrivals) {
    if (!arrival.arrived && one_in_four()) arrive(cta, arrival);
  }
}

void end_tcgen05_pipeline(Cta& cta) {
  if (!cta.worker->checking) return;
  for (const auto& [number, thread] : cta.state<Tcgen05Pipeline>().threads) {
    for (const Tcgen05Thread::Operation& each : thread.operations) {
      if (!each.seen) {
        report(thread, each.pc, FindingKind::unfinished_async,
               "a tcgen05 operation may still be in flight when the CTA ends: no thread has waited for it");
      }
    }
  }
}

// Threads of the CTA whose last operations no commit follows.
void describe_uncommitted(const Cta& cta, std::vector<std::string>& lines) {
  for (const auto& [number, thread] : cta.state<Tcgen05Pipeline>().threads) {
    const uint64_t count = thread.issued - thread.committed;
    if (count == 0) continue;
    lines.push_back("  no tcgen05.commit follows the last " + std::to_string(count) +
                    " operations of thread " + thread_name(cta, number) + ", of which the last is at " +
                    place_of(cta, thread.last_pc));
  }
}

class Pipeline final : public Unit {
  void start(Cta& cta) override { cta.make<Tcgen05Pipeline>() = {}; }
  void end(Cta& cta) override { end_tcgen05_pipeline(cta); }
  bool pending(const Cta& cta) const override { return cta.state<Tcgen05Pipeline>().busy(); }
  void land_at_random(Cta& cta, uint64_t random) override { end_tcgen05_operations_at_random(cta, random); }
  void land_for(Cta& cta, uint32_t mbarrier) override { end_commits_for(cta, mbarrier); }
  void seen(Warp& warp, Cta& cta, uint32_t mbarrier) override { commits_seen(warp, cta, mbarrier); }
  void describe(const Cta& cta, uint32_t, std::vector<std::string>& lines) const override {
    for (const auto& each : cta.cluster->ctas) describe_uncommitted(*each, lines);
  }
};

}  // namespace

Unit& tcgen05_pipeline_unit() {
  static Pipeline unit;
  return unit;
}

void fail(const Tcgen05Operation& operation, FindingKind kind, std::string what) {
  throw Fault({kind, std::move(what), {}, site(*operation.warp, operation.lane, operation.pc)});
}

void begin_tcgen05_operation(Warp& warp, uint32_t lane, std::unique_ptr<Tcgen05Operation> operation) {
  constexpr size_t many = 256;
  Tcgen05Thread& thread = thread_of(warp, lane);
  thread.queue = operation->of_pair ? warp.cta->cluster->ctas[warp.cta->rank & ~1u].get() : warp.cta;
  thread.last_pc = warp.frame->program->first + warp.pc - 1;
  thread.last = operation->tensor;
  operation->warp = &warp;
  operation->lane = lane;
  operation->pc = thread.last_pc;
  if (warp.worker->checking) {
    if (thread.operations.size() % many == many - 1) forget(thread);
    thread.operations.push_back({thread.issued, thread.last_pc, operation->shared, false});
  }
  if (thread.committed == thread.issued) overlap_begin(warp, queue_of(thread), thread.issued);
  Tcgen05Pipeline& pipeline = thread.queue->state<Tcgen05Pipeline>();
  pipeline.waiting.push_back(std::move(operation));
  thread.end = pipeline.landed + pipeline.waiting.size();
  ++thread.issued;
  ++warp.worker->events;
  ++warp.writes;
}

void begin_tcgen05_commit(Warp& warp, uint32_t lane, uint32_t mbarrier, uint32_t mask) {
  const auto& ctas = warp.cta->cluster->ctas;
  const uint32_t rank = mbarrier >> rank_shift;
  if (rank >= ctas.size() || mask >> ctas.size())
    fault(warp, FindingKind::illegal_address, "the cluster has no CTA of that rank", static_cast<int>(lane));
  Tcgen05Thread& thread = thread_of(warp, lane);
  thread.committed = thread.issued;
  Tcgen05Arrival arrival;
  arrival.thread = &thread;
  arrival.before = thread.issued;
  arrival.end = thread.end;
  arrival.last = thread.last;
  arrival.pc = warp.frame->program->first + warp.pc - 1;
  arrival.mbarrier = mbarrier & offset_in_cta;
  if (warp.worker->checking) release_to(warp, arrival.clock, false);
  for (uint32_t left = mask ? mask : 1u << rank; left; left &= left - 1) {
    Cta& cta = *ctas[static_cast<size_t>(std::countr_zero(left))];
    check_presence(warp, static_cast<int>(lane), cta);
    check_mbarrier(warp, cta, arrival.mbarrier);
    arrival.phase = mbarrier_phase(cta, arrival.mbarrier);
    cta.state<Tcgen05Pipeline>().arrivals.push_back(arrival);
  }
  ++warp.worker->events;
  ++warp.writes;
}

}  // namespace simulator
