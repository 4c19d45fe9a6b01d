#include "common/simulator/instructions/tcgen05/load.h"

#include <algorithm>
#include <cstring>

#include "common/simulator/access/check_tcgen05.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/warp_matrix.h"
#include "common/simulator/instructions/tcgen05/opcodes.h"
#include "common/simulator/settings/settings.h"
#include "common/simulator/units/overlap.h"
#include "common/simulator/units/tcgen05_accesses.h"
#include "common/simulator/units/tcgen05_transfers.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Type;

constexpr uint32_t quarter = 32;  // lanes of tensor memory that a warp may access

enum class Shape : uint8_t { l32x32b, l16x64b, l16x128b, l16x256b, l16x32bx2 };

struct TransferUse {
  Shape shape = Shape::l32x32b;
  uint32_t count = 1;   // .num
  bool halves = false;  // .pack::16b, .unpack::16b: a register holds the lower halves of two words
  uint32_t split = 0;   // .16x32bx2: columns from the first part to the second
  uint32_t registers = 1;
  uint32_t lanes() const { return shape == Shape::l32x32b ? 32 : 16; }
  // Of a part, in tensor memory.
  uint32_t columns() const {
    static constexpr uint32_t wide[] = {1, 2, 4, 8, 1};
    return wide[static_cast<size_t>(shape)] * count * (halves ? 2 : 1);
  }
};

const TransferUse& use_of(const Inst& inst) {
  return *static_cast<const TransferUse*>(inst.data);
}

// Where register i of lane t of the warp is, as the figures of 9.7.16.2.3.1 say; .pack::16b: the first of two
// columns.
struct Place {
  uint32_t lane, column;
};
Place place(const TransferUse& use, uint32_t i, uint32_t t) {
  const uint32_t per = use.halves ? 2 : 1;
  switch (use.shape) {
    case Shape::l32x32b:
      return {t, i * per};
    case Shape::l16x64b:
      return {t / 4 + 8 * (t % 2), (2 * i + t / 2 % 2) * per};
    case Shape::l16x128b:
      return {t / 4 + 8 * (i % 2), (i / 2 * 4 + t % 4) * per};
    case Shape::l16x256b:
      return {t / 4 + 8 * (i / 2 % 2), (i / 4 * 8 + 2 * (t % 4) + i % 2) * per};
    case Shape::l16x32bx2:
      break;
  }
  return {t % 16, t / 16 * use.split + i * per};
}

void load(const Cta& cta, const Tcgen05Transfer& transfer) {
  if (!transfer.registers) return;
  const TransferUse& use = use_of(*transfer.inst);
  const Tcgen05Memory& memory = tcgen05_memory(cta);
  for (uint32_t i = 0; i < use.registers; ++i) {
    auto* to = reinterpret_cast<uint32_t*>(transfer.registers + transfer.inst->list[i]);
    if (use.shape == Shape::l32x32b && !use.halves) {
      std::memcpy(to, memory.column(transfer.column + i) + transfer.lane, quarter * sizeof *to);
      continue;
    }
    for (uint32_t t = 0; t < warp_size; ++t) {
      const Place at = place(use, i, t);
      const uint32_t* first = memory.column(transfer.column + at.column) + transfer.lane + at.lane;
      to[t] = use.halves ? (first[0] & 0xffff) | first[tcgen05_lanes] << 16 : *first;
    }
  }
}

void store(Cta& cta, const Tcgen05Transfer& transfer) {
  const TransferUse& use = use_of(*transfer.inst);
  Tcgen05Memory& memory = tcgen05_memory(cta);
  for (uint32_t i = 0; i < use.registers; ++i) {
    const uint32_t* from = transfer.values.data() + size_t{i} * warp_size;
    for (uint32_t t = 0; t < warp_size; ++t) {
      const Place at = place(use, i, t);
      uint32_t* first = memory.column(transfer.column + at.column) + transfer.lane + at.lane;
      *first = use.halves ? from[t] & 0xffff : from[t];
      if (use.halves) first[tcgen05_lanes] = from[t] >> 16;
    }
  }
}

void land(Warp& warp, const Tcgen05Transfer& transfer) {
  transfer.values.empty() ? load(*warp.cta, transfer) : store(*warp.cta, transfer);
  ++warp.worker->events;
  ++warp.writes;
}

// Those for which f(transfer) holds take effect, in order.
template <class F>
void land_if(Warp& warp, F f) {
  std::erase_if(warp.state<Tcgen05Transfers>().pending, [&](const Tcgen05Transfer& each) {
    if (!f(each)) return false;
    land(warp, each);
    return true;
  });
}

bool strict(const Warp& warp) {
  return warp.worker->checking && settings().strict;
}

// The first lane of tensor memory. The address should name lanes of the warp's own quarter; hardware looks at
// the place within it only, and there are kernels that give no quarter, or count on past 127.
uint32_t first_lane(Warp& warp, uint32_t address, const TransferUse& use) {
  const uint32_t own = warp.index % 4, named = tcgen05_lane(address), inside = named % quarter;
  const bool tolerated = named < quarter || named % tcgen05_lanes / quarter == own;
  if (warp.worker->checking && (settings().strict ? named / quarter != own : !tolerated)) {
    finding(warp, FindingKind::illegal_instruction,
            "taddr names lane " + std::to_string(named) + ", but warp " + std::to_string(warp.index) +
                " is number " + std::to_string(own) + " of its warpgroup and can access lanes " +
                std::to_string(own * quarter) + " to " + std::to_string(own * quarter + quarter - 1) +
                " (PTX ISA 9.7.16.8.1)");
  }
  if (inside % use.lanes()) {
    fault(warp, FindingKind::illegal_instruction,
          "taddr names lane " + std::to_string(named) + ", from which on there are no " +
              std::to_string(use.lanes()) + " lanes that belong together");
  }
  return own * quarter + inside;
}

// What other warps have issued in the warp's quarter comes before what it issues now: but for `strict`, these
// go in order (units/tcgen05_accesses.h).
void land_others(Warp& warp) {
  for (Warp& other : warp.cta->warps) {
    if (&other == &warp || other.index % 4 != warp.index % 4) continue;
    land_if(other, [](const Tcgen05Transfer&) { return true; });
  }
}

// Hardware takes the first thread's lane, and there are kernels that add the thread's own. What it does with
// different columns is not known.
void different_addresses(Warp& warp, int lane, bool same_column) {
  const char* const what = "\"All the threads in the warp must specify the same value of taddr\"";
  if (!same_column) fault(warp, FindingKind::illegal_instruction, what, lane);
  if (!strict(warp)) return;
  finding(warp, FindingKind::illegal_instruction,
          std::string(what) + ": the lanes of tensor memory differ, and hardware takes the first thread's",
          lane);
}

// All threads have the same address there.
Tcgen05Transfer begin(Warp& warp, const Inst& inst, Tcgen05Accesses::Kind kind) {
  if (!strict(warp)) land_others(warp);
  const uint32_t* address = warp.reg<uint32_t>(inst.a);
  const int first = std::countr_zero(warp.exec);
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    if (const int lane = std::countr_zero(left); address[lane] != address[first]) {
      different_addresses(warp, lane, tcgen05_column(address[lane]) == tcgen05_column(address[first]));
      break;
    }
  }
  const TransferUse& use = use_of(inst);
  const uint32_t taddr = address[first] + static_cast<uint32_t>(inst.imm);
  Tcgen05Transfer made;
  made.inst = &inst;
  made.lane = first_lane(warp, taddr, use);
  made.column = tcgen05_column(taddr);
  const bool reads = kind == Tcgen05Accesses::Kind::ld;
  const Tcgen05Accesses::Id id = tcgen05_begin(warp, 0, kind);
  Tcgen05Region region{Tcgen05Lanes::of(made.lane, use.lanes()), made.column, use.columns()};
  made.id = id;
  tcgen05_access(warp, id, *warp.cta, region, reads, !reads, "");
  if (use.shape == Shape::l16x32bx2) {
    region.column += use.split;
    tcgen05_access(warp, id, *warp.cta, region, reads, !reads, "");
  }
  return made;
}

std::string place_of_load(const Warp& warp, const Tcgen05Register& of) {
  return place_of(*warp.cta, of.pc);
}

// A register is going to be used whose load has not been waited for.
void use_pending(Warp& warp, const Tcgen05Register& use) {
  land_if(warp, [&](const Tcgen05Transfer& each) { return each.number == use.load; });
  if (!use.id) return;
  Cluster& cluster = *warp.cta->cluster;
  tcgen05_accesses(cluster).used(cluster.shadow, warp.in_cluster, use.id);
}

void tell_pending(Warp& warp, const Tcgen05Register& use) {
  finding(warp, FindingKind::unfinished_async,
          "a register that a tcgen05.ld writes which has not been waited for", -1,
          {"it is that at " + place_of_load(warp, use) + ": it needs tcgen05.wait::ld before this"});
}

void run_load(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  Tcgen05Transfer made = begin(warp, inst, Tcgen05Accesses::Kind::ld);
  made.registers = warp.registers;
  made.frame = warp.frame;
  made.number = ++warp.state<Tcgen05Transfers>().loads;
  uint64_t reported = warp.state<Tcgen05Transfers>().waited;
  for (uint32_t i = 0; i < use_of(inst).registers; ++i) {
    Tcgen05Register& each = warp.frame->state<Tcgen05Registers>().at[inst.list[i] / 64];
    if (each.load > reported && strict(warp)) {
      reported = each.load;
      tell_pending(warp, each);
    }
    if (each.load > warp.state<Tcgen05Transfers>().waited) use_pending(warp, each);
    each = {made.number, warp.frame->program->first + warp.pc - 1, made.id};
  }
  warp.state<Tcgen05Transfers>().pending.push_back(std::move(made));
}

void run_store(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  Tcgen05Transfer made = begin(warp, inst, Tcgen05Accesses::Kind::st);
  const uint32_t count = use_of(inst).registers;
  made.values.resize(size_t{count} * warp_size);
  for (uint32_t i = 0; i < count; ++i)
    std::memcpy(made.values.data() + size_t{i} * warp_size, warp.reg<uint32_t>(inst.list[i]), warp_size * 4);
  warp.state<Tcgen05Transfers>().pending.push_back(std::move(made));
}

// imm: of stores, else of loads.
void run_wait(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  const bool stores = inst.imm;
  const auto in_flight = [&] {
    const auto& all = warp.state<Tcgen05Transfers>().pending;
    return static_cast<uint32_t>(std::count_if(
        all.begin(), all.end(), [=](const Tcgen05Transfer& each) { return stores != each.values.empty(); }));
  };
  const uint32_t before = in_flight();
  land_if(warp, [=](const Tcgen05Transfer& each) { return stores != each.values.empty(); });
  overlap_wait(warp, Groups::transfers, before, in_flight());
  if (!stores) warp.state<Tcgen05Transfers>().waited = warp.state<Tcgen05Transfers>().loads;
  if (!warp.worker->checking) return;
  Cluster& cluster = *warp.cta->cluster;
  tcgen05_accesses(cluster).waited(cluster.shadow, warp.in_cluster,
                                   stores ? Tcgen05Accesses::Kind::st : Tcgen05Accesses::Kind::ld);
}

// ---- Decoding

const char* const shapes[] = {"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"};

TransferUse decode_transfer(Decoder& d, const char* halves) {
  TransferUse use;
  if (!d.has("sync") || !d.has("aligned")) d.unsupported("without .sync.aligned");
  if (!d.has("b32")) d.unsupported("the type must be .b32");
  d.own_guard();
  const int shape = d.one_of({shapes[0], shapes[1], shapes[2], shapes[3], shapes[4]});
  const int count = d.one_of({"x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"});
  if (shape < 0 || count < 0) d.unsupported("unknown shape");
  use.shape = static_cast<Shape>(shape);
  use.count = 1u << count;
  use.halves = d.has(halves);
  const uint32_t each = use.shape == Shape::l16x128b ? 2 : use.shape == Shape::l16x256b ? 4 : 1;
  use.registers = use.count * each;
  if (use.registers > 128) d.unsupported("a register list this long does not exist");
  return use;
}

// [taddr], and immHalfSplitoff.
size_t decode_address(Decoder& d, TransferUse& use, size_t next) {
  const Operand& address = d.operand(next++);
  if (address.kind != Operand::Kind::address) d.unsupported("an address in brackets expected");
  d.inst().a = d.src(address.elements.at(0), Type::b32);
  d.inst().imm = static_cast<uint64_t>(address.value);
  if (use.shape == Shape::l16x32bx2) {
    const Operand& split = d.operand(next++);
    if (split.kind != Operand::Kind::immediate) d.unsupported("immHalfSplitoff must be an immediate");
    use.split = static_cast<uint32_t>(split.value);
  }
  return next;
}

// The registers of some tcgen05.ld that the instruction before warp.pc is going to access, while that has not
// been waited for.
template <class F>
void each_pending(Warp& warp, const Inst& inst, F f) {
  if (warp.state<Tcgen05Transfers>().waited == warp.state<Tcgen05Transfers>().loads) return;
  uint32_t lanes = warp.exec;
  if (inst.guard) lanes &= inst.guard_negated ? ~warp.pred(inst.guard) : warp.pred(inst.guard);
  if (!lanes) return;
  for (const uint32_t offset : warp.frame->program->watched[warp.pc - 1].registers) {
    const Tcgen05Register& each = warp.frame->state<Tcgen05Registers>().at[offset / 64];
    if (each.load > warp.state<Tcgen05Transfers>().waited) f(each);
  }
}

void run_unwatched(Warp& warp, const Inst& inst) {
  warp.frame->program->watched[warp.pc - 1].run(warp, inst);
}

void land_tcgen05_transfers_at_random(Warp& warp, uint64_t random) {
  land_if(warp, [&](const Tcgen05Transfer&) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 40 & 3) == 0;
  });
}

void forget_loaded_registers(Warp& warp, const Frame* frame) {
  for (Tcgen05Transfer& each : warp.state<Tcgen05Transfers>().pending) {
    if (each.frame == frame) each.registers = nullptr;
  }
}

void run_watched_move(Warp& warp, const Inst& inst) {
  each_pending(warp, inst, [&](const Tcgen05Register& each) { use_pending(warp, each); });
  run_unwatched(warp, inst);
}

void run_watched(Warp& warp, const Inst& inst) {
  const Tcgen05Register* found = nullptr;
  each_pending(warp, inst, [&](const Tcgen05Register& each) { found = &each; });
  if (found && strict(warp) && !warp.frame->program->module->debug) tell_pending(warp, *found);
  run_watched_move(warp, inst);
}

bool is_tcgen05(const ptx::Instruction& instruction, std::string_view operation) {
  return instruction.opcode == "tcgen05" && !instruction.modifiers.empty() &&
         instruction.modifiers.front() == operation;
}

class LoadWatch final : public Watch {
 public:
  using Watch::Watch;
  Handler handler(const ptx::Instruction& instruction, bool names_one) const override {
    if (!names_one || is_tcgen05(instruction, "ld") || is_tcgen05(instruction, "wait::ld")) return nullptr;
    return is_move(instruction) ? run_watched_move : run_watched;
  }
};

class Transfers final : public Unit {
  void start(Cta& cta) override {
    for (Warp& warp : cta.warps) warp.make<Tcgen05Transfers>() = {};
    if (cta.rank != 0) return;
    Tcgen05Accesses& accesses = cta.cluster->make<Tcgen05OfCluster>().accesses;
    const uint32_t ctas = static_cast<uint32_t>(cta.cluster->ctas.size());
    if (cta.worker->checking) accesses.reset(ctas, ctas * cta.grid->warps, settings().strict);
  }
  void begin(Frame& frame) override {
    if (&frame.program->watch->unit == this)
      frame.make<Tcgen05Registers>().at.assign(frame.program->frame_bytes / 64, {});
  }
  void forget(Warp& warp, const Frame* frame) override { forget_loaded_registers(warp, frame); }
  bool pending(const Warp& warp) const override { return !warp.state<Tcgen05Transfers>().pending.empty(); }
  void land_at_random(Warp& warp, uint64_t random) override {
    land_tcgen05_transfers_at_random(warp, random);
  }
};

}  // namespace

Unit& tcgen05_transfer_unit() {
  static Transfers unit;
  return unit;
}

void decode_tcgen05_load(Decoder& d) {
  TransferUse use = decode_transfer(d, "pack::16b");
  std::vector<uint32_t> list;
  registers_of(d, d.operand(0), use.registers, Type::b32, true, list);
  if (decode_address(d, use, 1) != d.operand_count()) d.unsupported("unexpected operands");
  d.early_clobber();
  d.inst().list = d.list(std::move(list));
  d.inst().data = d.keep(use);
  d.inst().inner = run_load;
}

void decode_tcgen05_store(Decoder& d) {
  TransferUse use = decode_transfer(d, "unpack::16b");
  const size_t next = decode_address(d, use, 0);
  std::vector<uint32_t> list;
  registers_of(d, d.operand(next), use.registers, Type::b32, false, list);
  if (next + 1 != d.operand_count()) d.unsupported("unexpected operands");
  d.inst().list = d.list(std::move(list));
  d.inst().data = d.keep(use);
  d.inst().inner = run_store;
}

void decode_tcgen05_wait(Decoder& d) {
  if (!d.has("sync") || !d.has("aligned")) d.unsupported("without .sync.aligned");
  d.own_guard();
  const int stores = d.one_of({"wait::ld", "wait::st"});
  if (stores < 0) d.unsupported("unknown wait");
  if (stores == 0) keep_watched(d);
  d.inst().imm = static_cast<uint64_t>(stores);
  d.inst().inner = run_wait;
}

std::unique_ptr<const Watch> watch_tcgen05_loads(const ptx::Function& function) {
  std::vector<bool> registers;
  for (const ptx::Instruction& at : function.instructions) {
    if (!is_tcgen05(at, "ld")) continue;
    registers.resize(function.registers.size());
    for (const ptx::Operand& each : at.operands) add_registers(each, registers);
  }
  return registers.empty() ? nullptr
                           : std::make_unique<LoadWatch>(tcgen05_transfer_unit(), std::move(registers));
}

}  // namespace simulator
