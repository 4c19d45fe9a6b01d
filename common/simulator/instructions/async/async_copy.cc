// cp.async (PTX ISA 9.7.9.25.3).
#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simulator/access/addresses.h"
#include "common/simulator/access/written.h"
#include "common/simulator/counters/trace.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/memory_operand.h"
#include "common/simulator/instructions/async/opcodes.h"
#include "common/simulator/instructions/sync/mbarrier.h"
#include "common/simulator/instructions/sync/mbarrier_life.h"
#include "common/simulator/units/async_copies.h"
#include "common/simulator/units/overlap.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

struct CopyUse {
  AddressUse from, to;
  uint32_t to_base = 0;  // register
  uint64_t to_offset = 0;
  uint32_t present = 0;  // register: bytes to read; 0: all
  uint32_t ignore = 0;   // predicate register: read nothing; 0: none
  bool ignore_negated = false;
  bool bypass = false;  // .cg: past L1
};

// Calls f(lane) for every lane of these.
template <class F>
void each(uint32_t lanes, F f) {
  for (; lanes; lanes &= lanes - 1) f(static_cast<uint32_t>(std::countr_zero(lanes)));
}

// The data of these lanes' copies arrives in shared memory.
void land(Warp& warp, AsyncCopy& copy, uint32_t lanes) {
  lanes &= copy.flying;
  if (!lanes) return;
  copy.flying &= ~lanes;
  each(lanes, [&](uint32_t l) {
    std::byte* to = warp.cta->shared.data() + copy.to[l];
    if (copy.present[l]) std::memcpy(to, copy.from[l], copy.present[l]);
    std::memset(to + copy.present[l], 0, copy.bytes - copy.present[l]);
  });
  ++warp.worker->events;
  ++warp.writes;
  if (Trace* trace = trace_of(warp)) {
    const Program& program = *program_at(*warp.cta, copy.pc);
    const uint32_t group = copy.group[static_cast<uint32_t>(std::countr_zero(lanes))];
    trace->landed(program, copy.pc - program.first, lanes, copy.issued, group);
  }
}

// Where a copy's source was never written its target stays unwritten, too: a struct's padding. Using it is a
// finding.
void carry_unwritten(Warp& warp, const AsyncCopy& copy, uint32_t lanes) {
  each(lanes, [&](uint32_t l) {
    if (!copy.unwritten[l]) return;
    const uint32_t offset = shadow_offset(*warp.cta, copy.to[l]);
    warp.cta->cluster->shadow.unwrite(offset, copy.bytes, copy.unwritten[l]);
  });
}

// For the race check the copies are writes that their threads make now. (They were writes at their issue,
// too: to find who uses the bytes before.)
void order(Warp& warp, AsyncCopy& copy, uint32_t lanes) {
  lanes &= copy.lanes & ~copy.ordered;
  copy.ordered |= lanes;
  if (!lanes || !warp.worker->checking) return;
  uint32_t offset[32] = {};
  each(lanes, [&](uint32_t l) { offset[l] = shadow_offset(*warp.cta, copy.to[l]); });
  warp.cta->cluster->shadow.access(warp.in_cluster, copy.pc, offset, lanes, copy.bytes, true, false, nullptr);
  carry_unwritten(warp, copy, lanes);
}

// These lanes' copies have been waited for.
void finish(Warp& warp, AsyncCopy& copy, uint64_t number, uint32_t lanes) {
  lanes &= copy.lanes;
  copy.lanes &= ~lanes;
  if (!warp.worker->checking) return;
  each(lanes, [&](uint32_t l) {
    warp.cta->cluster->pending_copies.remove(shadow_offset(*warp.cta, copy.to[l]), copy.bytes,
                                             {warp.in_cluster, l, number});
  });
}

void drop_finished(AsyncCopies& async) {
  while (!async.pending.empty() && !async.pending.front().lanes) {
    async.pending.pop_front();
    ++async.first;
  }
  std::erase_if(async.arrived, [&](const AsyncArrival& arrival) { return arrival.before <= async.first; });
}

// Calls f(copy, number) for the warp's copies numbered below `before`.
template <class F>
void each_before(AsyncCopies& async, uint64_t before, F f) {
  for (uint64_t number = async.first; number < std::min(before, async.next()); ++number)
    f(async.pending[number - async.first], number);
}

// An arrival at an mbarrier that is gone: reported at the last of its copies.
bool is_late(Warp& warp, const AsyncArrival& arrival, uint32_t lane) {
  const AsyncCopies& async = warp.state<AsyncCopies>();
  if (async.pending.empty() || arrival.before <= async.first) return false;
  const AsyncCopy& last = async.pending[std::min(arrival.before, async.next()) - 1 - async.first];
  return arrives_late(*warp.cta, arrival.mbarrier, arrival.phase, {"a cp.async", warp, lane, last.pc});
}

// Makes the arrivals whose copies have all landed.
void arrive_where_landed(Warp& warp) {
  AsyncCopies& async = warp.state<AsyncCopies>();
  for (AsyncArrival& arrival : async.arriving) {
    uint32_t ready = arrival.lanes;
    each_before(async, arrival.before, [&](const AsyncCopy& copy, uint64_t) { ready &= ~copy.flying; });
    arrival.lanes &= ~ready;
    each_before(async, arrival.before, [&](AsyncCopy& copy, uint64_t) { order(warp, copy, ready); });
    each(ready, [&](uint32_t l) {
      if (is_late(warp, arrival, l)) return;
      const AsyncArrival now{arrival.mbarrier, 1u << l, arrival.before,
                             mbarrier_phase(*warp.cta, arrival.mbarrier)};
      arrive_at_mbarrier(warp, *warp.cta, arrival.mbarrier, 1);
      AsyncArrival* last = async.arrived.empty() ? nullptr : &async.arrived.back();
      if (last && last->mbarrier == now.mbarrier && last->before == now.before && last->phase == now.phase) {
        last->lanes |= now.lanes;
      } else {
        async.arrived.push_back(now);
      }
    });
  }
  std::erase_if(async.arriving, [](const AsyncArrival& arrival) { return !arrival.lanes; });
}

// reads: the lanes that do not only write zeros. Where there are none it is no request.
void count(Warp& warp, const Inst& inst, const CopyUse& use, const Resolved& from, const Resolved& to,
           uint32_t reads) {
  uint32_t offset[32];
  for (uint32_t l = 0; l < warp_size; ++l) offset[l] = static_cast<uint32_t>(to.address[l] - shared_reserved);
  const CopyCounts copy = count_copy(from.address, offset, reads, inst.bytes, use.bypass);
  Counts& counts = counts_of(warp);
  counts.requests += reads != 0;
  counts.bytes += static_cast<uint64_t>(std::popcount(reads)) * inst.bytes;
  counts.sectors += copy.sectors;
  counts.wavefronts += copy.wavefronts.actual;
  counts.ideal_wavefronts += copy.wavefronts.ideal;
  if (Trace* trace = trace_of(warp)) {
    const Program& program = *warp.frame->program;
    trace->shared(program, warp.pc - 1, offset, warp.exec, inst.bytes, copy.wavefronts);
    if (reads) trace->global(program, warp.pc - 1, from.address, reads, inst.bytes, copy.sectors);
  }
}

void run_copy(Warp& warp, const Inst& inst) {
  const CopyUse& use = *static_cast<const CopyUse*>(inst.data);
  Resolved to;
  Inst target = inst;
  target.a = use.to_base;
  target.imm = use.to_offset;
  resolve(warp, target, use.to, to);
  const uint32_t exec = warp.exec;
  const bool full = warp.full;
  uint32_t skip = 0;
  if (use.ignore) skip = use.ignore_negated ? ~warp.pred(use.ignore) : warp.pred(use.ignore);
  uint32_t present[32];
  uint32_t reads = 0;
  for (uint32_t l = 0; l < warp_size; ++l) {
    present[l] = use.present ? warp.reg<uint32_t>(use.present)[l] : inst.bytes;
    if (skip >> l & 1) present[l] = 0;
    if ((exec >> l & 1) && present[l] > inst.bytes) {
      fault(warp, FindingKind::illegal_instruction,
            "cp.async of " + std::to_string(present[l]) + " bytes into " + std::to_string(inst.bytes),
            static_cast<int>(l));
    }
    if (present[l]) reads |= exec & 1u << l;
  }
  if (!warp.frame->unwritten.empty()) [[unlikely]]
    forget_unwritten(warp);
  Resolved from;
  if (reads) {  // lanes that read nothing may have any address
    warp.exec = reads;
    warp.full = full && reads == exec;
    resolve(warp, inst, use.from, from);
    warp.exec = exec;
    warp.full = full;
  }
  if (warp.worker->counting) count(warp, inst, use, from, to, reads);
  AsyncCopy copy;
  copy.lanes = copy.flying = exec;
  copy.group = warp.state<AsyncCopies>().committed;
  copy.pc = warp.frame->program->first + warp.pc - 1;
  copy.bytes = inst.bytes;
  if (const Trace* trace = trace_of(warp)) copy.issued = trace->now();
  overlap_issue(warp, Groups::copies);
  std::byte values[32 * 16] = {};
  each(exec, [&](uint32_t l) {
    copy.to[l] = static_cast<uint32_t>(to.address[l]);
    copy.present[l] = static_cast<uint8_t>(present[l]);
    if (!present[l]) return;
    copy.from[l] = from.at[l];
    std::memcpy(values + l * inst.bytes, from.at[l], present[l]);
  });
  // Who reads or writes these bytes now races with the copy.
  stored(warp, target, use.to, to, values);
  if (warp.worker->checking) {
    for (const UnwrittenLoad& load : warp.frame->unwritten) {
      if (load.pc != warp.pc - 1) continue;
      each(reads, [&](uint32_t l) {
        copy.unwritten[l] = static_cast<uint16_t>(load.bytes[l] & ((1u << present[l]) - 1));
      });
    }
    carry_unwritten(warp, copy, reads);
    each(exec, [&](uint32_t l) {
      warp.cta->cluster->pending_copies.add(shadow_offset(*warp.cta, copy.to[l]), copy.bytes,
                                            {warp.in_cluster, l, warp.state<AsyncCopies>().next()});
    });
  }
  warp.state<AsyncCopies>().pending.push_back(copy);
}

void run_commit(Warp& warp, const Inst&) {
  for (uint32_t l = 0; l < warp_size; ++l) warp.state<AsyncCopies>().committed[l] += warp.exec >> l & 1;
}

void note_wait(Warp& warp, const Inst& inst) {
  AsyncCopies& async = warp.state<AsyncCopies>();
  async.waits.lanes |= warp.exec;
  async.waits.pc = warp.frame->program->first + warp.pc - 1;
  async.waits.before = async.next();
  each(warp.exec, [&](uint32_t l) {
    const uint32_t groups = async.committed[l];
    async.waits.covered[l] =
        inst.imm == ~0ull ? groups + 1 : groups - static_cast<uint32_t>(std::min<uint64_t>(groups, inst.imm));
  });
}

// imm: groups that may still be under way; ~0: none may, committed or not.
void run_wait(Warp& warp, const Inst& inst) {
  AsyncCopies& async = warp.state<AsyncCopies>();
  const auto waited_for = [&](const AsyncCopy& copy) {
    const uint32_t lanes = copy.lanes & warp.exec;
    if (!lanes || inst.imm == ~0ull) return lanes;
    uint32_t old = 0;
    for (uint32_t l = 0; l < warp_size; ++l)
      old |= uint32_t{copy.group[l] + inst.imm < async.committed[l]} << l;
    return lanes & old;
  };
  const bool counting = warp.worker->counting;
  const uint32_t before = counting ? groups_of_copies(warp) : 0;
  if (warp.worker->checking) note_wait(warp, inst);
  for (AsyncCopy& copy : async.pending) land(warp, copy, waited_for(copy));
  arrive_where_landed(warp);
  each_before(async, async.next(), [&](AsyncCopy& copy, uint64_t number) {
    const uint32_t lanes = waited_for(copy);
    if (!lanes) return;
    order(warp, copy, lanes);
    finish(warp, copy, number, lanes);
  });
  drop_finished(async);
  if (counting) overlap_wait(warp, Groups::copies, before, groups_of_copies(warp));
}

// imm: offset; a: address; c: not 0: .noinc
void run_arrive(Warp& warp, const Inst& inst) {
  const AddressUse& use = *static_cast<const AddressUse*>(inst.data);
  Resolved at;
  resolve(warp, inst, use, at);
  each(warp.exec, [&](uint32_t l) {
    const uint32_t address = static_cast<uint32_t>(at.address[l]);
    if (!inst.c) expect_one_more(warp, *warp.cta, address);
    std::vector<AsyncArrival>& arriving = warp.state<AsyncCopies>().arriving;
    const uint64_t phase = mbarrier_phase(*warp.cta, address);
    if (!arriving.empty() && arriving.back().mbarrier == address && arriving.back().phase == phase &&
        arriving.back().before == warp.state<AsyncCopies>().next()) {
      arriving.back().lanes |= 1u << l;
    } else {
      arriving.push_back({address, 1u << l, warp.state<AsyncCopies>().next(), phase});
    }
  });
  arrive_where_landed(warp);
}

void decode_copy(Decoder& d) {
  CopyUse use;
  use.to.kind = AccessKind::store;
  use.to.space = Space::shared;
  use.from.kind = AccessKind::load;
  use.from.space = Space::global;
  use.from.counted = use.to.counted = false;
  use.bypass = d.has("cg");
  if (d.one_of({"shared", "shared::cta"}) < 0 || !d.has("global"))
    d.unsupported("cp.async copies from .global to .shared::cta");
  cache_operators(d);
  const Operand& size = d.operand(2);
  if (size.kind != Operand::Kind::immediate || (size.value != 4 && size.value != 8 && size.value != 16)) {
    d.unsupported("the size must be 4, 8 or 16");
  }
  const uint32_t bytes = static_cast<uint32_t>(size.value);
  use.to = memory_address(d, d.operand(0), use.to, bytes);
  use.to_base = d.inst().a;
  use.to_offset = d.inst().imm;
  use.from = memory_address(d, d.operand(1), use.from, bytes);
  // Padding follows written bytes of its struct, which is aligned to 16 at most.
  use.from.carried = {(1u << bytes) - 1, static_cast<int32_t>(bytes) - 16, static_cast<int32_t>(bytes)};
  // cp-size{, src-size or ignore-src}{, cache policy}: a policy has 64 bits and no effect here
  for (size_t i = 3; i < d.operand_count(); ++i) {
    const Operand& operand = d.operand(i);
    const int width = d.width(operand, operand.kind == Operand::Kind::immediate ? 32 : 0);
    if (width == 1) {
      use.ignore = d.predicate(operand, use.ignore_negated);
    } else if (width == 32 && i == 3) {
      use.present = d.src(operand, Type::u32);
    } else if (width == 64) {
      d.src(operand, Type::b64);
    } else {
      d.unsupported("after its size cp.async takes a source size or a predicate, and a cache policy");
    }
  }
  d.memory().kind = MemoryUse::Kind::copy;
  d.inst().data = d.keep(use);
  d.inst().inner = run_copy;
}

void decode(Decoder& d) {
  if (!d.has("async")) d.unsupported("there is no cp but cp.async");
  if (d.has("bulk")) return decode_bulk_copy(d);
  if (d.has("commit_group")) {
    d.inst().inner = run_commit;
  } else if (d.has("wait_all")) {
    d.inst().imm = ~0ull;
    d.inst().inner = run_wait;
  } else if (d.has("wait_group")) {
    if (d.operand(0).kind != Operand::Kind::immediate)
      d.unsupported("the number of groups must be an immediate");
    d.inst().imm = static_cast<uint64_t>(d.operand(0).value);
    d.inst().inner = run_wait;
  } else if (d.has("mbarrier")) {
    d.has("arrive");
    const bool no_increment = d.has("noinc");
    AddressUse use;
    use.kind = AccessKind::atomic;
    use.strong = true;
    memory_space(d, use);
    d.type();
    memory_address(d, d.operand(0), use, 8);
    d.memory() = {};  // as mbarrier's own instructions
    d.inst().c = no_increment;
    d.inst().inner = run_arrive;
  } else {
    decode_copy(d);
  }
}

void land_copies_for(Cta& cta, uint32_t mbarrier) {
  for (Warp& warp : cta.warps) {
    if (warp.state<AsyncCopies>().arriving.empty()) continue;
    for (const AsyncArrival& arrival : warp.state<AsyncCopies>().arriving) {
      if (arrival.mbarrier != mbarrier) continue;
      each_before(warp.state<AsyncCopies>(), arrival.before,
                  [&](AsyncCopy& copy, uint64_t) { land(warp, copy, arrival.lanes); });
    }
    arrive_where_landed(warp);
  }
}

void copies_seen(Cta& cta, uint32_t mbarrier) {
  for (Warp& warp : cta.warps) {
    AsyncCopies& async = warp.state<AsyncCopies>();
    const auto seen = [&](const AsyncArrival& arrival) {
      return arrival.mbarrier == mbarrier && arrival.phase < mbarrier_phase(cta, mbarrier);
    };
    for (const AsyncArrival& arrival : async.arrived) {
      if (!seen(arrival)) continue;
      each_before(async, arrival.before,
                  [&](AsyncCopy& copy, uint64_t number) { finish(warp, copy, number, arrival.lanes); });
    }
    if (std::erase_if(async.arrived, seen)) drop_finished(async);
  }
}

void land_copies_at_random(Warp& warp, uint64_t random) {
  for (AsyncCopy& copy : warp.state<AsyncCopies>().pending) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    land(warp, copy, static_cast<uint32_t>(random >> 32 & random >> 16));
  }
  arrive_where_landed(warp);
}

class AsyncCopyUnit final : public Unit {
  void start(Cta& cta) override {
    for (Warp& warp : cta.warps) warp.make<AsyncCopies>().clear();
  }
  bool pending(const Warp& warp) const override { return !warp.state<AsyncCopies>().pending.empty(); }
  void groups(const Warp& warp, size_t lane, CommittedGroups& groups) const override {
    groups.async = warp.state<AsyncCopies>().committed[lane];
  }
  void land_at_random(Warp& warp, uint64_t random) override { land_copies_at_random(warp, random); }
  void land_for(Cta& cta, uint32_t mbarrier) override { land_copies_for(cta, mbarrier); }
  void seen(Warp&, Cta& cta, uint32_t mbarrier) override { copies_seen(cta, mbarrier); }
};

}  // namespace

Unit& async_copy_unit() {
  static AsyncCopyUnit unit;
  return unit;
}

std::span<const Opcode> async_copy_opcodes() {
  static const Opcode table[] = {{"cp", decode}};
  return table;
}

}  // namespace simulator
