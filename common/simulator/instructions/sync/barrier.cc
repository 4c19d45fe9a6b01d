// Barriers of a warp, a CTA, and a cluster (PTX ISA 9.7.13).
#include <algorithm>
#include <bit>

#include "common/simulator/access/names.h"
#include "common/simulator/access/release_acquire.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/instructions/sync/barrier_parts.h"
#include "common/simulator/instructions/sync/opcodes.h"
#include "common/simulator/machine/scheduler.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Type;

enum class Reduction : uint8_t { none, popc, all, any };

// How a barrier instruction was written (Inst::data).
struct BarrierUse {
  bool aligned = true, arrive = false, has_count = false;
  Reduction reduction = Reduction::none;
  bool negated = false;  // the predicate that is reduced
};

uint32_t expected_threads(const Cta& cta, const Barrier& barrier) {
  if (barrier.expected) return barrier.expected;
  return cta.unfinished * warp_size;
}

void finish(Cta& cta, uint32_t number) {
  Barrier& barrier = cta.barriers[number];
  if (cta.worker->checking) {
    SharedShadow& shadow = cta.cluster->shadow;
    uint32_t warps[64] = {};
    uint32_t count = 0;
    for (uint64_t left = barrier.warps; left; left &= left - 1)
      warps[count++] = cta.warps[static_cast<size_t>(std::countr_zero(left))].in_cluster;
    if (!barrier
             .expected) {  // of all threads: what warps did that have exited meanwhile comes before it, too
      for (const Warp& warp : cta.warps) {
        if (!warp.live) warps[count++] = warp.in_cluster;
      }
    }
    shadow.barrier(warps, count);
    if (!barrier.clock.empty()) {
      for (uint32_t i = 0; i < count; ++i) shadow.acquire(warps[i], barrier.clock);
    }
  }
  note_barrier_parts(cta, number);
  const uint32_t votes = barrier.votes, voters = barrier.voters;
  for (uint64_t left = barrier.warps; left; left &= left - 1) {
    Warp& warp = cta.warps[static_cast<size_t>(std::countr_zero(left))];
    for (Group& group : warp.others) {
      if (group.state != Group::State::barrier || group.barrier != number) continue;
      group.state = Group::State::ready;
      const Inst& inst = *group.waiting;
      const Reduction reduction = static_cast<const BarrierUse*>(inst.data)->reduction;
      if (reduction == Reduction::none) continue;
      if (reduction == Reduction::popc) {
        uint32_t* d = reinterpret_cast<uint32_t*>(group.frame->registers + inst.d);
        for (uint32_t lanes = group.lanes; lanes; lanes &= lanes - 1) d[std::countr_zero(lanes)] = votes;
      } else {
        uint32_t bits;
        std::memcpy(&bits, group.frame->registers + inst.d, 4);
        const bool value = reduction == Reduction::all ? votes == voters : votes != 0;
        bits = value ? bits | group.lanes : bits & ~group.lanes;
        std::memcpy(group.frame->registers + inst.d, &bits, 4);
      }
    }
  }
  barrier.expected = barrier.arrived = barrier.votes = barrier.voters = 0;
  barrier.warps = 0;
  barrier.clock.clear();
  barrier.open = false;
}

void try_finish(Cta& cta, uint32_t number) {
  const Barrier& barrier = cta.barriers[number];
  if (barrier.open && barrier.arrived >= expected_threads(cta, barrier) && barrier.warps) finish(cta, number);
}

// The operands of a barrier, of the first lane.
uint32_t barrier_number(Warp& warp, const Inst& inst) {
  const int lane = std::countr_zero(warp.exec);
  const uint32_t number = warp.reg<uint32_t>(inst.a)[lane];
  if (number >= warp.cta->barriers.size()) {
    fault(warp, FindingKind::illegal_instruction, "barrier " + std::to_string(number) + ": a CTA has 16",
          lane);
  }
  return number;
}

// With who is at the barrier already.
[[noreturn]] void wrong_arrival(const Warp& warp, uint32_t number, std::string what) {
  Finding found{FindingKind::illegal_instruction, std::move(what), {}, {}};
  found.site = site_of(warp, *warp.frame, warp.pc - 1, std::countr_zero(warp.exec) & 31);
  if (const auto parts = barrier_parts(*warp.cta, number); !parts.empty())
    found.details.push_back("there are already " + parts_by_place(*warp.cta, parts));
  throw Fault(std::move(found));
}

void arrive(Warp& warp, const Inst& inst, const BarrierUse& use, uint32_t number, uint32_t lanes) {
  Cta& cta = *warp.cta;
  Barrier& barrier = cta.barriers[number];
  const uint32_t count = use.has_count ? warp.reg<uint32_t>(inst.b)[std::countr_zero(lanes)] : 0;
  if (count % warp_size) {
    fault(warp, FindingKind::illegal_instruction,
          "barrier " + std::to_string(number) + " for " + std::to_string(count) +
              " threads: not a multiple of the warp size");
  }
  const auto threads_of = [&](uint32_t threads) { return threads ? threads : cta.unfinished * warp_size; };
  if (barrier.open && threads_of(barrier.expected) != threads_of(count)) {
    const auto wanted = [](uint32_t threads) {
      return threads ? std::to_string(threads) + " threads" : "all threads";
    };
    wrong_arrival(warp, number,
                  "barrier " + std::to_string(number) + " is for " + wanted(count) +
                      " here, but others wait at it for " + wanted(barrier.expected));
  }
  ++warp.worker->events;
  if (!barrier.open) barrier.expected = count;
  barrier.open = true;
  barrier.arrived += warp_size;
  if (barrier.arrived > expected_threads(cta, barrier)) {
    wrong_arrival(warp, number,
                  "more threads arrive at barrier " + std::to_string(number) + " than the " +
                      std::to_string(expected_threads(cta, barrier)) + " it is for");
  }
}

// What the lanes, all at this instruction, bring to a bar.red.
void vote(Barrier& barrier, const std::byte* registers, const Inst& inst, uint32_t lanes) {
  const BarrierUse& use = *static_cast<const BarrierUse*>(inst.data);
  if (use.reduction == Reduction::none) return;
  uint32_t predicate;
  std::memcpy(&predicate, registers + inst.c, 4);
  if (use.negated) predicate = ~predicate;
  barrier.votes += static_cast<uint32_t>(std::popcount(predicate & lanes));
  barrier.voters += static_cast<uint32_t>(std::popcount(lanes));
}

void run_barrier(Warp& warp, const Inst& inst) {
  if (!warp.enter_guard(inst)) return;
  const BarrierUse& use = *static_cast<const BarrierUse*>(inst.data);
  if (warp.exec != warp.live) return warp.wait(Group::State::convergence, warp.pc - 1);
  const uint32_t number = barrier_number(warp, inst);
  if (warp.live != warp.started && warp.worker->checking) {
    finding(warp, FindingKind::divergent_barrier,
            "barrier " + std::to_string(number) + " is reached by " +
                std::to_string(std::popcount(warp.live)) + " of the " +
                std::to_string(std::popcount(warp.started)) +
                " threads of this warp: " + lanes_text(warp.started & ~warp.live) + " exited without it");
  }
  arrive(warp, inst, use, number, warp.exec);
  vote(warp.cta->barriers[number], warp.registers, inst, warp.exec);
  Cta& cta = *warp.cta;
  Barrier& barrier = cta.barriers[number];
  if (use.arrive) {
    if (cta.worker->checking) cta.cluster->shadow.release(warp.in_cluster, barrier.clock);
    barrier.arrivals.push_back({warp.index, warp.frame->program->first + warp.pc - 1, false});
  } else {
    barrier.warps |= 1ull << warp.index;
    warp.wait(Group::State::barrier, warp.pc);
    warp.others.back().barrier = static_cast<uint8_t>(number);
    warp.others.back().waiting = &inst;
  }
  try_finish(cta, number);
}

// ---- The barrier of a cluster (PTX ISA 9.7.13.3): arriving and waiting are separate.

// Have all threads arrived that have not exited? Then the next phase begins.
void try_finish_cluster(Cluster& cluster) {
  const auto arrived = [](const Warp& warp) { return (warp.live & ~warp.cluster_arrived) == 0; };
  for (const auto& cta : cluster.ctas) {
    if (!std::all_of(cta->warps.begin(), cta->warps.end(), arrived)) return;
  }
  for (const auto& cta : cluster.ctas) {
    for (Warp& warp : cta->warps) warp.cluster_arrived = 0;
  }
  cluster.completed = std::move(cluster.arriving);
  cluster.arriving.clear();
}

// extra: not 0: .relaxed
void run_cluster_arrive(Warp& warp, const Inst& inst) {
  if (!warp.enter_guard(inst)) return;
  if (warp.cluster_to_wait & warp.exec) {
    fault(warp, FindingKind::illegal_instruction,
          "a thread arrives twice without barrier.cluster.wait between",
          std::countr_zero(warp.cluster_to_wait & warp.exec));
  }
  warp.cluster_arrived |= warp.exec;
  warp.cluster_to_wait |= warp.exec;
  ++warp.worker->events;
  Cluster& cluster = *warp.cta->cluster;
  if (warp.worker->checking) release_to(warp, cluster.arriving, inst.extra != 0);
  try_finish_cluster(cluster);
}

void run_cluster_wait(Warp& warp, const Inst& inst) {
  if (!warp.enter_guard(inst)) return;
  if (warp.exec & ~warp.cluster_to_wait) {
    fault(warp, FindingKind::illegal_instruction, "barrier.cluster.wait by a thread that has not arrived",
          std::countr_zero(warp.exec & ~warp.cluster_to_wait));
  }
  Cluster& cluster = *warp.cta->cluster;
  if (warp.exec & warp.cluster_arrived) try_finish_cluster(cluster);  // others may have exited
  if (warp.exec & warp.cluster_arrived) return warp.wait(Group::State::blocked, warp.pc - 1);
  warp.cluster_to_wait &= ~warp.exec;
  if (warp.worker->checking) cluster.shadow.acquire(warp.in_cluster, cluster.completed);
}

void run_warp_barrier(Warp& warp, const Inst& inst);

void decode_barrier(Decoder& d) {
  if (d.has("warp")) {
    d.has("sync");
    d.own_guard();
    d.inst().a = d.src(0, Type::b32);
    d.inst().inner = run_warp_barrier;
    return;
  }
  if (d.has("cluster")) {
    const bool wait = d.has("wait");
    if (!wait && !d.has("arrive")) d.unsupported("unknown barrier");
    d.has("aligned");
    const int order = d.one_of({"release", "acquire", "relaxed"});
    if (order >= 0 && wait != (order == 1)) d.unsupported("an order that this barrier does not have");
    d.own_guard();
    d.inst().extra = order == 2;
    d.inst().inner = wait ? run_cluster_wait : run_cluster_arrive;
    return;
  }
  BarrierUse use;
  use.aligned = d.ptx().opcode == "bar" || d.has("aligned");
  d.has("aligned");
  d.has("cta");
  const int kind = d.one_of({"sync", "arrive", "red"});
  if (kind < 0) d.unsupported("unknown barrier");
  use.arrive = kind == 1;
  d.own_guard();
  size_t next = 0;
  if (kind == 2) {
    const int reduction = d.one_of({"popc", "and", "or"});
    if (reduction < 0) d.unsupported("unknown reduction");
    use.reduction = static_cast<Reduction>(reduction + 1);
    const Type type = reduction == 0 ? Type::u32 : Type::pred;
    if (d.type() != type && !(reduction && d.has("pred"))) d.unsupported("unknown type");
    d.inst().d = d.dst(next++, type);
    d.early_clobber();
  }
  d.inst().a = d.src(next++, Type::u32);
  const size_t operands = d.operand_count() - next - (kind == 2);
  if (operands > 1) d.unsupported("too many operands");
  use.has_count = operands == 1;
  if (use.has_count) d.inst().b = d.src(next++, Type::u32);
  if (kind == 2) d.inst().c = d.predicate(d.operand(next), use.negated);
  d.inst().data = d.keep(use);
  d.inst().inner = run_barrier;
}

// __syncwarp: the lanes named in a mask may come from different instructions, and lanes at one instruction
// may name different masks. A lane goes on when all live lanes of its mask are here with the same mask.
void run_warp_barrier(Warp& warp, const Inst& inst) {
  if (!warp.enter_guard(inst)) return;
  uint32_t masks[warp_size] = {};  // of the lanes in `here`
  uint32_t here = 0;
  const auto note = [&](const std::byte* registers, uint32_t offset, uint32_t lanes) {
    here |= lanes;
    for (; lanes; lanes &= lanes - 1) {
      const size_t lane = static_cast<size_t>(std::countr_zero(lanes));
      std::memcpy(&masks[lane], registers + offset + lane * 4, 4);
    }
  };
  const auto waits = [&](const Group& group) {
    return group.state == Group::State::convergence &&
           group.frame->program->code[group.pc].inner == inst.inner;
  };
  note(warp.registers, inst.a, warp.exec);
  for (const Group& group : warp.others) {
    if (waits(group)) note(group.frame->registers, group.frame->program->code[group.pc].a, group.lanes);
  }
  uint32_t passing = 0;
  for (uint32_t left = here; left; left &= left - 1) {
    const uint32_t mask = masks[std::countr_zero(left)];
    uint32_t same = 0;
    for (uint32_t rest = here; rest; rest &= rest - 1) {
      if (masks[std::countr_zero(rest)] == mask) same |= rest & -rest;
    }
    if ((mask & warp.live & ~same) == 0) passing |= left & -left;
  }
  if (passing && warp.worker->checking) warp.cta->cluster->shadow.sync_warp(warp.in_cluster);
  const size_t known = warp.others.size();
  for (size_t i = 0; i < known; ++i) {
    Group& group = warp.others[i];
    if (!waits(group) || !(group.lanes & passing)) continue;
    warp.stop = 0;
    Group rest = group;
    rest.lanes &= ~passing;
    group.lanes &= passing;
    group.state = Group::State::ready;  // goes on behind its own instruction
    ++group.pc;
    if (rest.lanes) warp.others.push_back(rest);  // `group` is no longer valid
  }
  wait_for_others(warp, warp.exec & ~passing);
}

// No warp of the CTA can go on. Lanes of one warp that wait at different places of the same barrier are let
// through (and reported); false: there are none.
bool resolve_divergent_barriers(Cta& cta) {
  bool resolved = false;
  for (Warp& warp : cta.warps) {
    if (!warp.live) continue;
    // Every lane of the warp is at some barrier instruction, of the same barrier.
    const Inst* first = nullptr;
    uint32_t number = 0, lanes = 0;
    bool aligned = false;  // is there one that all lanes have to reach together?
    for (const Group& group : warp.others) {
      const Inst& inst = group.frame->program->code[group.pc];
      if (group.state != Group::State::convergence || inst.inner != run_barrier) break;
      const uint32_t own =
          reinterpret_cast<const uint32_t*>(group.frame->registers + inst.a)[std::countr_zero(group.lanes)];
      if ((first && own != number) || static_cast<const BarrierUse*>(inst.data)->arrive) break;
      if (!first) number = own;
      if (!first) first = &inst;
      lanes |= group.lanes;
      aligned |= static_cast<const BarrierUse*>(inst.data)->aligned;
    }
    if (!first || lanes != warp.live || number >= cta.barriers.size()) continue;
    const Group& at = warp.others.front();
    warp.exec = at.lanes;
    warp.frame = at.frame;
    warp.registers = at.frame->registers;
    warp.code = at.frame->program->code.data();
    warp.pc = at.pc + 1;
    if (aligned && cta.worker->checking) {
      std::vector<std::string> details;
      for (const Group& group : warp.others) {
        details.push_back(lanes_that(group.lanes, "wait") + " at " +
                          source_of(*group.frame, group.pc, std::countr_zero(group.lanes)));
      }
      finding(warp, FindingKind::divergent_barrier,
              "the threads of warp " + std::to_string(warp.index) +
                  " wait at different instructions for barrier " + std::to_string(number),
              -1, std::move(details));
    }
    arrive(warp, *first, *static_cast<const BarrierUse*>(first->data), number, warp.live);
    warp.exec = 0;
    cta.barriers[number].warps |= 1ull << warp.index;
    for (Group& group : warp.others) {
      group.waiting = &group.frame->program->code[group.pc];
      vote(cta.barriers[number], group.frame->registers, *group.waiting, group.lanes);
      group.state = Group::State::barrier;
      group.barrier = static_cast<uint8_t>(number);
      ++group.pc;
    }
    try_finish(cta, number);
    resolved = true;
  }
  return resolved;
}

// Of barrier.cluster: "32 of 64 threads have arrived".
std::string arrivals(const Cluster& cluster) {
  int arrived = 0, all = 0;
  for (const auto& cta : cluster.ctas) {
    for (const Warp& warp : cta->warps) {
      arrived += std::popcount(warp.cluster_arrived & warp.live);
      all += std::popcount(warp.live);
    }
  }
  return std::to_string(arrived) + " of " + std::to_string(all) + " threads have arrived";
}

class Barriers final : public Unit {
  void start(Cta& cta) override {
    cta.barriers.fill({});
    for (Warp& warp : cta.warps) {
      warp.cluster_arrived = warp.cluster_to_wait = 0;
      warp.fenced.clear();
      warp.unfenced.clear();
    }
  }
  void exited(Warp& warp) override {  // barriers may be complete without it
    for (uint32_t number = 0; number < warp.cta->barriers.size(); ++number) try_finish(*warp.cta, number);
  }
  void end(Cta& cta) override { explain_races(cta); }
  bool resolve(Cta& cta) override { return resolve_divergent_barriers(cta); }
  std::string waits(const Warp& warp, const Group& group) const override {
    const Cta& cta = *warp.cta;
    const Program& program = *group.frame->program;
    if (group.state == Group::State::barrier) {
      const Barrier& barrier = cta.barriers[group.barrier];
      std::string text = lanes_that(group.lanes, "wait") + " at barrier " + std::to_string(group.barrier) +
                         " at " + source_of(*group.frame, group.pc - 1, std::countr_zero(group.lanes)) +
                         ", where " + std::to_string(barrier.arrived) + " of " +
                         std::to_string(expected_threads(cta, barrier)) + " threads have arrived";
      if (!barrier.arrivals.empty())
        text += ", of them " + parts_by_place(cta, barrier.arrivals) + " without waiting";
      return text;
    }
    if (program.code[group.pc].inner != run_cluster_wait) return {};
    return lanes_that(group.lanes, "wait") + " at barrier.cluster at " +
           source_of(*group.frame, group.pc, std::countr_zero(group.lanes)) + ", where " +
           arrivals(*cta.cluster);
  }
  void describe(const Warp& warp, std::vector<std::string>& lines) const override {
    describe_mixed_barriers(warp, lines);
  }
};

}  // namespace

Unit& barrier_unit() {
  static Barriers unit;
  return unit;
}

std::span<const Opcode> barrier_opcodes() {
  static const Opcode table[] = {{"bar", decode_barrier}, {"barrier", decode_barrier}};
  return table;
}

}  // namespace simulator
