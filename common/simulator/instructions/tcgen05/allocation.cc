#include "common/simulator/instructions/tcgen05/allocation.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simulator/access/check_tcgen05.h"
#include "common/simulator/access/names.h"
#include "common/simulator/decode/memory_operand.h"
#include "common/simulator/instructions/tcgen05/common.h"
#include "common/simulator/instructions/tcgen05/opcodes.h"
#include "common/simulator/machine/scheduler.h"
#include "common/simulator/settings/settings.h"
#include "common/simulator/units/tcgen05_accesses.h"
#include "common/simulator/units/tcgen05_allocator.h"

namespace simulator {
namespace {

using ptx::Type;

struct AllocationUse {
  AddressUse to;  // alloc: where the address goes
  uint32_t cta_group = 1;
};

bool strict(const Warp& warp) {
  return warp.worker->checking && settings().strict;
}

// .sync.aligned. Some kernels have one thread free what all have used, and hardware lets them.
bool together(Warp& warp, const Inst& inst) {
  if (!warp.enter_guard(inst)) return false;
  if (warp.exec != warp.live && warp.exec != warp.state<Tcgen05Allocations>().without_others) {
    wait_for_others(warp, warp.exec);
    return false;
  }
  warp.state<Tcgen05Allocations>().without_others = 0;
  if (warp.exec != ~0u && strict(warp)) {
    finding(warp, FindingKind::invalid_shuffle,
            "all 32 threads of a warp have to execute this, but only " +
                std::to_string(std::popcount(warp.exec)) + " are there");
  }
  return true;
}

// All lanes have the same value there.
uint32_t uniform(Warp& warp, uint32_t offset, const char* name) {
  const uint32_t* values = warp.reg<uint32_t>(offset);
  const int first = std::countr_zero(warp.exec);
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    if (const int lane = std::countr_zero(left); values[lane] != values[first])
      fault(warp, FindingKind::illegal_instruction, std::string("the lanes have different ") + name, lane);
  }
  return values[first];
}

uint32_t columns_of(Warp& warp, const Inst& inst) {
  const uint32_t columns = uniform(warp, inst.b, "nCols");
  if (columns < 32 || columns > tcgen05_columns || !std::has_single_bit(columns)) {
    fault(warp, FindingKind::illegal_instruction,
          std::to_string(columns) +
              " columns: \"The operand nCols must be within the range [32, 512]\" and a power of 2");
  }
  return columns;
}

Cta& peer_of(Warp& warp) {
  const auto& ctas = warp.cta->cluster->ctas;
  const uint32_t rank = warp.cta->rank ^ 1;
  if (rank >= ctas.size()) {
    fault(warp, FindingKind::illegal_instruction,
          ".cta_group::2 in a CTA that has no peer: its cluster has " + std::to_string(ctas.size()) +
              (ctas.size() == 1 ? " CTA" : " CTAs"));
  }
  return *ctas[rank];
}

// The instruction is tried again until what it waits for is there.
void again(Warp& warp) {
  warp.wait(Group::State::blocked, warp.pc - 1);
}

// ---- alloc

// Where there is room in all of these; nullopt: nowhere.
std::optional<uint32_t> find(const Warp& warp, std::initializer_list<const Cta*> ctas, uint32_t columns) {
  const bool high = strict(warp) && warp.cta->grid->seed;
  const uint32_t step = high ? columns : 32, places = (tcgen05_columns - columns) / step + 1;
  for (uint32_t i = 0; i < places; ++i) {
    const uint32_t column = (high ? places - 1 - i : i) * step;
    if (std::all_of(ctas.begin(), ctas.end(),
                    [&](const Cta* cta) { return tcgen05_memory(*cta).is_free(column, columns); }))
      return column;
  }
  return {};
}

void check_allocation(Warp& warp, uint32_t columns) {
  if (!warp.worker->checking) return;
  const Tcgen05Allocator& known = warp.cta->state<Tcgen05Allocator>();
  if (known.relinquished) {
    finding(warp, FindingKind::tensor_allocation,
            "\"it is illegal for a CTA to perform tcgen05.alloc after any of its constituent threads execute "
            "tcgen05.relinquish_alloc_permit\"",
            -1, {"that was at " + place_of(*warp.cta, *known.relinquished)});
  }
  if (known.columns && columns > known.columns) {
    finding(warp, FindingKind::tensor_allocation,
            std::to_string(columns) + " columns after " + std::to_string(known.columns) +
                ": \"The number of columns allocated should not increase between any two allocations in the "
                "execution order within the CTA\"",
            -1, {"the earlier tcgen05.alloc is at " + place_of(*warp.cta, known.pc)});
  }
}

// The address goes to shared memory, and every thread of the warp can read it there at once ("maintain
// same-address ordering", 9.7.16.6.1).
void write_address(Warp& warp, const Inst& inst, uint32_t address) {
  const AddressUse& use = static_cast<const AllocationUse*>(inst.data)->to;
  const uint32_t exec = warp.exec;
  const bool full = warp.full;
  const int lane = std::countr_zero(exec);
  warp.exec = 1u << lane;
  warp.full = false;
  Resolved at;
  resolve(warp, inst, use, at);
  if (!at.shared)
    fault(warp, FindingKind::illegal_address, "the address of tensor memory goes to shared memory", lane);
  uint32_t values[warp_size];
  std::fill_n(values, warp_size, address);
  std::memcpy(at.at[lane], &address, sizeof address);
  stored(warp, inst, use, at, reinterpret_cast<const std::byte*>(values));
  warp.exec = exec;
  warp.full = full;
  if (warp.worker->checking) warp.cta->cluster->shadow.sync_warp(warp.in_cluster);
}

void allocate(Warp& warp, const Inst& inst, uint32_t column, uint32_t columns) {
  Cta& cta = *warp.cta;
  check_allocation(warp, columns);
  cta.state<Tcgen05Allocator>().columns = columns;
  cta.state<Tcgen05Allocator>().pc = warp.frame->program->first + warp.pc - 1;
  tcgen05_memory(cta).allocate(column, columns, cta.state<Tcgen05Allocator>().pc);
  write_address(warp, inst, column);
  ++warp.worker->events;
  ++warp.writes;
}

// "When .cta_group::2 is specified, the issuing warp must make sure that peer CTA is launched" (PTX ISA,
// tcgen05.alloc).
void check_peer(Warp& warp) {
  const Cta& peer = peer_of(warp);
  if (!warp.worker->checking || warp.cta->cluster->shadow.knows_cta(warp.in_cluster, peer.rank)) return;
  finding(warp, FindingKind::absent_cta,
          "tcgen05.alloc with .cta_group::2, and " + name_of_cta(peer) +
              " may not have started: \"the issuing warp must make sure that peer CTA is launched\", by a "
              "barrier.cluster of all threads before this");
}

// The warps of both CTAs have to request the same. True: they have, and there is room, from request->column
// on.
bool agreed(Warp& warp, bool allocates, uint32_t column, uint32_t columns) {
  std::optional<Tcgen05Request>& mine = warp.cta->state<Tcgen05Allocator>().request;
  std::optional<Tcgen05Request>& other = peer_of(warp).state<Tcgen05Allocator>().request;
  if (mine && mine->warp != &warp) return false;  // another warp of this CTA waits
  if (!mine) {
    mine = Tcgen05Request{&warp, allocates, column, columns, false};
    ++warp.worker->events;
  }
  if (mine->granted) return true;
  if (!other || other->granted) return false;
  if (other->allocates != allocates || other->columns != columns) {
    const auto name = [](const Tcgen05Request& request) {
      return std::string("tcgen05.") + (request.allocates ? "alloc of " : "dealloc of ") +
             std::to_string(request.columns) + " columns";
    };
    fault(warp, FindingKind::illegal_instruction,
          "the CTAs of a pair have to allocate and free tensor memory together: a " + name(*mine) +
              " meets a " + name(*other));
  }
  if (allocates) {
    const auto found = find(warp, {warp.cta, &peer_of(warp)}, columns);
    if (!found) return false;
    mine->column = other->column = *found;
  }
  mine->granted = other->granted = true;
  return true;
}

void run_alloc(Warp& warp, const Inst& inst) {
  if (!together(warp, inst)) return;
  const uint32_t columns = columns_of(warp, inst);
  if (static_cast<const AllocationUse*>(inst.data)->cta_group == 1) {
    const auto column = find(warp, {warp.cta}, columns);
    return column ? allocate(warp, inst, *column, columns) : again(warp);
  }
  if (!warp.cta->state<Tcgen05Allocator>().request) check_peer(warp);
  if (!agreed(warp, true, 0, columns)) return again(warp);
  const uint32_t column = warp.cta->state<Tcgen05Allocator>().request->column;
  warp.cta->state<Tcgen05Allocator>().request.reset();
  allocate(warp, inst, column, columns);
}

// ---- dealloc

void run_dealloc(Warp& warp, const Inst& inst) {
  if (!together(warp, inst)) return;
  const uint32_t address = uniform(warp, inst.a, "taddr"), columns = columns_of(warp, inst);
  Cta& cta = *warp.cta;
  if (static_cast<const AllocationUse*>(inst.data)->cta_group == 2) {
    peer_of(warp);
    // It "may block" for the peer's: some kernels free before the last barrier of the cluster.
    if (strict(warp)) {
      if (!agreed(warp, false, address, columns)) return again(warp);
      cta.state<Tcgen05Allocator>().request.reset();
    }
  }
  const auto& known = tcgen05_memory(cta).allocations();
  const auto found = std::find_if(known.begin(), known.end(), [=](const Tcgen05Memory::Allocation& each) {
    return each.column == address;
  });
  const std::string begin =
      "tcgen05.dealloc of " + std::to_string(columns) + " columns at column " + std::to_string(address);
  ++warp.worker->events;
  if (found == known.end()) {
    const uint32_t column = tcgen05_column(address);
    const std::string why = column < tcgen05_columns && tcgen05_lane(address) == 0
                                ? ", which " + std::string(tcgen05_memory(cta).state_of(column))
                                : "";
    if (warp.worker->checking) {
      finding(warp, FindingKind::tensor_allocation,
              begin + why + ": \"The operand taddr must point to a previous Tensor Memory allocation\"");
    }
    return;
  }
  if (found->columns != columns && warp.worker->checking) {
    finding(warp, FindingKind::tensor_allocation,
            begin + ", where " + std::to_string(found->columns) + " were allocated", -1,
            {"that was at " + place_of(cta, found->pc)});
  }
  const uint32_t freed = found->columns;
  if (const Tcgen05Accesses::Id id = tcgen05_begin(warp, 0, Tcgen05Accesses::Kind::free)) {
    tcgen05_access(warp, id, cta, {Tcgen05Lanes::all(), address, freed}, false, true, "");
    tcgen05_accesses(*cta.cluster).forget(cta.rank, address, freed);
  }
  tcgen05_memory(cta).free(address, freed, warp.frame->program->first + warp.pc - 1);
}

void run_relinquish(Warp& warp, const Inst& inst) {
  if (!together(warp, inst)) return;
  auto& relinquished = warp.cta->state<Tcgen05Allocator>().relinquished;
  if (!relinquished) relinquished = warp.frame->program->first + warp.pc - 1;
}

bool is_allocation(const Inst& inst) {
  return inst.inner == run_alloc || inst.inner == run_dealloc || inst.inner == run_relinquish;
}

void check_tcgen05_leak(Warp& warp, int lane) {
  for (const Tcgen05Memory::Allocation& each : tcgen05_memory(*warp.cta).allocations()) {
    finding(warp, FindingKind::tensor_allocation,
            std::to_string(each.columns) + " columns of tensor memory at column " +
                std::to_string(each.column) +
                " are still allocated when the CTA exits: \"All of the Tensor Memory that was allocated in a "
                "kernel, must be explicitly deallocated before the kernel exits\"",
            lane, {"the tcgen05.alloc is at " + place_of(*warp.cta, each.pc)});
  }
}

bool resolve_divergent_allocations(Cta& cta) {
  for (Warp& warp : cta.warps) {
    for (Group& group : warp.others) {
      if (group.state != Group::State::convergence || !is_allocation(group.frame->program->code[group.pc]))
        continue;
      group.state = Group::State::ready;
      warp.state<Tcgen05Allocations>().without_others = group.lanes;
      return true;
    }
  }
  return false;
}

// What the warp waits for at one of these instructions.
std::string waited_for(const Warp& warp) {
  const Cta& cta = *warp.cta;
  const std::optional<Tcgen05Request>& request = cta.state<Tcgen05Allocator>().request;
  if (request && request->warp != &warp) return "wait for another warp's tcgen05.alloc or .dealloc";
  if (request) {
    const Cta& peer = *cta.cluster->ctas[cta.rank ^ 1];
    if (!peer.state<Tcgen05Allocator>().request) {
      return std::string("wait for the peer CTA to execute the same tcgen05.") +
             (request->allocates ? "alloc" : "dealloc");
    }
  }
  std::string text = "wait for free columns of tensor memory, of which are allocated";
  for (const Tcgen05Memory::Allocation& each : tcgen05_memory(cta).allocations()) {
    text += ' ' + std::to_string(each.column) + " to " + std::to_string(each.column + each.columns - 1) +
            " (at " + place_of(cta, each.pc) + ')';
  }
  return text;
}

class Allocations final : public Unit {
  void start(Cta& cta) override {
    cta.make<Tcgen05OfCta>().memory.reset();
    cta.make<Tcgen05Allocator>() = {};
    for (Warp& warp : cta.warps) warp.make<Tcgen05Allocations>() = {};
  }
  void leave(Warp& warp, int lane) override {
    if (warp.worker->checking) check_tcgen05_leak(warp, lane);
  }
  bool resolve(Cta& cta) override { return resolve_divergent_allocations(cta); }
  std::string waits(const Warp& warp, const Group& group) const override {
    const Program& program = *group.frame->program;
    if (group.state == Group::State::convergence || !is_allocation(program.code[group.pc])) return {};
    return lanes_text(group.lanes) + " at " +
           source_of(*group.frame, group.pc, std::countr_zero(group.lanes)) + " " + waited_for(warp);
  }
};

}  // namespace

Unit& tcgen05_allocation_unit() {
  static Allocations unit;
  return unit;
}

void decode_tcgen05_allocation(Decoder& d) {
  AllocationUse use;
  use.cta_group = tcgen05_cta_group(d);
  const int operation = d.one_of({"alloc", "dealloc", "relinquish_alloc_permit"});
  if (!d.has("sync") || !d.has("aligned")) d.unsupported("without .sync.aligned");
  d.own_guard();
  if (operation < 2 && !d.has("b32")) d.unsupported("the type must be .b32");
  if (operation == 0) {
    use.to.kind = AccessKind::store;
    use.to.counted = false;
    memory_space(d, use.to);
    use.to = memory_address(d, d.operand(0), use.to, 4);
    d.memory() = {};  // no memory request of the program's
  }
  if (operation == 1) d.inst().a = d.src(0, Type::b32);
  if (operation < 2) d.inst().b = d.src(1, Type::u32);
  if (d.operand_count() != (operation < 2 ? 2 : 0)) d.unsupported("unexpected operands");
  static constexpr Handler handlers[] = {run_alloc, run_dealloc, run_relinquish};
  d.inst().data = d.keep(use);
  d.inst().inner = handlers[operation];
}

}  // namespace simulator
